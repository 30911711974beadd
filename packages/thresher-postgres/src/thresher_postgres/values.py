"""What a connection sends and reads: any text, and vectors as arrays of numpy.

PostgreSQL accepts every character but NUL, which corpora and document names contain. NUL is stored as two characters;
the first is no Unicode character, and is doubled if a text contains it.
"""

from __future__ import annotations

from functools import cache
from struct import pack
from typing import TYPE_CHECKING, Any

import numpy as np
from psycopg import Connection
from psycopg.abc import Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format
from psycopg.types import TypeInfo
from psycopg.types.string import StrBinaryDumper, StrDumper, StrDumperUnknown, TextBinaryLoader, TextLoader

if TYPE_CHECKING:
    from thresher.types import Vectors

MARK = "\U0010fffe"
NUL = f"{MARK}0"

HEADER = 4
"""Bytes before the numbers of a vector: its length, and two that are unused."""


def kept(text: str) -> str:
    """The stored form of a text."""
    return text.replace(MARK, MARK + MARK).replace("\0", NUL) if "\0" in text or MARK in text else text


def read(text: str) -> str:
    """The text of a stored form."""
    if MARK not in text:
        return text
    return MARK.join(part.replace(NUL, "\0") for part in text.split(MARK + MARK))


def _dumper(kind: Any) -> Any:
    return type(kind.__name__, (kind,), {"dump": lambda self, obj: kind.dump(self, kept(obj))})


def _loader(kind: Any) -> Any:
    return type(kind.__name__, (kind,), {"load": lambda self, data: read(str(kind.load(self, data)))})


class _VectorDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Any) -> Buffer:
        return pack(">HH", len(obj), 0) + np.asarray(obj, ">f4").tobytes()


class _VectorLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> Vectors:
        return np.frombuffer(data, ">f4", offset=HEADER).astype(np.float32)


_DUMPERS = [_dumper(kind) for kind in (StrBinaryDumper, StrDumper, StrDumperUnknown)]
_LOADERS = [_loader(kind) for kind in (TextLoader, TextBinaryLoader)]


def register_texts(connection: Connection[Any]) -> None:
    """Let a connection send and read any text; the database infers the type of the last dumper."""
    for dumper in _DUMPERS:
        connection.adapters.register_dumper(str, dumper)
    for loader in _LOADERS:
        connection.adapters.register_loader("text", loader)


@cache
def _vector_dumper(number: int) -> type[_VectorDumper]:
    return type("VectorDumper", (_VectorDumper,), {"oid": number})


def register_vectors(connection: Connection[Any], number: int) -> None:
    """Let a connection send arrays as vectors and read vectors as arrays; `number` is the type's oid."""
    connection.adapters.register_dumper(np.ndarray, _vector_dumper(number))
    connection.adapters.register_loader(number, _VectorLoader)


def vector_oid(connection: Connection[Any]) -> int | None:
    """The oid of the type `vector` in this database; None without pgvector."""
    found = TypeInfo.fetch(connection, "vector")
    return None if found is None else found.oid
