"""The subtle claims are what their README says, and what is counted of them is counted right."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.claims.asking import verdict
from benchmarks.claims.measures import Checked, auroc, states, true_above_false
from benchmarks.claims.reading import sentences_of, text_of
from benchmarks.claims.sets import DOCUMENTS, FALSE, PARTS, TRUE, UNSTATED, Claim, claims, pairs, part_of, path_of, real
from thresher.types import Check, CheckedClaim, ClaimState


def there(document: str) -> bool:
    return path_of(document).is_file()


def claim(pair: str, label: str) -> Claim:
    return Claim(pair, "time", "a.md", label, f"{pair} is {label}.")


def test_every_kind_has_ten_pairs_and_a_quarter_of_them_is_about_real_pages() -> None:
    counts = Counter(row["kind"] for row in pairs())
    assert len(counts) == 15
    assert set(counts.values()) == {10}
    assert sum(real(row["document"]) for row in pairs()) >= 40
    assert sum(one.label == UNSTATED for one in claims()) == 40


def test_no_document_stands_in_both_parts_and_neither_part_is_small() -> None:
    counts = Counter(part_of(row["document"]) for row in pairs())
    assert set(counts) == set(PARTS)
    assert min(counts.values()) > 0.35 * sum(counts.values())


def test_the_two_sentences_of_a_pair_differ_and_no_sentence_stands_twice() -> None:
    texts = [one.text for one in claims()]
    assert len(texts) == len(set(texts))
    assert len({row["id"] for row in pairs()}) == len(pairs())


def test_every_document_of_ours_has_pairs_and_is_there() -> None:
    ours = {row["document"] for row in pairs() if not real(row["document"])}
    assert ours == {path.name for path in DOCUMENTS.iterdir()}


@pytest.mark.parametrize("document", sorted({row["document"] for row in pairs()}))
def test_what_decides_stands_in_the_document_and_the_true_sentence_is_no_copy(document: str) -> None:
    if not there(document):
        pytest.skip(f"{document} is not here: `python -m benchmarks.real_text fetch`, THRESHER_DATA")
    text = " ".join(text_of(document).split())
    for row in (row for row in pairs() if row["document"] == document):
        assert [words for words in row["decides"] if words not in text] == []
        assert row["true"] not in sentences_of(document)


def test_a_tie_is_half_in_the_auroc() -> None:
    assert auroc([0.9, 0.4], [0.4, 0.1]) == (1 + 1 + 0.5 + 1) / 4


def test_a_true_sentence_is_held_against_the_false_one_of_its_pair_alone() -> None:
    rows = [
        Checked(claim("one", TRUE), "supported", 0.6),
        Checked(claim("one", FALSE), "contradicted", 0.5),
        Checked(claim("two", TRUE), "unverified", 0.2),
        Checked(claim("two", FALSE), "unverified", 0.2),
    ]
    assert true_above_false(rows) == (1 + 0.5) / 2
    assert states(rows, TRUE) == (0, 1, 1, 0)
    assert states(rows, FALSE) == (0, 0, 1, 1)


def test_a_sentence_that_is_taken_apart_counts_as_its_worst_part() -> None:
    parts = (CheckedClaim(0, 1, "a", ClaimState.SUPPORTED, 0.9), CheckedClaim(2, 3, "b", ClaimState.CONTRADICTED, 0.1))
    assert verdict(Check("a b", 0.5, parts)) == {"state": "contradicted", "support": 0.1, "words": []}
    assert verdict(Check("", None, ())) == {"state": "unverified", "support": 0.0, "words": []}
