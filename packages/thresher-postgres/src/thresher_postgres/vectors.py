"""Converts vectors of pgvector and numpy, in binary form: length, two unused bytes, float32 in network order."""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING, Any

import numpy as np
from psycopg import Connection
from psycopg.abc import Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format
from psycopg.types import TypeInfo

if TYPE_CHECKING:
    from thresher.types import Vectors

HEADER = 4
"""Bytes before the numbers."""


class _VectorDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Any) -> Buffer:
        return pack(">HH", len(obj), 0) + np.asarray(obj, ">f4").tobytes()


class _VectorLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> Vectors:
        return np.frombuffer(data, ">f4", offset=HEADER).astype(np.float32)


def register(connection: Connection[Any], number: int) -> None:
    """Let a connection send arrays as vectors and read vectors as arrays; `number` is the type's oid."""
    dumper = type("VectorDumper", (_VectorDumper,), {"oid": number})
    connection.adapters.register_dumper(np.ndarray, dumper)
    connection.adapters.register_loader(number, _VectorLoader)


def type_number(connection: Connection[Any]) -> int | None:
    """The oid of the type `vector` in this database; None without pgvector."""
    found = TypeInfo.fetch(connection, "vector")
    return None if found is None else found.oid
