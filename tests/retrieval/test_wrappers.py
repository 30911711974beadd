from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from thresher.errors import BudgetSpent, ProviderError, UsageError
from thresher.question.intent import subject_asked
from thresher.retrieval.wrappers import (
    INTRODUCES,
    DeduplicatedRetriever,
    IntroducingRetriever,
    Redundancy,
    RerankedRetriever,
    SecondLookRetriever,
)
from thresher.testing.fakes import HashEncoder, OverlapCrossEncoder
from thresher.types import UNIT, Hit, Judged, Judgement, Notes, Query, Score

Make = Callable[..., Hit]
QUERY = Query("q", "q")

TEXTS = [
    "the cat sat on the mat",
    "the cat sat on the mat today",
    "a dog ran in the park",
    "the cat sat on the mat",
    "",
]


def split(text: str) -> list[str]:
    return text.split()


def angled(*degrees: float) -> Callable[[Sequence[Hit]], np.ndarray]:
    """An embedding that is given: one angle for each hit."""
    angles = np.radians(degrees)
    return lambda hits: np.stack([np.cos(angles), np.sin(angles)], axis=1)


@pytest.fixture
def hits(make_hit: Make) -> list[Hit]:
    return [
        make_hit(f"c{n}", 1 - n / 10, n, text=text, document=f"d{n}", label=f"Doc{n}-Chunk1")
        for n, text in enumerate(TEXTS, start=1)
    ]


def ids(judgements: Sequence[Judgement]) -> list[str]:
    return [judgement.hit.chunk.id for judgement in judgements]


def test_the_better_twin_survives_and_stands_for_the_other(hits: list[Hit]) -> None:
    judged = Redundancy(embed=angled(0, 10, 90, 0), threshold=0.9)(hits[:4])
    assert ids(judged.judgements) == ["c1", "c3", "c2", "c4"]
    assert [judgement.stood_for for judgement in judged.judgements] == [("c2", "c4"), (), (), ()]
    assert judged.judgements[2].reason == "says what Doc1-Chunk1 says (cosine 0.98)"
    assert [hit.chunk.id for hit in judged.kept] == ["c1", "c3"]


def test_the_order_of_the_hits_decides_who_survives(hits: list[Hit]) -> None:
    judged = Redundancy(embed=angled(0, 90, 0), threshold=0.9)([hits[3], hits[2], hits[0]])
    assert ids(judged.judgements) == ["c4", "c3", "c1"]
    assert judged.judgements[0].stood_for == ("c1",)


def test_a_chunk_is_compared_with_survivors_only(hits: list[Hit]) -> None:
    # 20 degrees apart each: the second repeats the first, the third repeats only the dropped second
    judged = Redundancy(embed=angled(0, 20, 40), threshold=0.9)(hits[:3])
    assert [hit.chunk.id for hit in judged.kept] == ["c1", "c3"]


def test_near_copies_that_say_something_of_their_own_stay(make_hit: Make) -> None:
    texts = ["Ann Lee earns 30", "Tom Berg earns 30", "earns 30"]
    people = [make_hit(f"c{n}", 1 - n / 10, n, text=text) for n, text in enumerate(texts, start=1)]
    judged = Redundancy(embed=angled(0, 5, 5), facts=lambda hit: set(hit.chunk.text.split()))(people)
    assert ids(judged.judgements) == ["c1", "c2", "c3"]
    assert [judgement.keep for judgement in judged.judgements] == [True, True, False]


def test_the_threshold_itself_is_not_redundant(hits: list[Hit]) -> None:
    at_threshold = Redundancy(embed=lambda hits: np.array([[1.0, 0.0], [0.5, 0.75**0.5]]), threshold=0.5)
    assert len(at_threshold(hits[:2]).kept) == 2


def test_a_threshold_of_one_keeps_everything(hits: list[Hit]) -> None:
    encoder = HashEncoder(64)
    same = Redundancy(embed=lambda hits: encoder.encode([hit.chunk.text for hit in hits]), threshold=1.0)
    assert len(same(hits[:4]).kept) == 4


def test_either_drops_what_one_of_the_two_drops(hits: list[Hit]) -> None:
    def kept(vectors: str) -> list[str]:
        redundancy = Redundancy(vectors, 0.9, angled(0, 45, 3, 90), split)  # type: ignore[arg-type]
        return [hit.chunk.id for hit in redundancy(hits[:4]).kept]

    assert kept("embedding") == ["c1", "c2", "c4"]
    assert kept("tfidf") == ["c1", "c2", "c3"]
    assert kept("either") == ["c1", "c2"]


def test_counts_and_similarities_are_reported_together(hits: list[Hit]) -> None:
    report = Redundancy(embed=angled(0, 0, 90, 90), threshold=0.9)(hits[:4]).notes.facts["redundancy"]
    assert (report["removed"], report["total"], report["percent"]) == (2, 4, 50.0)
    assert report["pairwise_similarity"] == {"before": pytest.approx(2 / 6), "after": pytest.approx(0.0)}
    assert report["query_similarity"] == {"before": pytest.approx(0.75), "after": pytest.approx(0.8)}


