"""The account of a reading names what was not kept, and refuses a file that loses too much."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.documents import making
from tests.documents.making import read_one, save
from thresher.documents.account import account
from thresher.documents.assembly import Parsed
from thresher.documents.registry import KINDS, FileKind, RawFile, file_kind, register
from thresher.errors import DocumentError

FILES = {
    "docx": (making.word, "body"),
    "xlsx": (making.workbook, "cells"),
    "pptx": (making.slides, "slides"),
    "epub": (making.book, "body"),
    "html": (lambda: b"<p>Rye is ripe.<aside>Oats are not.</aside>", "body"),
}


@pytest.mark.parametrize("name", FILES)
def test_what_a_reading_does_not_keep_is_counted_with_its_place(name: str) -> None:
    make, place = FILES[name]
    file = RawFile(make(), file_kind(name), f"a.{name}")
    read = file.kind.read(file)
    assert isinstance(read, Parsed)
    whole, nothing = account(file, read), account(file, Parsed(""))
    assert whole is not None
    assert (whole.missing, whole.to_metadata()) == (0, {})
    assert nothing is not None
    assert nothing.missing == nothing.words == whole.words > 0
    assert place in str(nothing.to_metadata()["not_read"])


def read_little(file: RawFile) -> Parsed:
    """A reader that loses nearly all."""
    return Parsed("Rye")


@pytest.mark.parametrize("lost", [3, 30])
def test_a_file_of_which_too_much_is_lost_is_refused_and_one_of_a_programs_own_reader_is_not(
    lost: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = save(tmp_path, "a.html", f"<p>Rye{' oats' * lost}")
    monkeypatch.setattr("thresher.documents.formats.html.read_html", read_little)
    if lost < 20:
        found = read_one(item).metadata
        assert (found["words_in_file"], found["words_not_read"], found["not_read"]) == (lost + 1, lost, "body")
    else:
        with pytest.raises(DocumentError, match=f"{lost} of its {lost + 1} words could not be read"):
            read_one(item)
    own = FileKind("html", "HTML", (".html",), (), f"{__name__}:read_little")
    monkeypatch.setitem(KINDS, "html", own)
    register(own)  # as its module does over there
    assert "words_not_read" not in read_one(item).metadata
