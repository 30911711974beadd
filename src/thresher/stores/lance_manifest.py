"""The manifest of a Lance table: what of it lancedb does not tell.

A manifest ends in the position of a message of Protocol Buffers, the version of the format and `LANC`; the message has
its length before it (format.proto and lance-table's `io/manifest.rs`).
"""

from __future__ import annotations

from collections.abc import Iterator

MAGIC = b"LANC"
BASE_PATHS = 18
"""The field that names other places which hold files of the table."""

FIXED = {1: 8, 5: 4}
"""Bytes of a value by its wire type."""


def names_other_places(manifest: bytes) -> bool:
    """Whether a version of a table has files outside of its folder. Raises ValueError for what is no manifest."""
    if len(manifest) < 16 or not manifest.endswith(MAGIC):
        raise ValueError("not a manifest of Lance")
    start = int.from_bytes(manifest[-16:-8], "little")
    length = int.from_bytes(manifest[start : start + 4], "little")
    return BASE_PATHS in _fields(manifest[start + 4 : start + 4 + length])


def _fields(message: bytes) -> Iterator[int]:
    """The numbers of the fields of a message."""
    at = 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while at < len(message):
            byte = message[at]
            value |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                return value
        raise ValueError("a manifest of Lance that is cut off")

    while at < len(message):
        field, kind = divmod(number(), 8)
        if kind == 0:
            number()
        elif kind in FIXED:
            at += FIXED[kind]
        elif kind == 2:
            length = number()  # which moves `at` itself
            at += length
        else:
            raise ValueError("not a manifest of Lance")
        yield field