def test_nothing_and_one_have_no_pairs(hits: list[Hit]) -> None:
    assert Redundancy(embed=angled())([]).notes.facts["redundancy"]["percent"] == 0.0
    report = Redundancy("tfidf", terms=split)(hits[:1]).notes.facts["redundancy"]
    assert report["pairwise_similarity"] == {"before": None, "after": None}


@pytest.mark.parametrize(
    ("terms", "told", "kept"), [(None, "nothing was compared", 4), (split, "compared by TF-IDF", 3)]
)
def test_an_encoder_that_fails_is_told(
    hits: list[Hit], terms: Callable[[str], list[str]] | None, told: str, kept: int
) -> None:
    def failing(hits: Sequence[Hit]) -> np.ndarray:
        raise ProviderError("no answer", subject="http://encoder")

    judged = Redundancy(embed=failing, terms=terms)(hits[:4])
    assert judged.notes.degraded == (f"redundancy: http://encoder: no answer; {told}",)
    assert len(judged.kept) == kept


def test_vectors_without_what_makes_them_are_refused() -> None:
    with pytest.raises(UsageError, match="needs `terms`"):
        Redundancy("either", embed=angled())
    with pytest.raises(UsageError, match="needs `embed`"):
        Redundancy()


def test_a_deduplicated_retriever_ranks_anew_and_loses_nothing(hits: list[Hit]) -> None:
    own = Judgement(hits[4], keep=False, reason="empty")
    kept = tuple(Judgement(hit, keep=True, reason=f"rank {hit.rank}") for hit in hits[:4])
    found = Judged((*kept, own), Notes(("slow",), facts={"lists": [4]}))
    judged = DeduplicatedRetriever(lambda query: found, Redundancy("tfidf", terms=split))(QUERY)
    assert ids(judged.judgements) == ["c1", "c2", "c3", "c4", "c5"]
    assert [judgement.keep for judgement in judged.judgements] == [True, True, True, False, False]
    assert [hit.rank for hit in judged.kept] == [1, 2, 3]
    assert [judgement.reason for judgement in judged.judgements] == [
        "rank 1",
        "rank 2",
        "rank 3",
        "says what Doc1-Chunk1 says (cosine 1.00)",
        "empty",
    ]
    assert judged.judgements[0].stood_for == ("c4",)
    assert judged.notes.degraded == ("slow",)
    assert judged.notes.facts["lists"] == [4]


# --- reranked ---------------------------------------------------------------------------------------------------------


@dataclass
class Failing:
    error: Exception
    name: str = "failing"

    def __call__(self, question: str, texts: Sequence[str]) -> Sequence[Score]:
        raise self.error


@pytest.fixture
def found(make_hit: Callable[..., Hit]) -> Judged:
    texts = {"a": "nothing alike", "b": "red green", "c": "red green blue", "d": "green red"}
    hits = [make_hit(id, 0.9 - rank / 10, rank, text=text) for rank, (id, text) in enumerate(texts.items(), start=1)]
    dropped = Judgement(make_hit("x"), keep=False, reason="a copy of a")
    notes = Notes(("half of the index is missing",), facts={"lists": [4]})
    return Judged((*(Judgement(hit, keep=True, reason="before") for hit in hits), dropped), notes)


def test_candidates_stand_in_the_order_of_the_cross_encoder_and_ties_keep_theirs(found: Judged) -> None:
    judged = RerankedRetriever(lambda query: found, OverlapCrossEncoder())(Query("?", "red green blue"))
    assert [hit.chunk.id for hit in judged.kept] == ["c", "b", "d", "a"]
    assert [hit.rank for hit in judged.kept] == [1, 2, 3, 4]
    first = judged.judgements[0]
    assert (first.reason, first.hit.score) == ("rerank rank 1", Score(1.0, UNIT))
    assert (first.hit.scores["rerank"], first.hit.scores["dense"].value) == (first.hit.score, pytest.approx(0.6))
    last = judged.judgements[-1]
    assert (last.hit.chunk.id, last.keep, last.reason, "rerank" in last.hit.scores) == (
        "x",
        False,
        "a copy of a",
        False,
    )


def test_with_a_weight_the_order_before_counts_too_each_brought_to_zero_to_one(found: Judged) -> None:
    # Retrieval .8 .7 .6 .5 is 1, 2/3, 1/3, 0; shared words 0, 2/3, 1, 2/3 of three stay as they are.
    best = RerankedRetriever(lambda query: found, OverlapCrossEncoder(), 0.25)(Query("?", "red green blue")).kept
    blended = {"a": 3 / 4, "b": (3 * 2 / 3 + 2 / 3) / 4, "c": (3 * 1 / 3 + 1) / 4, "d": (2 / 3) / 4}
    assert [hit.chunk.id for hit in best] == ["a", "b", "c", "d"]
    assert {hit.chunk.id: hit.score.value for hit in best} == pytest.approx(blended)
    assert best[1].scores["rerank"].value == pytest.approx(2 / 3)


