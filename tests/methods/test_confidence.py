"""ECRAG's confidence: BM25, choosing among the candidates, and the absolute value that routes."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from math import log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from rank_bm25 import BM25Okapi

from thresher.errors import UsageError
from thresher.judging.verdicts import ABSOLUTE, Bounds, ThreeWay
from thresher.types import BM25, COSINE, Chunk, Hit, Judged, Query, Score, Verdict
from thresher_methods.confidence import KDM, KDM_SUM, ConfidenceJudge, LexicalConfidence, Statistics

Make = Callable[..., Hit]

# --- BM25 -------------------------------------------------------------------------------------------------------------

texts = some.lists(some.lists(some.sampled_from("abcdefgh"), min_size=1, max_size=12), min_size=1, max_size=8)
queries = some.lists(some.sampled_from("abcdefghz"), min_size=1, max_size=4, unique=True)


def test_one_text_of_average_length_by_hand_and_the_rarity_in_both_forms() -> None:
    known = Statistics.of([["tower", "x"], ["y", "z"]])
    # One term once in a text of average length: idf x 1 x 2.2 / (1 + 1.2) = idf.
    assert known.bm25(["tower"], ["tower", "x"]) == known.idf("tower") == pytest.approx(log(1 + 1.5 / 1.5))
    four = Statistics({"a": 1, "b": 2, "c": 3}, 4, 1.0)
    assert four.idf("a", "okapi") == pytest.approx(log(3.5 / 1.5))
    assert four.idf("c", "okapi") < four.idf("b", "okapi") == 0 < four.idf("c")
    assert Statistics.of([["a", "a", "b"], ["a"]]) == Statistics({"a": 2, "b": 1}, 2, 2.0)
    assert Statistics.of([]) == Statistics({}, 0, 0.0)


@pytest.mark.parametrize("k1", [1.2, 1.5])
def test_okapi_gives_the_scores_of_rank_bm25(k1: float) -> None:
    chance = random.Random(5)
    words = [f"w{n}" for n in range(60)]
    corpus = [chance.choices(words, k=chance.randint(3, 15)) for _ in range(40)]
    theirs, known = BM25Okapi(corpus, k1=k1, b=0.75), Statistics.of(corpus)
    rare = [word for word in words if 0 < known.frequencies.get(word, 0) < 20]
    for _ in range(20):
        query = chance.sample(rare, k=3)  # rank_bm25 gives common terms a rarity of its own making
        ours = [known.bm25(query, text, k1, "okapi") for text in corpus]
        assert ours == pytest.approx(list(theirs.get_scores(query)))


@given(queries, texts)
def test_no_text_reaches_the_ceiling_and_one_that_shares_no_term_scores_nothing(
    query: list[str], corpus: list[list[str]]
) -> None:
    known = Statistics.of(corpus)
    for text in corpus:
        score = known.bm25(query, text)
        assert 0 <= score < known.ceiling(query)
        assert (score > 0) == bool(set(query) & set(text))


class Table:
    """Of a chunk table as much as the confidence asks for: 100 chunks of 10 terms on average."""

    def document_frequencies(self, text: str) -> dict[str, int]:
        return {term: {"red": 60, "green": 2}.get(term, 0) for term in text.split()}

    def count(self) -> int:
        return 100

    def average_terms(self) -> float:
        return 10.0


def lexical(*hits: Hit, search: str = "red green", **more: Any) -> list[float]:
    judge = LexicalConfidence(Table(), **more)  # type: ignore[arg-type]
    return judge(Query("red green", search), hits)


def test_a_term_is_as_rare_as_it_is_in_the_collection_or_among_what_was_retrieved(make_hit: Make) -> None:
    hits = [make_hit("a", text="red x"), make_hit("b", text="green x")]
    known = Statistics({"red": 60, "green": 2}, 100, 10.0)
    red, green = lexical(*hits)
    assert red == pytest.approx(known.bm25(["red", "green"], ["red", "x"]))
    assert green > 3 * red > 0
    red, green = lexical(*hits, fit="retrieved")
    assert red == green
    assert lexical(hits[0], kind="okapi")[0] < 0
    assert lexical(hits[0], search="green") == [0]  # the searched words are what counts
    titled = make_hit("b", text="x", title="green")
    assert lexical(titled)[0] > 0 == lexical(titled, titled=False)[0]


@pytest.mark.parametrize("fit", ["corpus", "retrieved"])
def test_the_ceiling_is_always_the_collections(make_hit: Make, fit: Any) -> None:
    judge = LexicalConfidence(Table(), fit=fit)  # type: ignore[arg-type]
    expected = Statistics({"red": 60, "green": 2}, 100, 10.0).ceiling(["red", "green"])
    assert judge.ceiling("red green") == pytest.approx(expected)
    assert 0.8 * expected < lexical(make_hit(text="red green " * 200))[0] < expected


# --- choosing ---------------------------------------------------------------------------------------------------------

ASKED = Query("question", "question", limit=1)


def judging(bm25: Sequence[float], ceiling: float = 10.0, **more: Any) -> ConfidenceJudge:
    """A judge over hits whose BM25 is given, of 10 at most."""
    return ConfidenceJudge(lambda query, hits: [bm25[int(hit.chunk.id)] for hit in hits], lambda query: ceiling, **more)


def hits_of(cosines: Sequence[float]) -> list[Hit]:
    return [
        Hit(Chunk(str(n), "d", "d.txt", "", 0, 1, "x"), Score(c, COSINE), n + 1, scores={"dense": Score(c, COSINE)})
        for n, c in enumerate(cosines)
    ]


def judged(cosines: Sequence[float], bm25: Sequence[float], query: Query = ASKED, **more: Any) -> Judged:
    return judging(bm25, **more)(query, hits_of(cosines))


def confidences(result: Judged) -> dict[str, float]:
    return {one.hit.chunk.id: one.score.value for one in result.judgements if one.score}


def kept(result: Judged) -> list[str]:
    return [hit.chunk.id for hit in result.kept]


def test_both_parts_are_spread_over_the_candidates_and_weighted_and_the_kept_come_first() -> None:
    result = judged([0.1, 0.9, 0.5], [1.0, 2.0, 4.0])
    assert confidences(result) == {"1": 0.8, "2": 0.65, "0": 0.0}
    assert kept(result) == ["1", "2"]
    assert [one.hit.rank for one in result.judgements] == [1, 2, 3]
    best = result.judgements[0]
    assert best.score == best.hit.score == Score(0.8, KDM)
    assert best.reason == "confidence 0.8 >= 0.5 (cosine 1, BM25 0.333)"
    assert result.judgements[2].reason == "confidence 0 < 0.5 (cosine 0, BM25 0)"
    assert judged([], []) == Judged(())


def test_the_figures_sum_is_a_quarter_cut_on_equal_weights() -> None:
    cosines, bm25 = [0.9, 0.5, 0.4, 0.1], [1.0, 2.0, 5.0, 3.0]
    result = judged(cosines, bm25, combine="sum", nonzero_rule="off")
    halves = judged(cosines, bm25, cosine_weight=0.5, cut=0.25, nonzero_rule="off")
    assert kept(result) == kept(halves)
    assert {id: 2 * value for id, value in confidences(halves).items()} == pytest.approx(confidences(result))
    assert result.judgements[0].hit.score.scale == KDM_SUM


@pytest.mark.parametrize(
    ("rule", "cosines", "bm25", "ids"),
    [
        ("raw", [0.9, 0.8, 0.1], [4.0, 0.0, 2.0], ["0"]),  # 1 shares no term
        ("off", [0.9, 0.8, 0.1], [4.0, 0.0, 2.0], ["0", "1"]),
        ("normalized", [0.9, 0.8, 0.1], [4.0, 0.0, 2.0], ["0"]),  # 1 is the lowest in BM25
        ("raw", [0.9, 0.2], [0.0, 0.0], []),
        ("off", [0.9, 0.2], [0.0, 0.0], ["0"]),
        ("raw", [-0.1, -0.2], [5.0, 5.0], []),
        ("normalized", [0.9], [9.0], []),
        ("normalized", [0.9, 0.9], [9.0, 9.0], []),
        # a single candidate and equal ones are judged by what they are
        ("raw", [0.8], [5.0], ["0"]),
        ("raw", [0.2], [0.5], []),
        ("raw", [0.8] * 3, [5.0] * 3, ["0", "1", "2"]),
        ("raw", [0.2] * 3, [5.0] * 3, []),
    ],
)
def test_what_each_rule_drops(rule: str, cosines: list[float], bm25: list[float], ids: list[str]) -> None:
    assert kept(judged(cosines, bm25, nonzero_rule=rule)) == ids


def test_the_reasons_of_what_is_dropped() -> None:
    worst = judged([0.9, 0.8, 0.5], [1.0, 4.0, 3.0], combine="sum", nonzero_rule="normalized")
    assert [one.reason for one in worst.judgements[1:]] == [
        "the lowest BM25 of the candidates",
        "the lowest cosine of the candidates",
    ]
    assert "shares no term" in judged([0.9], [0.0]).judgements[0].reason
    assert "cosine -0.1 is not above 0" in judged([-0.1], [5.0]).judgements[0].reason
    assert kept(judged([1.0, 0.0], [1.0, 9.0], cut=0.7, nonzero_rule="off")) == ["0"]  # exactly the cut
    cosines, bm25 = [0.9, 0.8, 0.7, 0.1], [4.0, 4.0, 4.0, 1.0]
    result = judged(cosines, bm25, keep=2)
    assert kept(result) == ["0", "1"]
    assert result.judgements[2].reason == "confidence 0.825 >= 0.5 (cosine 0.75, BM25 1), below the best 2"
    assert kept(judged(cosines, bm25, Query("q", "q", limit=3), keep=2)) == ["0", "1", "2"]


@given(some.lists(some.tuples(some.floats(-1, 1), some.floats(0, 10)), min_size=1, max_size=8))
def test_a_confidence_stays_on_its_scale_and_no_hit_is_lost(pairs: list[tuple[float, float]]) -> None:
    for combine, scale in (("weighted", KDM), ("sum", KDM_SUM)):
        result = judged([c for c, _ in pairs], [b for _, b in pairs], combine=combine)
        assert sorted(confidences(result)) == sorted(str(n) for n in range(len(pairs)))
        assert all(0 <= value <= scale.high for value in confidences(result).values())


def test_a_hit_without_a_cosine_and_a_cut_off_the_scale_are_mistakes_in_the_recipe(make_hit: Make) -> None:
    with pytest.raises(UsageError, match="dense retriever"):
        judging([1.0])(ASKED, [make_hit("0", name="lexical", scale=BM25)])
    with pytest.raises(UsageError, match=r"cut 1\.5"):
        judging([], cut=1.5)
    assert judging([], combine="sum", cut=1.5).cut == 1.5


# --- routing ----------------------------------------------------------------------------------------------------------

CORPUS = ["decision trees split a node by information gain", "a random forest is many decision trees", "a tree"]


@pytest.mark.parametrize(
    ("question", "cosines", "verdict"),
    [
        ("decision trees", [0.7, 0.65, 0.4], Verdict.CORRECT),
        ("transformers attention heads", [0.3, 0.25, 0.2], Verdict.INCORRECT),
        ("forest fires", [0.4, 0.45, 0.2], Verdict.AMBIGUOUS),
    ],
)
def test_a_question_outside_the_library_is_routed_outside(
    question: str, cosines: list[float], verdict: Verdict
) -> None:
    known = Statistics.of([text.split() for text in CORPUS])
    bm25 = [known.bm25(question.split(), text.split()) for text in CORPUS]
    result = judged(cosines, bm25, ceiling=known.ceiling(question.split()))
    decide = ThreeWay(Bounds(0.3, 0.5, "code", KDM), ABSOLUTE)
    decision = decide(Query(question, question), result.judgements)
    assert decision.verdict == verdict
    assert "best absolute confidence" in decision.reason


def test_the_absolute_confidence_is_low_for_a_bad_lot_clipped_and_without_terms_only_the_cosine() -> None:
    best = judged([0.2, 0.1], [1.0, 0.5]).judgements[0].hit
    assert best.scores["confidence"].value == 1.0
    assert best.scores[ABSOLUTE] == Score(0.17, KDM)
    for cosine, bm25, ceiling, value in ((1.0, 20.0, 10.0, 1.0), (-0.5, -3.0, 10.0, 0.0), (0.5, 0.0, 0.0, 0.35)):
        (one,) = judged([cosine], [bm25], ceiling=ceiling, nonzero_rule="off").judgements
        assert one.hit.scores[ABSOLUTE].value == value
