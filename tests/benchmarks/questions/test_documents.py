from __future__ import annotations

from pathlib import Path

from benchmarks.questions import documents, rules
from tests.documents.making import read_one
from thresher.documents.sources import Item


def told(path: Path) -> str:
    document = read_one(Item(source=path.as_posix(), root=path.as_posix(), path=path))
    return f"{path.name}\n{document.title}\n{document.metadata}\n{document.text}"


def test_every_expected_answer_stands_in_as_many_documents_as_the_set_says() -> None:
    files = {name: sorted((documents.FOLDER / name).iterdir()) for name in documents.MADE}
    assert [len(found) for found in files.values()] == [12, 12, 15, 20]
    assert len(set(documents.PAPERS)) == 25
    texts = {name: "\n".join(map(told, found)) for name, found in files.items()}
    for question in rules.load():
        if question.answerable and question.collection in texts and question.evidence is None:
            assert all(rules.stated(texts[question.collection], question.expected)), question
