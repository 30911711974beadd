"""Scorers without a chat model, and what changes the scores of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.judging.scoring import ASKED, Given, failing, scores, scoring, values
from thresher.errors import BudgetSpent, ProviderError
from thresher.judging.calibration import SHIPPED, ModelWeight
from thresher.judging.llm_scorers import LLMRelevance
from thresher.judging.scorers import (
    BandedScorer,
    CalibratedScorer,
    CrossEncoderScorer,
    EachPartScorer,
    LocalScorer,
    Parts,
    TrainedScorer,
)
from thresher.judging.windows import EntryScorer
from thresher.protocols import Progress
from thresher.retrieval.search import EachPartRetriever, found
from thresher.testing.fakes import HashEncoder, OverlapCrossEncoder, ScriptedModel
from thresher.text.terms import index_terms
from thresher.types import (
    BM25,
    LOGIT,
    PROBABILITY,
    T5,
    UNIT,
    Chunk,
    Document,
    Hit,
    Judged,
    Notes,
    Query,
    Reading,
    Scale,
    Score,
    Scores,
)
from thresher_methods.t5 import StandInForT5

if TYPE_CHECKING:
    from thresher.types import Vectors

Make = Callable[..., Hit]

# --- the local judge --------------------------------------------------------------------------------------------------

CAPITAL = "Paris is the capital of France. It has two million inhabitants and many bridges."


def rarity(question: str) -> Mapping[str, float]:
    return {term: 3.0 if term == "pari" else 1.0 for term in index_terms(question)}


@dataclass
class Counting:
    """Remembers what was encoded, call by call."""

    inner: HashEncoder = field(default_factory=lambda: HashEncoder(dimension=256))
    calls: list[list[str]] = field(default_factory=list)
    name: str = "counting"
    dimension: int = 256
    max_tokens: int = 1_000_000

    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        self.calls.append(list(texts))
        return self.inner.encode(texts, progress=progress)

    def encode_query(self, text: str) -> Vectors:
        return self.inner.encode_query(text)

    def warm_up(self) -> None:
        pass


@pytest.fixture
def local() -> LocalScorer:
    return LocalScorer(Counting(), rarity)


def relevance(local: LocalScorer, question: str, *texts: str) -> list[float]:
    return [parts.relevance for parts in local.judged(question, texts)]


def test_relevance_is_the_logistic_of_the_weighted_support() -> None:
    assert Parts(sentence=0.4, terms=0.34 / 0.3).relevance == pytest.approx(0.5)  # .7 * .4 + .34 = .62
    assert Parts(1.0, 1.0).relevance == pytest.approx(1 / (1 + exp(-10.6 * 0.38)))
    assert Parts(0.0, 0.0).relevance < 0.002
    text = "It has many old bridges over the river."
    found = LocalScorer(HashEncoder(256), rarity).judged("paris bridges", [text, text], ["", "Paris"])
    assert [parts.terms for parts in found] == [pytest.approx(0.25), 1.0]  # by their rarity, with those of the title


def test_the_best_sentence_speaks_for_the_text(local: LocalScorer) -> None:
    cheese = "Gouda ripens for twelve months in a cellar."
    whole, alone, other = relevance(local, "capital of France", CAPITAL, "Paris is the capital of France.", cheese)
    assert whole == pytest.approx(alone)
    assert 0 <= other < whole <= 1
    assert all(0 <= value <= 1 for value in relevance(local, "capital of France", "", "x", "Oh. No."))


def test_only_the_three_sentences_or_lines_that_share_most_with_the_question_are_encoded(
    local: LocalScorer,
) -> None:
    table = "\n".join(f"row {number} with some cells in it" for number in range(40)) + "\nParis is named in this row"
    local.judged("Paris", [table])
    assert local.encoder.calls.pop()[0] == "Paris is named in this row"
    paris = [f"Sentence {n} is about Paris." for n in range(3)]
    local.judged("Paris", [" ".join(["Here is some padding.", paris[0], "Here is more padding.", *paris[1:]])])
    assert local.encoder.calls == [paris]


def test_all_texts_are_encoded_in_one_call_a_shared_sentence_once_and_a_known_cosine_never(
    local: LocalScorer,
) -> None:
    assert local.judged("capital", []) == []
    (parts,) = local.judged("capital", ["Paris is the capital of France."], cosines=[0.8])
    assert (parts.sentence, local.encoder.calls) == (0.8, [])
    first, second = local.judged("capital", [CAPITAL, CAPITAL], cosines=[0.6, None])
    assert first == second
    assert [len(call) for call in local.encoder.calls] == [2]


@given(some.text(max_size=40), some.lists(some.text(max_size=200), max_size=4))
def test_relevance_lies_between_0_and_1_and_does_not_depend_on_the_other_texts(question: str, texts: list[str]) -> None:
    local = LocalScorer(HashEncoder(), rarity)
    together = relevance(local, question, *texts)
    assert all(0 <= value <= 1 for value in together)
    assert together == pytest.approx([relevance(local, question, text)[0] for text in texts])


def test_each_hit_gets_a_relevance_to_the_question_asked_and_its_parts(make_hit: Make) -> None:
    scorer = LocalScorer(HashEncoder(256), rarity)
    hits = [make_hit(value=0.9, text="Paris is the capital"), make_hit(value=0.1, text="Cheese")]
    scored = scorer(Query("capital of France", "quite other words"), hits)
    assert scored.others == (
        {"sentence": Score(0.9, UNIT), "terms": Score(0.5, UNIT)},
        {"sentence": Score(0.1, UNIT), "terms": Score(0.0, UNIT)},
    )
    assert values(scored.scores) == [Parts(0.9, 0.5).relevance, Parts(0.1, 0.0).relevance]


# --- the trained judge and cross-encoders -----------------------------------------------------------------------------


class OneLogit:
    """Gives every text the same logit."""

    name = "fixed"

    def read(self, question: str, texts: Sequence[str], titles: Sequence[str] | None = None) -> list[Reading]:
        return [Reading(2.0, 0.0, 0, 0, 0.0) for _ in texts]


def test_the_trained_judges_score_is_the_logistic_of_the_logit(make_hit: Make) -> None:
    scored = TrainedScorer(OneLogit())(ASKED, [make_hit("a"), make_hit("b")])
    assert scored.scores == (Score(pytest.approx(1 / (1 + exp(-(0.482 * 2.0 - 0.911)))), UNIT),) * 2
    assert scored.others == ({"answers": Score(2.0, LOGIT)},) * 2
    assert TrainedScorer(OneLogit())(ASKED, []).scores == ()


@dataclass
class Logits:
    """A cross-encoder whose numbers are given."""

    numbers: Sequence[float]
    scale: Scale = LOGIT
    name: str = "logits"
    seen: list[tuple[str, list[str]]] = field(default_factory=list)

    def __call__(self, question: str, texts: Sequence[str]) -> list[Score]:
        self.seen.append((question, list(texts)))
        return [Score(number, self.scale) for number in self.numbers]


@pytest.mark.parametrize(
    ("numbers", "given_on", "scale", "expected"),
    [
        ([0.0, 2.0, -2.0], LOGIT, UNIT, [0.5, 1 / (1 + exp(-2)), 1 / (1 + exp(2))]),
        ([1e4, -1e4], LOGIT, UNIT, [1.0, 0.0]),
        ([0.9, 0.1], UNIT, UNIT, [0.9, 0.1]),
        ([0.6, -0.99, 1.02], LOGIT, T5, [0.6, -0.99, 1.0]),  # the fine-tuned evaluator's logit is its score
        ([0.75], UNIT, T5, [0.5]),
    ],
)
def test_logits_are_brought_to_the_scale_of_the_recipe(
    make_hit: Make, numbers: list[float], given_on: Scale, scale: Scale, expected: list[float]
) -> None:
    hits = [make_hit(str(n)) for n in range(len(numbers))]
    found = CrossEncoderScorer(Logits(numbers, given_on), scale)(ASKED, hits)
    assert values(found.scores) == pytest.approx(expected)
    assert {score.scale for score in found.scores if score} == {scale}


def test_it_reads_the_searched_words_with_title_and_text(make_hit: Make) -> None:
    model, hits = Logits([0.0, 0.0]), [make_hit("a", title="Towers", text="Built."), make_hit("b", text="Razed.")]
    CrossEncoderScorer(model)(ASKED, hits)
    CrossEncoderScorer(model, query_text="question", titled=False)(ASKED, hits)
    assert model.seen == [
        ("tower builder", ["Towers\nBuilt.", "Razed."]),
        ("Who built the tower?", ["Built.", "Razed."]),
    ]


@pytest.mark.parametrize("error", [ProviderError("is down"), BudgetSpent("is spent")])
def test_a_cross_encoder_that_fails_scores_nothing_and_says_so(make_hit: Make, error: Exception) -> None:
    class Failing(OverlapCrossEncoder):
        def __call__(self, question: str, texts: Sequence[str]) -> list[Score]:
            raise error

    found = CrossEncoderScorer(Failing())(ASKED, [make_hit("a"), make_hit("b")])
    assert (found.scores, found.failed) == ((None, None), (0, 1))
    assert found.notes.degraded == (f"judge: {error}; 2 chunks were not scored",)


# --- what changes scores ----------------------------------------------------------------------------------------------


def test_a_stand_in_for_the_evaluator_is_marked(make_hit: Make) -> None:
    stand_in = StandInForT5(Given({"a": 0.75, "b": None, "c": 0.0}, notes=Notes(("judge: before",))))
    found = stand_in(ASKED, [make_hit(id) for id in "abc"])
    assert (stand_in.scale, found.scores) == (T5, scores(0.5, None, -1.0, scale=T5))
    before, marked = found.notes.degraded
    assert before == "judge: before"
    assert "twice the relevance minus one" in marked
    unreadable = StandInForT5(LLMRelevance(ScriptedModel(lambda system, user: "no idea")))
    assert unreadable(ASKED, [make_hit("a")]).missing == ()


def test_a_calibrated_scorer_gives_probabilities_and_keeps_the_raw_scores(make_hit: Make) -> None:
    def given_scores(query: Query, hits: Sequence[Hit]) -> Scores:
        return Scores(scores(0.8, None), Notes(unreadable=1), ({"terms": Score(0.3, UNIT)},) * 2, failed=())

    given_scores.name, given_scores.scale = "local", UNIT  # type: ignore[attr-defined]
    scorer = CalibratedScorer(given_scores, SHIPPED["local"])  # type: ignore[arg-type]
    scored = scorer(ASKED, [make_hit("a"), make_hit("b")])
    assert scored.scores == (Score(SHIPPED["local"].probability(0.8), PROBABILITY), None)
    assert scored.others == ({"terms": Score(0.3, UNIT), "local": Score(0.8, UNIT)}, {"terms": Score(0.3, UNIT)})
    assert (scored.notes, scored.failed) == (Notes(unreadable=1), ())
    assert (scorer.name, scorer.scale) == ("local, calibrated", PROBABILITY)


def test_a_chunk_is_worth_what_it_is_to_the_part_it_answers_best(make_hit: Make) -> None:
    overlap = CrossEncoderScorer(OverlapCrossEncoder(), query_text="question")
    hits = [make_hit("a", text="It has 12 layers in"), make_hit("b", text="The bank has heads")]
    both = Query("How many layers has it and how many heads has the bank?", "")
    whole, best = values(overlap(both, hits).scores), values(EachPartScorer(overlap)(both, hits).scores)
    assert all(part is not None and one is not None and part > one for part, one in zip(best, whole, strict=True))
    one = Query("How many layers has it?", "")
    assert EachPartScorer(overlap)(one, hits) == overlap(one, hits)


def test_each_part_is_searched_and_the_best_of_each_is_taken_in_turn(make_chunk: Callable[..., Chunk]) -> None:
    def retrieve(query: Query) -> Judged:
        parts = [name for name in ("layers", "heads") if name in query.search]
        return found("lexical", BM25, [(make_chunk(name), 1.0) for name in parts[:1]])

    both = "How many layers has it and how many heads has the bank?"
    for search, expected in ((both, [("layers", 1), ("heads", 2)]), ("layers", [("layers", 1)])):
        kept = EachPartRetriever(retrieve)(Query(both, search)).kept
        assert [(one.chunk.id, one.rank) for one in kept] == expected


POLICY = "§ 7 Rail. Second class.\n\n§ 12 Meals. 36 euros a day.\n\n§ 21 Cars. 32 cents.\n"


@pytest.mark.parametrize(
    ("question", "expected", "read"),
    [
        ("How much is paid under § 12?", 0.6, ["§ 12 Meals. 36 euros a day."]),
        ("How much is paid under § 13?", 0.0, []),
        ("How much is paid for meals?", 0.4, [POLICY.strip()]),
    ],
)
def test_a_hit_is_judged_by_the_entry_under_the_identifier_asked_for_and_by_no_other(
    make_chunk: Callable[..., Chunk], question: str, expected: float, read: list[str]
) -> None:
    seen: list[str] = []

    def of_euros(query: Query, hits: Sequence[Hit]) -> Scores:
        seen.extend(hit.chunk.text.strip() for hit in hits)
        euros = ["euros" in hit.chunk.text for hit in hits]
        answers = tuple({"answers": Score(2.0 if has else -3.0, LOGIT)} for has in euros)
        return Scores(scores(*(0.4 if has else 0.1 for has in euros)), others=answers)

    document = Document("d", "d.md", "Policy", POLICY, "markdown")
    hit = Hit(make_chunk(text=POLICY, document="d"), Score(1.0, UNIT), 1)
    found = EntryScorer(of_euros, lambda ids: {"d": document})(Query(question, question), [hit])  # type: ignore[arg-type]
    assert (values(found.scores), seen) == ([expected], read)


# --- a second opinion where the first is unsure -----------------------------------------------------------------------

LOCAL = {"a": 0.95, "b": 0.6, "c": 0.3, "d": 0.29}


def hits_of(ids: Sequence[str]) -> list[Hit]:
    return [Hit(Chunk(id_, "d", "d.txt", "", 0, 1, id_), Score(0.5, PROBABILITY), 1) for id_ in ids]


WEIGHT = ModelWeight("oracle", 1.0, 2.0, 0.0, 100, 0.2, (0.1, 0.3))


def banded(second: Any, local: Mapping[str, float | None] = LOCAL) -> BandedScorer:
    return BandedScorer(Given(local, name="local", scale=PROBABILITY), second, 0.3, 0.9, WEIGHT)


def test_only_what_lies_between_the_bounds_is_asked_about() -> None:
    second = Given({"b": 0.8, "c": 0.1})
    scored = banded(second)(ASKED, hits_of("abcd"))
    assert second.asked == ["b", "c"]
    assert values(scored.scores) == pytest.approx(
        [0.95, WEIGHT.probability(0.6, 0.8), WEIGHT.probability(0.3, 0.1), 0.29]
    )
    assert {score.scale for score in scored.scores if score} == {PROBABILITY}
    assert scored.notes.facts["unsure"] == 2
    told = [{name: score.value for name, score in others.items()} for others in scored.others]
    assert told[:2] == [{"local": 0.95}, {"local": 0.6, "relevance": 0.8}]
    model = scoring()  # nobody is asked where nothing is unsure
    scored = banded(LLMRelevance(model), {"a": 0.9, "b": None, "d": 0.1})(ASKED, hits_of("abd"))
    assert (model.seen, values(scored.scores), scored.notes.facts["unsure"]) == ([], [0.9, None, 0.1], 0)


def test_a_chunk_that_the_second_gives_no_score_keeps_its_own() -> None:
    assert values(banded(Given({"b": None, "c": None}))(ASKED, hits_of("abcd")).scores) == [0.95, 0.6, 0.3, 0.29]
    unreadable = banded(LLMRelevance(ScriptedModel(lambda system, user: "no idea")))(ASKED, hits_of("ab"))
    assert (values(unreadable.scores), unreadable.notes.unreadable) == ([0.95, 0.6], 2)
    failed = banded(LLMRelevance(failing(ProviderError("out of order", subject="m"))))(ASKED, hits_of("abcd"))
    assert values(failed.scores) == list(LOCAL.values())
    assert failed.notes.degraded == ("judge: m: out of order; 2 chunks were not scored; their local score stands",)
    assert failed.missing == ()


@given(some.lists(some.floats(0, 1), max_size=8), some.lists(some.none() | some.floats(0, 1), min_size=8, max_size=8))
def test_what_is_sure_never_changes(local: list[float], second: list[float | None]) -> None:
    names = [str(at) for at in range(len(local))]
    scorer = banded(Given(dict(zip(names, second, strict=False))), dict(zip(names, local, strict=True)))
    for before, after in zip(local, values(scorer(ASKED, hits_of(names)).scores), strict=True):
        assert after is not None
        if not 0.3 <= before < 0.9:
            assert after == before


def test_a_model_counts_as_measured_and_may_turn_a_verdict() -> None:
    found = values(banded(Given({"b": 0.95, "c": 0.05}))(ASKED, hits_of("abcd")).scores)
    assert found == pytest.approx([0.95, WEIGHT.probability(0.6, 0.95), WEIGHT.probability(0.3, 0.05), 0.29])
    assert (WEIGHT.probability(0.6, 0.95) > 0.9, WEIGHT.probability(0.3, 0.05) < 0.3) == (True, True)
