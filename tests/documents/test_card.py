"""What a file says about itself is the last paragraph of its text."""

from __future__ import annotations

from pathlib import Path

import pytest

import thresher
from tests.documents.making import read_one, save
from thresher.chunking.hierarchical import HierarchicalChunker
from thresher.documents.read import card
from thresher.structure.locators import locate

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
        ("Bring a lamp.", {"sheets": "A, B", "hidden_sheets": "B", "encoding": "windows-1252"}, None, ""),
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
        file = tmp_path / "relay.md"
        file.write_text(RUNBOOK, encoding="utf-8")
        collection.add(file)
        for question, wanted in (("Who wrote the runbook?", "Ada Kask"), ("What is the pager?", "ext-7719")):
            answer = collection.ask(question)
            assert wanted in answer.text, answer.reason
            assert answer.citations[0].locator == "what the file says of itself"
