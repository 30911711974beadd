from __future__ import annotations

from collections.abc import Sequence

import pytest

from thresher.errors import UsageError
from thresher.judging.kdm import KDM
from thresher.judging.verdicts import (
    INSTEAD,
    Actions,
    Bounds,
    Calibrated,
    RestrictedDecider,
    Routing,
    Survivors,
    ThreeWay,
    in_light_of_question,
)
from thresher.pipeline import always_correct
from thresher.protocols import Decider
from thresher.types import COSINE, PROBABILITY, UNIT, Chunk, Decision, Hit, Judgement, Query, Scale, Score, Verdict

BLOG = Bounds(0.3, 0.7)
ROUTING = Bounds(0.3, 0.5, "code", KDM)
CALIBRATED = Calibrated(0.2, 0.8, separated=True)


def judged(*values: float | None, scale: Scale = UNIT, name: str = "relevance") -> list[Judgement]:
    found = []
    for n, value in enumerate(values):
        score = None if value is None else Score(value, scale)
        scores = {} if score is None else {name: score}
        chunk = Chunk(f"c{n}", "d", "d.txt", "", 0, 1, "x")
        found.append(Judgement(Hit(chunk, Score(0.5, COSINE), n + 1, scores=scores), n % 2 == 0, score=score))
    return found


@pytest.mark.parametrize("decide", [ThreeWay(BLOG), Routing(ROUTING, "absolute confidence"), CALIBRATED, Survivors()])
def test_an_empty_retrieval_is_incorrect(decide: Decider) -> None:
    decision = decide([])
    assert (decision.verdict, decision.confidence) == (Verdict.INCORRECT, None)
    assert decision.reason == "nothing was retrieved"


@pytest.mark.parametrize("decide", [ThreeWay(BLOG), Routing(ROUTING, "absolute confidence"), CALIBRATED])
def test_without_any_score_one_cannot_tell(decide: Decider) -> None:
    decision = decide(judged(None, None))
    assert (decision.verdict, decision.confidence) == (Verdict.AMBIGUOUS, None)
    assert decision.reason.startswith("cannot tell: none of 2 chunks")
    assert decision.notes.facts["unscored"] == 2


@pytest.mark.parametrize(
    ("values", "verdict", "reason"),
    [
        ((0.1, 0.82), Verdict.CORRECT, "best relevance 0.82 is above 0.7"),
        ((0.7, 0.1), Verdict.AMBIGUOUS, "best relevance 0.7 is between 0.3 and 0.7"),
        ((0.3, 0.1), Verdict.INCORRECT, "best relevance 0.3 is not above 0.3"),
    ],
)
def test_three_verdicts_by_two_bounds(values: Sequence[float], verdict: Verdict, reason: str) -> None:
    decision = ThreeWay(BLOG)(judged(*values))
    assert (decision.verdict, decision.reason) == (verdict, reason)
    assert decision.confidence is None


def test_the_reason_follows_the_reading_of_the_bounds() -> None:
    assert ThreeWay(Bounds(0.3, 0.7, "code"))(judged(0.7)).reason == "best relevance 0.7 reaches 0.7"
    assert ThreeWay(Bounds(0.3, 0.7, "paper"))(judged(0.2)).reason == "best relevance 0.2 is below 0.3"


def test_a_hit_without_a_score_counts_neither_way() -> None:
    decide = ThreeWay(BLOG)
    assert decide(judged(None, 0.9)).verdict == Verdict.CORRECT
    assert decide(judged(None, 0.1)).verdict == Verdict.INCORRECT
    assert decide(judged(None, 0.1)).notes.facts["unscored"] == 1


def test_dropped_hits_count_for_the_verdict_as_kept_ones_do() -> None:
    assert ThreeWay(BLOG)(judged(0.1, 0.5)).verdict == Verdict.AMBIGUOUS  # the second one was dropped


@pytest.mark.parametrize(
    ("best", "verdict"),
    [
        (0.5, Verdict.CORRECT),
        (0.4999, Verdict.AMBIGUOUS),
        (0.3, Verdict.AMBIGUOUS),
        (0.2999, Verdict.INCORRECT),
    ],
)
def test_routing_is_internal_from_the_upper_bound_and_external_below_the_lower_one(
    best: float, verdict: Verdict
) -> None:
    decide = Routing(ROUTING, "absolute confidence")
    assert decide(judged(0.0, best, scale=KDM, name="absolute confidence")).verdict == verdict


def test_routing_looks_at_the_score_it_was_told_to() -> None:
    assert Routing(ROUTING, "absolute confidence")(judged(0.9, scale=KDM)).verdict == Verdict.AMBIGUOUS


