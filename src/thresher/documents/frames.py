"""What the process that wants files read and the one that reads them say to each other: lengths, JSON and bytes.

The reply was made of an untrusted file, by a process that the file may have taken over. So it is JSON,
never a pickle, and is checked field by field before it is a Document.
"""

from __future__ import annotations

import importlib
import json
import re
import struct
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, BinaryIO

from thresher.documents.registry import KINDS, FileKind, RawFile
from thresher.errors import DocumentError, ThresherError
from thresher.types import Document

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_LENGTH = struct.Struct(">Q")


class Unreadable(Exception):
    """What came is no frame, is longer than it may be, or does not say what it should."""


def write_frame(stream: BinaryIO, content: bytes) -> None:
    """Send one frame: eight bytes of its length, big end first, and the content."""
    stream.write(_LENGTH.pack(len(content)))
    stream.write(content)
    stream.flush()


def read_frame(stream: BinaryIO, *, longest: int) -> bytes | None:
    """The content of the next frame; None at the end. Raises Unreadable for one that is cut off or too long."""
    head = stream.read(_LENGTH.size)
    if not head:
        return None
    if len(head) < _LENGTH.size:
        raise Unreadable("cut off")
    (length,) = _LENGTH.unpack(head)
    if length > longest:
        raise Unreadable(f"{length:,} bytes")
    content = stream.read(length)
    if len(content) < length:
        raise Unreadable("cut off")
    return content


@dataclass(frozen=True, slots=True)
class Failure:
    """A DocumentError on its way."""

    what: str
    subject: str
    next_step: str

    @classmethod
    def of(cls, error: ThresherError) -> Failure:
        """What an error says."""
        return cls(error.what, error.subject, error.next_step)

    def error(self) -> DocumentError:
        """The error again."""
        return DocumentError(self.what, subject=self.subject, next_step=self.next_step)


@dataclass(frozen=True, slots=True)
class Reply:
    """Some of what is in a file; the last one of a file is `done`, or `failed`, or says that it is read `elsewhere`."""

    found: tuple[Document | Failure, ...] = ()  # empty as a sign of life
    done: bool = False
    failed: Failure | None = None
    out_of_memory: bool = False  # whether it failed for lack of memory
    elsewhere: str = ""  # the kind of the file, whose reader only the process that asks has
    worn: bool = False  # whether the process holds on to so much memory that the next file wants a fresh one


def packed(reply: Reply) -> bytes:
    """A reply as JSON; half of a surrogate pair, which no file may hold, is a question mark."""
    return json.dumps(reply, default=_fields, ensure_ascii=False).encode("utf-8", "replace")


def _fields(value: Any) -> dict[str, Any]:
    if is_dataclass(value):
        return {one.name: getattr(value, one.name) for one in fields(value)}
    return dict(value)


def unpacked(content: bytes) -> Reply:
    """The reply in a frame; Unreadable where a field is missing, unknown or of another type."""
    try:
        return _replies().validate_json(content, strict=True)
    except ValueError as error:
        raise Unreadable("not a reply") from error


@cache
def _replies() -> TypeAdapter[Reply]:
    from pydantic import TypeAdapter

    return TypeAdapter(Reply)


@dataclass(frozen=True, slots=True)
class Request:
    """One file to read; its bytes are the next frame."""

    source: str
    name: str  # bare file name; empty for standard input and for an address
    stdin: bool
    content_type: str
    url: str  # where it was fetched from in the end
    metadata: Mapping[str, str | int | float | bool]
    limits: Mapping[str, float]
    kinds: Sequence[Mapping[str, Any]] = field(default_factory=list)

    def to_json(self) -> bytes:
        """The request as JSON."""
        return json.dumps(self, default=_fields).encode()

    @classmethod
    def of(cls, content: bytes) -> Request:
        """The request in a frame."""
        return cls(**json.loads(content))


class ReadElsewhere(ThresherError):
    """The reader of a kind is a function that this process cannot import."""


def described_kinds() -> list[dict[str, Any]]:
    """All kinds that are registered here, as JSON; a reader by its place, or None where it has none."""
    return [
        {
            **{name: getattr(kind, name) for name in ("name", "label", "extensions", "mime_types", "zip_member")},
            "reader": kind.reader if isinstance(kind.reader, str) else place_of(kind.reader),
            "ours": isinstance(kind.reader, str),
            "signature": None if kind.signature is None else kind.signature.pattern.decode("latin-1"),
            "flags": 0 if kind.signature is None else kind.signature.flags,
        }
        for kind in KINDS.values()
    ]


def place_of(function: Callable[..., Any]) -> str | None:
    """`module:function` under which another process finds it; None for a closure, a lambda, or one of a script."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if not module or not name or module == "__main__" or module not in sys.modules:
        return None
    try:
        found = attrgetter(name)(sys.modules[module])
    except AttributeError:
        return None
    return f"{module}:{name}" if found is function else None


def use_kinds(described: Sequence[Mapping[str, Any]]) -> None:
    """Register these kinds and no others."""
    ours = {name: kind for name, kind in KINDS.items() if isinstance(kind.reader, str)}
    KINDS.clear()
    KINDS.update(ours)  # so a module that registers its kind when it is imported may do so
    found = [_kind(one) for one in described]
    KINDS.clear()
    KINDS.update((kind.name, kind) for kind in found)


def _kind(described: Mapping[str, Any]) -> FileKind:
    signature = described["signature"]
    return FileKind(
        described["name"],
        described["label"],
        tuple(described["extensions"]),
        tuple(described["mime_types"]),
        described["reader"] if described["ours"] else _imported(described["reader"], described["name"]),
        None if signature is None else re.compile(signature.encode("latin-1"), described["flags"]),
        described["zip_member"],
    )


def _imported(place: str | None, kind: str) -> Callable[[RawFile], Any]:
    """The function at a place, or one that raises ReadElsewhere, whatever error the module raises."""

    def elsewhere(file: RawFile) -> Iterator[Any]:
        raise ReadElsewhere("is read elsewhere", subject=kind)

    module, _, name = (place or "").partition(":")
    try:
        reader: Callable[[RawFile], Any] = attrgetter(name)(importlib.import_module(module))
    except Exception:
        return elsewhere
    return reader
