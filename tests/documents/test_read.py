from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import docx
import pytest

import thresher
from tests.documents import making
from tests.documents.making import parse_bytes, read_one, save, saved
from thresher.chunking.hierarchical import HierarchicalChunker
from thresher.documents.assembly import Parsed
from thresher.documents.read import card
from thresher.documents.registry import FileKind, RawFile
from thresher.errors import DocumentError, MissingExtra
from thresher.structure.locators import locate
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


def test_half_of_a_surrogate_pair_is_replaced_in_text_and_refused_in_names() -> None:
    (document,) = parse_bytes(b'{"title": "Oats\\ud800", "text": "Words\\ud800."}', name="a.json")
    assert isinstance(document, Document)
    assert (document.title, document.text) == ("Oats\ufffd", "Words\ufffd.")
    with pytest.raises(DocumentError, match="half of a surrogate pair"):
        parse_bytes(b'{"text": "Words.", "\\ud800": "x"}', name="a.json")


# --- what a file says of itself is the last paragraph of its text -----------------------------------------------------

RUNBOOK = (
    "---\nauthor: Ada Kask\nowner: Dana Ilves\npager: ext-7719\n---\n# Runbook of the relay\n\nRestart it with care.\n"
)


@pytest.mark.parametrize(
    ("text", "metadata", "date", "told"),
    [
        ("Bring a lamp.", {}, None, ""),
        ("By Ada Kask, 2021-03-04.", {"author": "Ada Kask"}, "2021-03-04", ""),
        ("Bring a lamp.", {"author": "Ada Kask"}, None, "The document “Survey” was written by Ada Kask."),
        ("Bring a lamp.", {}, "2021-03-04", ""),
        ("Bring a lamp.", {"owner": "Dana Ilves"}, None, "The document “Survey”: its owner is Dana Ilves."),
        ("Bring a lamp.", {"encoding": "windows-1252"}, None, ""),
        ("Bring a lamp.", {"language": "German", "words_not_read": 3, "description": "Survey"}, None, ""),
    ],
)
def test_a_card_says_what_the_text_does_not(text: str, metadata: dict[str, str], date: str | None, told: str) -> None:
    assert card(text, metadata, "Survey", date) == told


def test_a_card_is_a_chunk_of_its_own_without_a_page(tmp_path: Path) -> None:
    document = read_one(save(tmp_path, "relay.md", RUNBOOK))
    chunks = [chunk for chunk in HierarchicalChunker()(document) if chunk.level == "chunk"]
    assert [document.text[chunk.start : chunk.end] == chunk.text for chunk in chunks] == [True, True]
    last = chunks[-1]
    assert last.text.startswith("The document “Runbook of the relay” was written by Ada Kask. Its owner is")
    assert (last.start, last.page) == (document.card, None)
    assert locate(document, last.start, last.end) == "what the file says of itself"


def test_who_wrote_a_document_and_what_its_front_matter_says_is_answered_and_cited(tmp_path: Path) -> None:
    with thresher.open(tmp_path / "home") as collection:
        collection.add(save(tmp_path, "relay.md", RUNBOOK).source)
        for question, wanted in (("Who wrote the runbook?", "Ada Kask"), ("What is the pager?", "ext-7719")):
            answer = collection.ask(question)
            assert wanted in answer.text, answer.reason
            assert answer.citations[0].locator == "what the file says of itself"


def test_properties_of_a_file_answer_a_question_that_names_it_and_no_other(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("The contract on the quay ends in 2027. The rules were changed by the board.")
    about = document.core_properties
    about.title, about.author, about.last_modified_by = "Contract on the quay", "Ada Kask", "Dana Ilves"
    about.created, about.modified = datetime(2025, 1, 2), datetime(2026, 1, 19)
    (tmp_path / "quay.docx").write_bytes(saved(document))
    with thresher.open(tmp_path / "home") as collection:
        collection.add(str(tmp_path / "quay.docx"))
        changed, ends = map(collection.ask, ("Who last changed quay.docx?", "Which contracts end in 2026?"))
    wanted = "by Ada Kask, dated 2 January 2025, **last changed on 19 January 2026 by Dana Ilves**."
    assert changed.text.endswith(wanted), changed.text
    assert "2026" not in ends.text
