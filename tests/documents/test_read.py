from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.documents import making
from tests.documents.making import parse_bytes, read_one, save
from thresher.documents.assembly import Parsed
from thresher.documents.read import fetch, parse
from thresher.documents.registry import FileKind, RawFile
from thresher.errors import DocumentError, MissingExtra
from thresher.types import Document


def test_what_the_caller_says_goes_over_what_the_document_says(tmp_path: Path) -> None:
    item = save(tmp_path, "a.md", "---\ntitle: Oats\nteam: red\n---\nText.")
    document = read_one(item, metadata={"team": "blue", "title": "Rye", "date": "2001-01-01"})
    assert (document.title, document.date, document.metadata) == ("Rye", "2001-01-01", {"team": "blue"})


def test_the_same_text_has_the_same_id_in_every_format(tmp_path: Path) -> None:
    documents = [
        read_one(save(tmp_path, "a.txt", "Just oats.")),
        read_one(save(tmp_path, "b.md", "Just oats.\n\n\n")),
        read_one(save(tmp_path, "c.html", "<p>Just oats.")),
        read_one(save(tmp_path, "d.pdf", making.pdf(["Just oats."]))),
    ]
    assert len({document.id for document in documents}) == 1
    assert len(documents[0].id) == 32


Registering = Callable[[FileKind], None]


def failing(raised: BaseException) -> FileKind:
    def read(file: RawFile) -> Parsed:
        raise raised

    return FileKind("failing", "a failing file", (".fail",), (), read)


@pytest.mark.parametrize(
    ("raised", "what"),
    [
        (AssertionError("unknown keyword"), "reading it failed (AssertionError: unknown keyword)"),
        (OverflowError(), "reading it failed (OverflowError)"),
        (RuntimeError("first line\nsecond"), "reading it failed (RuntimeError: first line)"),
        (MemoryError(), "reading it failed (MemoryError)"),
        (MissingExtra("odfpy", extra="odf"), "the package 'odfpy' is not installed"),
    ],
)
def test_whatever_a_reader_raises_is_an_error_about_its_file(
    raised: Exception, what: str, registering: Registering, tmp_path: Path
) -> None:
    registering(failing(raised))
    error = making.refusal(tmp_path, "a.fail", "Words.")
    assert error.what == what


@pytest.mark.parametrize("raised", [KeyboardInterrupt(), SystemExit(3), GeneratorExit()])
def test_what_ends_the_program_is_no_error_of_a_file(
    raised: BaseException, registering: Registering, tmp_path: Path
) -> None:
    registering(failing(raised))
    with pytest.raises(type(raised)):
        read_one(save(tmp_path, "a.fail", "Words."))


def test_a_file_that_fails_gives_no_document_at_all(tmp_path: Path) -> None:
    item = save(tmp_path, "a.jsonl", json.dumps({"a": 1}) + "\nbroken")
    data, hints = fetch(item)
    with pytest.raises(DocumentError):
        parse(item, data, hints)  # at once, before any document is asked for


def test_half_of_a_surrogate_pair_is_replaced_in_text_and_refused_in_names() -> None:
    (document,) = parse_bytes(b'{"title": "Oats\\ud800", "text": "Words\\ud800."}', name="a.json")
    assert isinstance(document, Document)
    assert (document.title, document.text) == ("Oats\ufffd", "Words\ufffd.")
    with pytest.raises(DocumentError, match="half of a surrogate pair"):
        parse_bytes(b'{"text": "Words.", "\\ud800": "x"}', name="a.json")
