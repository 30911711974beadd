from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tests.documents.making import parse_bytes, read_one, save
from thresher.documents.assembly import Parsed
from thresher.documents.registry import KINDS, FileKind, RawFile, by_extension, by_mime_type, file_kind
from thresher.errors import DocumentError, UnknownSetting, UsageError
from thresher.types import Document

Registering = Callable[[FileKind], None]


def read_subtitles(file: RawFile) -> Parsed:
    """The format of the tests: a line of words under each line of times."""
    lines = file.data.decode().split("\n")
    return Parsed("\n".join(line for line in lines if line and "-->" not in line), title=file.name)


SUBTITLES = FileKind("lines", "subtitles", (".lines",), ("application/x-lines",), read_subtitles)


def test_every_kind_has_a_reader_and_names_of_its_own() -> None:
    for kind in KINDS.values():
        assert isinstance(kind.reader, str)
        module, _, function = kind.reader.partition(":")
        assert callable(getattr(import_module(module, "thresher.documents.formats"), function))
        assert kind.label
    for names in ([kind.extensions for kind in KINDS.values()], [kind.mime_types for kind in KINDS.values()]):
        assert set(Counter(name for each in names for name in each).values()) == {1}


def test_a_kind_is_found_by_extension_and_by_what_a_server_says() -> None:
    assert by_extension(".PDF") is by_mime_type("Application/PDF; charset=binary") is file_kind("pdf")
    assert by_extension(".xyz") is by_mime_type("text/plain") is by_mime_type("") is None
    with pytest.raises(UnknownSetting, match="unknown file kind; did you mean 'markdown'"):
        file_kind("markdwn")


def test_a_kind_that_is_added_is_read_by_its_own_reader(registering: Registering, tmp_path: Path) -> None:
    source = "00:01 --> 00:02\nThe oats are ripe.\n"
    before = read_one(save(tmp_path, "a.lines", source))
    assert (before.kind, "-->" in before.text) == ("text", True)
    registering(SUBTITLES)
    document = read_one(save(tmp_path, "a.lines", source))
    assert (document.kind, document.text, document.title) == ("lines", "The oats are ripe.", "a.lines")
    (served,) = parse_bytes(source.encode(), content_type="application/x-lines")
    assert isinstance(served, Document)
    assert served.kind == "lines"


def test_a_kind_with_a_signature_is_recognised_by_its_bytes(registering: Registering) -> None:
    def read(file: RawFile) -> Iterator[Parsed | DocumentError]:
        yield Parsed("Oats.", source="1")
        yield DocumentError("is empty", subject="2", next_step="fill it")

    registering(FileKind("box", "a box", (".box",), (), read, signature=re.compile(rb"BOX\x00")))
    first, second = parse_bytes(b"BOX\x00\x01", name="a.box")
    assert isinstance(first, Document)
    assert (first.source, first.container, first.kind) == ("1", "a.box", "box")
    assert str(second) == "a.box:2: is empty; fill it"
    with pytest.raises(DocumentError, match=r"named .txt but is a box; rename it to .box"):
        parse_bytes(b"BOX\x00\x01", name="a.txt")
    with pytest.raises(DocumentError, match=r"named .box but is text"):
        parse_bytes(b"Words.", name="a.box")


def test_a_name_or_extension_that_is_taken_is_refused(registering: Registering) -> None:
    for kind in (
        FileKind("pdf", "x", (".x",), (), read_subtitles),
        FileKind("x", "x", (".x", ".htm"), (), read_subtitles),
    ):
        with pytest.raises(UsageError, match="taken"):
            registering(kind)
    assert "x" not in KINDS
