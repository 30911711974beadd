"""A label names a document by any of its sources or the end of one."""

from __future__ import annotations

import pytest

from thresher_evals.dataset import matches, matching


@pytest.mark.parametrize(
    ("gold", "source", "also", "same"),
    [
        ("184", "184", (), True),
        ("184", "1184", (), False),
        ("BERT.pdf", "/x/papers/BERT.pdf", (), True),
        ("papers/BERT.pdf", "/x/papers/BERT.pdf", (), True),
        ("./papers/BERT.pdf", "/x/papers/BERT.pdf", (), True),
        ("../data/papers/BERT.pdf", "/x/data/papers/BERT.pdf", (), True),
        ("BERT.pdf", "/x/papers/RoBERT.pdf", (), False),
        ("BERT.pdf", "/x/BERT.pdf/notes.txt", (), False),
        ("BERT.pdf", "/x/bert.pdf", (), False),
        ("/x/BERT.pdf", "/y/x/BERT.pdf", (), False),
        ("copy.pdf", "/x/BERT.pdf", ("/y/copy.pdf",), True),
        ("BERT.pdf", r"C:\papers\BERT.pdf", (), True),
        ("c.pdf", "https://example.org/a/c.pdf", (), True),
    ],
)
def test_a_gold_source_names_a_document(gold: str, source: str, also: tuple[str, ...], same: bool) -> None:
    assert matches(gold, source, also) is same


def test_a_label_that_equals_a_source_goes_before_ends_of_paths() -> None:
    assert matching(["b.pdf", "a/b.pdf"], "a/b.pdf") == ["a/b.pdf"]
    assert matching(["b.pdf", "c.pdf"], "a/b.pdf", ["x/c.pdf"]) == ["b.pdf", "c.pdf"]
