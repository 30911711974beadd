from __future__ import annotations

from collections.abc import Sequence

from thresher.retrieval.hops import ADDED, HoppingRetriever
from thresher.types import COSINE, Chunk, Hit, Judged, Judgement, Query, Score

QUESTION = Query("Who owns the yard that built the ferry?", "Who owns the yard that built the ferry?")
FERRY = "The ferry was built by Nordhavn Yard in 1972."
OWNER = "Nordhavn Yard belongs to the Lind family."


class Searched:
    """Finds one passage for the question, and another only for words that the first one names."""

    def __init__(self) -> None:
        self.searches: list[str] = []

    def __call__(self, query: Query) -> Judged:
        self.searches.append(query.search)
        texts = [FERRY, OWNER] if "Nordhavn" in query.search else [FERRY]
        return Judged(tuple(Judgement(hit(text, rank), keep=True) for rank, text in enumerate(texts, start=1)))


def hit(text: str, rank: int) -> Hit:
    return Hit(Chunk(text, text, "d.txt", "", 0, len(text), text), Score(0.5, COSINE), rank)


def hopping(found: Searched, chance: float) -> HoppingRetriever:
    def probabilities(query: Query, hits: Sequence[Hit]) -> list[float]:
        return [chance] * len(hits)

    return HoppingRetriever(found, probabilities, 0.3, 0.7)


def test_ambiguous_evidence_is_searched_again_with_the_name_it_gives() -> None:
    found = Searched()
    judged = hopping(found, 0.5)(QUESTION)
    assert found.searches == [QUESTION.search, f"{QUESTION.search} Nordhavn Yard"]
    assert [one.hit.chunk.text for one in judged.judgements] == [FERRY, OWNER]
    assert judged.judgements[1].reason == "found with Nordhavn Yard"
    assert judged.notes.facts == {"second_search": [found.searches[1]], "added": 1}


def test_good_or_hopeless_evidence_is_not_searched_again() -> None:
    for chance in (0.1, 0.9):
        found = Searched()
        assert [one.hit.chunk.text for one in hopping(found, chance)(QUESTION).judgements] == [FERRY]
        assert len(found.searches) == 1


def test_names_of_the_question_lead_nowhere_else() -> None:
    found = Searched()
    asked = "Which ferry was built by the Nordhavn Yard?"
    judged = hopping(found, 0.5)(Query(asked, "ferry yard"))
    assert found.searches == ["ferry yard"]
    assert len(judged.judgements) == 1


def test_a_second_search_adds_a_few_hits_at_most() -> None:
    def many(query: Query) -> Judged:
        again = query.search != QUESTION.search
        texts = [FERRY, *(f"{OWNER} {number}" for number in range(20 * again))]
        return Judged(tuple(Judgement(hit(text, rank), keep=True) for rank, text in enumerate(texts, start=1)))

    judged = HoppingRetriever(many, lambda query, hits: [0.5] * len(hits), 0.3, 0.7)(QUESTION)
    assert len(judged.judgements) == 1 + ADDED
    assert [one.hit.rank for one in judged.judgements] == list(range(1, 2 + ADDED))