@pytest.mark.parametrize(
    ("best", "separated", "verdict"),
    [
        (0.8, True, Verdict.CORRECT),
        (0.8, False, Verdict.CORRECT),
        (0.79, True, Verdict.AMBIGUOUS),
        (0.79, False, Verdict.UNSURE),
        (0.2, True, Verdict.AMBIGUOUS),
        (0.2, False, Verdict.UNSURE),
        (0.19, False, Verdict.INCORRECT),
    ],
)
def test_a_calibrated_verdict_may_be_that_one_cannot_tell(best: float, separated: bool, verdict: Verdict) -> None:
    decision = Calibrated(0.2, 0.8, separated)(judged(0.05, best, None, scale=PROBABILITY))
    assert (decision.verdict, decision.confidence) == (verdict, best)
    assert f"best probability {best:.3g}" in decision.reason


def test_what_survived_the_judge_may_decide() -> None:
    first, second, third = judged(0.1, 0.2, 0.9)
    some, none = Survivors()([first, second, third]), Survivors()([second])
    assert (some.verdict, some.reason) == (Verdict.CORRECT, "2 of 3 chunks stayed")
    assert (none.verdict, none.reason) == (Verdict.INCORRECT, "none of 1 chunks stayed")


def test_the_trace_tells_which_calibration_was_used() -> None:
    told = Calibrated(0.2, 0.8, separated=True, mapping="of this collection")(
        judged(0.9, scale=PROBABILITY)
    ).notes.facts
    assert told == {"best": 0.9, "lower": 0.2, "upper": 0.8, "unscored": 0, "mapping": "of this collection"}


@pytest.mark.parametrize(("lower", "upper"), [(0.8, 0.2), (-0.1, 0.5), (0.5, 1.5)])
def test_bounds_that_are_no_probabilities_in_order_are_refused(lower: float, upper: float) -> None:
    with pytest.raises(UsageError, match="probabilities"):
        Calibrated(lower, upper, separated=True)


# --- verdicts taken away ----------------------------------------------------------------------------------------------

THREE = {Verdict.CORRECT: 0.9, Verdict.AMBIGUOUS: 0.5, Verdict.INCORRECT: 0.1}


@pytest.mark.parametrize("actions", INSTEAD)
@pytest.mark.parametrize("verdict", THREE)
def test_a_verdict_is_replaced_as_the_actions_say_and_keeps_its_reason(actions: Actions, verdict: Verdict) -> None:
    scores = judged(0.05, THREE[verdict])
    usual, decision = ThreeWay(BLOG)(scores), RestrictedDecider(ThreeWay(BLOG), actions)(scores)
    assert decision.verdict == INSTEAD[actions].get(verdict, verdict)
    assert decision.reason.startswith(usual.reason)
    assert (decision == usual) == (decision.verdict == verdict)
    assert decision.notes.facts == usual.notes.facts


def test_an_empty_retrieval_is_no_longer_incorrect_where_that_verdict_is_taken_away() -> None:
    assert RestrictedDecider(ThreeWay(BLOG), "without-incorrect")([]).verdict == Verdict.AMBIGUOUS
    assert RestrictedDecider(ThreeWay(BLOG), "all")([]).verdict == Verdict.INCORRECT


def test_a_decider_without_a_verdict_has_none_to_take_away() -> None:
    assert RestrictedDecider(always_correct, "only-incorrect")(judged(0.9)).verdict is None


# --- in the light of the question -------------------------------------------------------------------------------------


def settled(question: str, verdict: Verdict | None) -> Decision:
    return in_light_of_question(Query(question, question), Decision(verdict, 0.9, "best relevance 0.9 is above 0.7"))


def test_one_word_is_at_most_ambiguous() -> None:
    decision = settled("refunds", Verdict.CORRECT)
    assert (decision.verdict, decision.confidence) == (Verdict.AMBIGUOUS, 0.9)
    assert decision.reason == "best relevance 0.9 is above 0.7, and one word is no question"


@pytest.mark.parametrize("verdict", [None, Verdict.AMBIGUOUS, Verdict.UNSURE, Verdict.INCORRECT])
def test_a_verdict_that_is_not_correct_stays_for_one_word_too(verdict: Verdict | None) -> None:
    assert settled("refunds", verdict).verdict is verdict


@pytest.mark.parametrize("verdict", [None, *Verdict])
def test_any_verdict_on_a_question_of_several_words_stays(verdict: Verdict | None) -> None:
    assert settled("When are refunds paid?", verdict).verdict is verdict
