"""Citations: written answers taken apart, and what contradicts a cited piece stands beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from thresher.answering.citations import ConflictCiter
from thresher.pipeline import unverified
from thresher.types import Citation, Evidence, Generation, Query, Refined

QUERY = Query("Who said it?", "said")


def as_it_is(citation: Citation) -> Citation:
    return citation


def citing(evidence: Sequence[Evidence], *numbers: int) -> Generation:
    pieces = [evidence[number - 1] for number in numbers]
    citations = tuple(
        Citation(
            marker,
            piece.hit.chunk.document_id,
            piece.hit.chunk.source,
            "",
            None,
            piece.start,
            piece.end,
            piece.text,
            piece.hit.score,
        )
        for marker, piece in enumerate(pieces, start=1)
    )
    return Generation("Said.", citations)


TOLD = ("Kõpu lighthouse was built in 1531.", "Kõpu lighthouse was built in 1649.", "It is white.")


@pytest.mark.parametrize(
    ("cited", "pairs", "shown"),
    [((2,), ((1, 2),), 2), ((1, 2), ((1, 2),), 2), ((3,), (), 1), ((3, 2), ((2, 3),), 3)],
    ids=["the other side is added", "both are cited", "neither is cited", "added behind the last"],
)
def test_evidence_that_contradicts_what_is_cited_is_shown_beside_it(
    make_evidence: Callable[..., Evidence],
    cited: tuple[int, ...],
    pairs: tuple[tuple[int, int], ...],
    shown: int,
) -> None:
    evidence = tuple(make_evidence(text, id=id, document=id) for id, text in zip("abc", TOLD, strict=True))
    refined = Refined(evidence, conflicts=((1, 2),))
    answer = ConflictCiter(unverified, as_it_is)(QUERY, citing(evidence, *cited), refined)
    assert answer.conflicts == pairs
    assert [citation.marker for citation in answer.citations] == list(range(1, shown + 1))
    for one, other in pairs:
        sides = {answer.citations[one - 1].document_id, answer.citations[other - 1].document_id}
        assert sides == {"a", "b"}


def test_of_a_whole_chunk_only_the_sentence_that_contradicts_the_quote_is_cited(
    make_evidence: Callable[..., Evidence],
) -> None:
    texts = (TOLD[0], f"{TOLD[1]} It is white.")
    evidence = tuple(make_evidence(text, id=id, document=id) for id, text in zip("ab", texts, strict=True))
    refined = Refined(evidence, conflicts=((1, 2),))
    answer = ConflictCiter(unverified, as_it_is)(QUERY, citing(evidence, 1), refined)
    assert [citation.quote for citation in answer.citations] == list(TOLD[:2])


def test_a_contradiction_of_what_is_not_cited_is_not_shown(make_evidence: Callable[..., Evidence]) -> None:
    evidence = tuple(
        make_evidence(text, id=id, document=id)
        for id, text in zip("ab", (TOLD[2] + " " + TOLD[0], TOLD[1]), strict=True)
    )
    white = replace(evidence[0], end=evidence[0].start + len(TOLD[2]), text=TOLD[2])
    answer = ConflictCiter(unverified, as_it_is)(QUERY, citing((white,), 1), Refined(evidence, conflicts=((1, 2),)))
    assert (len(answer.citations), answer.conflicts) == (1, ())


def test_a_contradiction_that_the_reader_found_stays_while_both_sides_are_cited(
    make_evidence: Callable[..., Evidence],
) -> None:
    evidence = tuple(make_evidence(text, id=id, document=id) for id, text in zip("abc", TOLD, strict=True))
    draft = replace(citing(evidence, 1, 3), conflicts=((1, 2),))
    show = ConflictCiter(unverified, as_it_is)
    assert show(QUERY, draft, Refined(evidence)).conflicts == ((1, 2),)
    assert show(QUERY, draft, Refined(evidence, conflicts=((1, 2),))).conflicts == ((1, 2), (1, 3))
    assert show(QUERY, replace(draft, citations=draft.citations[:1]), Refined(evidence)).conflicts == ()


def test_a_withdrawn_answer_shows_no_contradictions(make_evidence: Callable[..., Evidence]) -> None:
    evidence = tuple(make_evidence(f"Said by {id}.", id=id, document=id) for id in "ab")

    def withdraw(query: Query, draft: Generation, refined: Refined) -> Generation:
        return replace(draft, text="", citations=(), abstained=True)

    answer = ConflictCiter(withdraw, as_it_is)(QUERY, citing(evidence, 1), Refined(evidence, conflicts=((1, 2),)))
    assert (answer.citations, answer.conflicts) == ((), ())
