"""Texts as they are: PostgreSQL keeps every character but NUL, which corpora and names of documents do hold.

It is kept as two characters, the first of which is no character of Unicode and is doubled where a text has it.
"""

from __future__ import annotations

from typing import Any

from psycopg import Connection
from psycopg.abc import Buffer
from psycopg.types.string import StrBinaryDumper, StrDumper, StrDumperUnknown, TextBinaryLoader, TextLoader

MARK = "\U0010fffe"
NUL = f"{MARK}0"


def kept(text: str) -> str:
    """A text as the database keeps it."""
    return text.replace(MARK, MARK + MARK).replace("\0", NUL) if "\0" in text or MARK in text else text


def read(text: str) -> str:
    """A text as it was before it was kept."""
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
    """Let a connection send and read any text; the last dumper is the one whose type the database infers."""
    for dumper in (_Binary, _Plain, _Unknown):
        connection.adapters.register_dumper(str, dumper)
    for loader in (_Loader, _BinaryLoader):
        connection.adapters.register_loader("text", loader)
