"""Citations: what contradicts a cited piece stands beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.answering.answering import document, piece
from thresher.answering.citations import ConflictCiter, QuoteChecker, Sentence, cite
from thresher.pipeline import unverified
from thresher.structure.locators import locate
from thresher.types import Evidence, Generation, Query, Refined

QUERY = Query("Who said it?", "said")
TOLD = ("Kõpu lighthouse was built in 1531.", "Kõpu lighthouse was built in 1649.", "It is white.")
CITER = ConflictCiter(unverified, lambda citation: citation)


def pieces(*texts: str) -> tuple[Evidence, ...]:
    return tuple(piece(text, document=id) for id, text in zip("abc", texts, strict=False))


def citing(evidence: Sequence[Evidence], *numbers: int) -> Generation:
    cited = (Sentence.whole(evidence[number - 1], evidence[0].hit.score) for number in numbers)
    return Generation("Said.", tuple(cite(marker, one) for marker, one in enumerate(cited, start=1)))


@pytest.mark.parametrize(
    ("cited", "pairs", "shown"),
    [((2,), ((1, 2),), 2), ((1, 2), ((1, 2),), 2), ((3,), (), 1), ((3, 2), ((2, 3),), 3)],
    ids=["the other side is added", "both are cited", "neither is cited", "added behind the last"],
)
def test_evidence_that_contradicts_what_is_cited_is_shown_beside_it(
    cited: tuple[int, ...], pairs: tuple[tuple[int, int], ...], shown: int
) -> None:
    evidence = pieces(*TOLD)
    answer = CITER(QUERY, citing(evidence, *cited), Refined(evidence, conflicts=((1, 2),)))
    assert answer.conflicts == pairs
    assert [citation.marker for citation in answer.citations] == list(range(1, shown + 1))
    for one, other in pairs:
        sides = {answer.citations[one - 1].document_id, answer.citations[other - 1].document_id}
        assert sides == {"a", "b"}


def test_of_a_whole_chunk_only_the_sentence_that_contradicts_the_quote_is_cited() -> None:
    evidence = pieces(TOLD[0], f"{TOLD[1]} It is white.")
    answer = CITER(QUERY, citing(evidence, 1), Refined(evidence, conflicts=((1, 2),)))
    assert [citation.quote for citation in answer.citations] == list(TOLD[:2])


def test_a_contradiction_of_what_is_not_cited_is_not_shown() -> None:
    evidence = pieces(f"{TOLD[2]} {TOLD[0]}", TOLD[1])
    white = replace(evidence[0], end=len(TOLD[2]), text=TOLD[2])
    answer = CITER(QUERY, citing((white,), 1), Refined(evidence, conflicts=((1, 2),)))
    assert (len(answer.citations), answer.conflicts) == (1, ())


def test_a_contradiction_that_the_reader_found_stays_while_both_sides_are_cited() -> None:
    evidence = pieces(*TOLD)
    draft = replace(citing(evidence, 1, 3), conflicts=((1, 2),))
    assert CITER(QUERY, draft, Refined(evidence)).conflicts == ((1, 2),)
    assert CITER(QUERY, draft, Refined(evidence, conflicts=((1, 2),))).conflicts == ((1, 2), (1, 3))
    assert CITER(QUERY, replace(draft, citations=draft.citations[:1]), Refined(evidence)).conflicts == ()


def test_a_withdrawn_answer_shows_no_contradictions() -> None:
    evidence = pieces("Said by a.", "Said by b.")

    def withdraw(query: Query, draft: Generation, refined: Refined) -> Generation:
        return replace(draft, text="", citations=(), abstained=True)

    citer = replace(CITER, verify=withdraw)
    answer = citer(QUERY, citing(evidence, 1), Refined(evidence, conflicts=((1, 2),)))
    assert (answer.citations, answer.conflicts) == ((), ())


def test_a_quote_that_does_not_stand_in_its_document_goes_with_its_marker() -> None:
    evidence = pieces(*TOLD[:2])
    stored = {"a": document(TOLD[0], "a"), "b": document("It was altered since.", "b")}
    draft = replace(citing(evidence, 1, 2), text="Built in 1531. [1] Or later. [2]")
    kept = QuoteChecker(lambda ids: stored, locate)(QUERY, draft, Refined(evidence))
    assert [one.quote for one in kept.citations] == [TOLD[0]]
    assert kept.text == "Built in 1531. [1] Or later."
    assert kept.notes.facts == {"quotes_checked": 2, "quotes_removed": 1}
