"""Stores any text: PostgreSQL accepts every character but NUL, which corpora and document names contain.

NUL is stored as two characters; the first is no Unicode character, and is doubled if a text contains it.
"""

from __future__ import annotations

from typing import Any

from psycopg import Connection
from psycopg.abc import Buffer
from psycopg.types.string import StrBinaryDumper, StrDumper, StrDumperUnknown, TextBinaryLoader, TextLoader

MARK = "\U0010fffe"
NUL = f"{MARK}0"


def kept(text: str) -> str:
    """The stored form of a text."""
    return text.replace(MARK, MARK + MARK).replace("\0", NUL) if "\0" in text or MARK in text else text


def read(text: str) -> str:
    """The text of a stored form."""
    if MARK not in text:
        return text
    return MARK.join(part.replace(NUL, "\0") for part in text.split(MARK + MARK))


class _Unknown(StrDumperUnknown):
    def dump(self, obj: str) -> Buffer | None:
        return super().dump(kept(obj))


class _Plain(StrDumper):
    def dump(self, obj: str) -> Buffer | None:
        return super().dump(kept(obj))


class _Binary(StrBinaryDumper):
    def dump(self, obj: str) -> Buffer | None:
        return super().dump(kept(obj))


class _Loader(TextLoader):
    def load(self, data: Buffer) -> str:
        return read(str(super().load(data)))


class _BinaryLoader(TextBinaryLoader):
    def load(self, data: Buffer) -> str:
        return read(str(super().load(data)))


def register(connection: Connection[Any]) -> None:
    """Let a connection send and read any text; the database infers the type of the last dumper."""
    for dumper in (_Binary, _Plain, _Unknown):
        connection.adapters.register_dumper(str, dumper)
    for loader in (_Loader, _BinaryLoader):
        connection.adapters.register_loader("text", loader)
