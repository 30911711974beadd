from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.questions import documents, lookalikes, rules
from tests.documents.making import read_one, save
from thresher.types import Document


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Of each made collection the texts that are read from its files, with names and titles."""
    folder = tmp_path_factory.mktemp("made")
    return {
        name: [told(read_one(save(folder, file, content))) for file, content in files().items()]
        for name, files in documents.MADE.items()
    }


def told(document: Document) -> str:
    return f"{Path(document.source).name}\n{document.title}\n{document.metadata}\n{document.text}"


def test_every_expected_answer_stands_in_the_documents(texts: dict[str, list[str]]) -> None:
    for question in rules.load():
        if question.answerable and question.collection in texts and question.evidence is None:
            found = rules.stated("\n".join(texts[question.collection]), question.expected)
            assert all(found), question


def test_there_are_as_many_documents_as_the_set_says(texts: dict[str, list[str]]) -> None:
    assert {name: len(read) for name, read in texts.items()} == {
        "office": 12,
        "reports": 12,
        "invoices": 15,
        "records": 20,
    }
    assert len(set(documents.PAPERS)) == 25


def test_documents_are_the_same_bytes_every_time() -> None:
    for files in documents.MADE.values():
        assert files() == files()


def test_an_invoice_adds_up() -> None:
    invoice = next(one for one in lookalikes.INVOICES if one.number == "PW-24-0415")
    # 90 boxes at 3.10 and a shredder at 389.00 are 668.00, less 3 percent 647.96, with tax 777.55
    assert lookalikes.totals(invoice) == (64796, 12959, 77755)