def test_scores_that_are_all_alike_leave_the_order_to_the_other(found: Judged) -> None:
    judged = RerankedRetriever(lambda query: found, OverlapCrossEncoder(), 0.5)(Query("?", "purple"))
    assert [hit.chunk.id for hit in judged.kept] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("error", [ProviderError("cannot be reached", subject="it"), BudgetSpent("no time left")])
def test_a_failure_leaves_the_order_and_says_so_beside_what_was_said_before(found: Judged, error: Exception) -> None:
    judged = RerankedRetriever(lambda query: found, Failing(error))(Query("?", "red green blue"))
    assert judged.judgements == found.judgements
    first, second = judged.notes.degraded
    assert first == "half of the index is missing"
    assert second == f"rerank: {error}; the order before it was kept"


def test_a_bug_in_a_cross_encoder_is_not_hidden(found: Judged) -> None:
    with pytest.raises(ZeroDivisionError):
        RerankedRetriever(lambda query: found, Failing(ZeroDivisionError()))(Query("?", "red"))


# --- searched again ---------------------------------------------------------------------------------------------------

ASKED = Query("question", "question")


@pytest.fixture
def library(make_hit: Callable[..., Hit]) -> Callable[[Query], Judged]:
    """Finds other hits for other words."""
    by_words = {"question": "ab", "other words": "bc"}

    def retrieve(query: Query) -> Judged:
        hits = [make_hit(id_, 0.9, rank) for rank, id_ in enumerate(by_words[query.search], start=1)]
        return Judged(tuple(Judgement(hit, keep=True) for hit in hits), Notes(("retrieve: half of it is gone",)))

    return retrieve


def rewriting(search: str, *degraded: str) -> Callable[[Query], Query]:
    return lambda query: replace(query, search=search, notes=Notes(degraded))


def never(query: Query, hits: Sequence[Hit]) -> bool:
    return False


def kept(judged: Judged) -> list[str]:
    return [hit.chunk.id for hit in judged.kept]


def refuse(query: Query) -> Query:
    raise AssertionError("rewritten")


def test_what_suffices_is_not_looked_for_again(library: Callable[[Query], Judged]) -> None:
    looking = SecondLookRetriever(library, refuse, lambda query, hits: [hit.chunk.id for hit in hits] == ["a", "b"])
    assert looking(ASKED) == library(ASKED)


def test_both_searches_count_and_what_both_found_comes_first(library: Callable[[Query], Judged]) -> None:
    found = SecondLookRetriever(library, rewriting("other words"), never)(ASKED)
    assert kept(found) == ["b", "a", "c"]
    assert found.notes.facts["second_search"] == "other words"


def test_a_rewriting_that_changes_nothing_searches_once(library: Callable[[Query], Judged]) -> None:
    searched: list[str] = []

    def counting(query: Query) -> Judged:
        searched.append(query.search)
        return library(query)

    found = SecondLookRetriever(counting, rewriting("question"), never)(ASKED)
    assert (kept(found), searched) == (["a", "b"], ["question"])


def test_what_the_rewriter_and_either_search_lacked_is_told(library: Callable[[Query], Judged]) -> None:
    for words in ("question", "other words"):
        found = SecondLookRetriever(library, rewriting(words, "rewrite: out of order"), never)(ASKED)
        assert {"retrieve: half of it is gone", "rewrite: out of order"} == set(found.notes.degraded)


# --- what is introduced -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("What is batch normalization?", "batch normalization"),
        ("what's vLLM", "vLLM"),
        ("Who was Ada Kask?", "Ada Kask"),
        ("What is a residual network ?", "residual network"),
        ("What is the Transformer?", "Transformer"),
        ("What is the deposit?", ""),
        ("What is the melting point of tin?", ""),
        ("What is new in version 3?", ""),
        ("What does the pump cost?", ""),
        ("What is it?", ""),
    ],
)
def test_a_question_for_an_introduction_is_known_by_its_form(question: str, subject: str) -> None:
    assert subject_asked(question) == subject


def test_what_names_the_subject_first_in_a_document_stands_in_front(make_hit: Make) -> None:
    texts = {"late": "Grommets are used again.", "early": "A grommet is a ring.", "other": "Rings hold."}
    made = [
        make_hit(name, 1 - at / 10, at, text=text, document="d", start=9 - at)
        for at, (name, text) in enumerate(texts.items(), start=1)
    ]
    copy = make_hit("copy", 0.1, 4, text="A grommet, once more.", document="d", start=0)
    found = Judged((*(Judgement(hit, keep=True) for hit in made), Judgement(copy, keep=False)))
    judged = IntroducingRetriever(lambda query: found)(Query("What is a grommet?", "x"))
    assert ids(judged.judgements) == ["early", "late", "other", "copy"]
    assert [INTRODUCES in one.hit.scores for one in judged.judgements] == [True, False, False, False]
    assert [hit.rank for hit in judged.kept] == [1, 2, 3]
    assert IntroducingRetriever(lambda query: found)(Query("What does a grommet hold?", "x")) is found
