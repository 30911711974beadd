"""The verdict on judged hits, and the bounds that give it, printed or learned."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.judging.scoring import ASKED, scores
from thresher.errors import UsageError
from thresher.judging.calibration import SHIPPED
from thresher.judging.verdicts import ABSOLUTE, Bounds, Calibrated, Operators, ThreeWay
from thresher.pipeline import always_correct
from thresher.protocols import Decider
from thresher.recipes.judges import ConfidentDecider, best_score, bounded, learned_bounds
from thresher.types import (
    COSINE,
    PROBABILITY,
    T5,
    UNIT,
    Chunk,
    Hit,
    Judgement,
    Query,
    Scale,
    Score,
    Verdict,
)
from thresher_methods.actions import INSTEAD, RestrictedDecider
from thresher_methods.confidence import KDM, Survivors
from thresher_methods.settings import Actions

BLOG = Bounds(0.3, 0.7)
ROUTING = ThreeWay(Bounds(0.3, 0.5, "code", KDM), ABSOLUTE)
CALIBRATED = Calibrated(0.2, 0.8, separated=True)
QUERY = Query("When are refunds paid?", "refunds")


def judged(*values: float | None, scale: Scale = UNIT, name: str = "relevance") -> list[Judgement]:
    found = []
    for n, value in enumerate(values):
        score = None if value is None else Score(value, scale)
        given = {} if score is None else {name: score}
        chunk = Chunk(f"c{n}", "d", "d.txt", "", 0, 1, "x")
        found.append(Judgement(Hit(chunk, Score(0.5, COSINE), n + 1, scores=given), n % 2 == 0, score=score))
    return found


# --- bounds -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operators", "at_upper", "at_lower"),
    [
        ("blog", Verdict.AMBIGUOUS, Verdict.INCORRECT),
        ("paper", Verdict.AMBIGUOUS, Verdict.AMBIGUOUS),
        ("code", Verdict.CORRECT, Verdict.AMBIGUOUS),
    ],
)
def test_exactly_seven_and_three_tenths_under_each_reading_off_which_all_agree(
    operators: Operators, at_upper: Verdict, at_lower: Verdict
) -> None:
    bounds = Bounds(0.3, 0.7, operators)
    for values, verdict in (
        ([0.7, 0.1], at_upper),
        ([0.3, 0.1], at_lower),
        ([0.71, 0.0], Verdict.CORRECT),
        ([0.0, 0.69, 0.1], Verdict.AMBIGUOUS),
        ([0.31, 0.0], Verdict.AMBIGUOUS),
        ([0.29, 0.0], Verdict.INCORRECT),
        ([], Verdict.INCORRECT),
    ):
        assert bounds.verdict([Score(value, UNIT) for value in values]) == verdict
    for value in (0.29, 0.3, 0.31):  # the threshold of a judge keeps what the bounds keep
        assert bounds.threshold(ASKED, scores(value)).keep == (bounds.keeps(Score(value, UNIT)),)


@pytest.mark.parametrize(("lower", "upper"), [(0.7, 0.3), (0.5, 0.5), (-0.1, 0.7), (0.3, 1.1)])
def test_bounds_out_of_order_or_off_their_scale_are_refused(lower: float, upper: float) -> None:
    with pytest.raises(UsageError, match="relevance"):
        Bounds(lower, upper)
    if lower != upper:
        with pytest.raises(UsageError, match="probabilities"):
            Calibrated(lower, upper, separated=True)


def test_scores_of_another_range_are_refused() -> None:
    for score in (Score(-0.5, T5), Score(0.5, COSINE)):
        with pytest.raises(UsageError, match=f"the score is on {re.escape(str(score.scale))}"):
            Bounds(0.3, 0.7).verdict([score])
    assert Bounds(0.3, 0.7).verdict([Score(0.8, PROBABILITY)]) == Verdict.CORRECT
    assert Bounds(-0.99, 0.59, "paper", T5).verdict([Score(-0.985, T5)]) == Verdict.AMBIGUOUS


# --- verdicts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decide", [ThreeWay(BLOG), ROUTING, CALIBRATED, Survivors()])
def test_an_empty_retrieval_is_incorrect_and_without_any_score_one_cannot_tell(decide: Decider) -> None:
    decision = decide(QUERY, [])
    assert (decision.verdict, decision.confidence) == (Verdict.INCORRECT, None)
    assert decision.reason == "nothing was retrieved"
    if decide != Survivors():
        decision = decide(QUERY, judged(None, None))
        assert (decision.verdict, decision.confidence) == (Verdict.AMBIGUOUS, None)
        assert decision.reason.startswith("cannot tell: none of 2 chunks")
        assert decision.notes.facts["unscored"] == 2


@pytest.mark.parametrize(
    ("operators", "values", "verdict", "reason"),
    [
        ("blog", (0.1, 0.82), Verdict.CORRECT, "best relevance 0.82 is above 0.7"),
        ("blog", (0.7, 0.1), Verdict.AMBIGUOUS, "best relevance 0.7 is between 0.3 and 0.7"),
        ("blog", (0.3, 0.1), Verdict.INCORRECT, "best relevance 0.3 is not above 0.3"),
        ("code", (0.7,), Verdict.CORRECT, "best relevance 0.7 reaches 0.7"),
        ("paper", (0.2,), Verdict.INCORRECT, "best relevance 0.2 is below 0.3"),
        ("blog", (None, 0.9), Verdict.CORRECT, "best relevance 0.9 is above 0.7"),  # dropped hits count too
    ],
)
def test_three_verdicts_by_two_bounds(
    operators: Operators, values: Sequence[float | None], verdict: Verdict, reason: str
) -> None:
    decision = ThreeWay(Bounds(0.3, 0.7, operators))(QUERY, judged(*values))
    assert (decision.verdict, decision.reason, decision.confidence) == (verdict, reason, None)
    assert decision.notes.facts["unscored"] == values.count(None)


def test_routing_is_internal_from_the_upper_bound_and_external_below_the_lower_one() -> None:
    verdicts = {0.5: "correct", 0.4999: "ambiguous", 0.3: "ambiguous", 0.2999: "incorrect"}
    assert {best: ROUTING(QUERY, judged(0.0, best, scale=KDM, name=ABSOLUTE)).verdict for best in verdicts} == verdicts
    assert ROUTING(QUERY, judged(0.9, scale=KDM)).verdict == Verdict.AMBIGUOUS  # another score is not looked at


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
    decision = Calibrated(0.2, 0.8, separated, mapping="here")(QUERY, judged(0.05, best, None, scale=PROBABILITY))
    assert (decision.verdict, decision.confidence) == (verdict, best)
    assert f"best probability {best:.3g}" in decision.reason
    assert decision.notes.facts == {"best": best, "lower": 0.2, "upper": 0.8, "unscored": 1, "mapping": "here"}


def test_what_survived_the_judge_may_decide() -> None:
    first, second, third = judged(0.1, 0.2, 0.9)
    some, none = Survivors()(QUERY, [first, second, third]), Survivors()(QUERY, [second])
    assert (some.verdict, some.reason) == (Verdict.CORRECT, "2 of 3 chunks stayed")
    assert (none.verdict, none.reason) == (Verdict.INCORRECT, "none of 1 chunks stayed")


@pytest.mark.parametrize("actions", INSTEAD)
@pytest.mark.parametrize(
    ("verdict", "best"), [(Verdict.CORRECT, 0.9), (Verdict.AMBIGUOUS, 0.5), (Verdict.INCORRECT, 0.1)]
)
def test_a_verdict_is_replaced_as_the_actions_say_and_keeps_its_reason(
    actions: Actions, verdict: Verdict, best: float
) -> None:
    usual = ThreeWay(BLOG)(QUERY, judged(best))
    decision = RestrictedDecider(ThreeWay(BLOG), actions)(QUERY, judged(best))
    assert decision.verdict == INSTEAD[actions].get(verdict, verdict)
    assert decision.reason.startswith(usual.reason)
    assert (decision == usual) == (decision.verdict == verdict)


def test_an_empty_retrieval_is_not_incorrect_where_that_verdict_is_taken_away_and_none_is_left_alone() -> None:
    assert RestrictedDecider(ThreeWay(BLOG), "without-incorrect")(QUERY, []).verdict == Verdict.AMBIGUOUS
    assert RestrictedDecider(always_correct, "only-incorrect")(QUERY, judged(0.9)).verdict is None


@pytest.mark.parametrize("best", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("question", ["refunds", "When are refunds paid?"])
def test_a_question_of_one_word_is_at_most_ambiguous(question: str, best: float) -> None:
    usual = CALIBRATED(QUERY, judged(best, scale=PROBABILITY))
    decision = CALIBRATED(Query(question, question), judged(best, scale=PROBABILITY))
    if question == "refunds" and usual.verdict is Verdict.CORRECT:
        assert (decision.verdict, decision.confidence) == (Verdict.AMBIGUOUS, 0.9)
        assert decision.reason == f"{usual.reason}, and one word is no question"
    else:
        assert decision == usual


# --- learned bounds ---------------------------------------------------------------------------------------------------

LEARNED = replace(SHIPPED["local"], parameters=((2.0, -1.0),), lower=0.2, upper=0.7)


def test_learned_bounds_lie_on_the_scale_of_the_recipe_and_are_in_order() -> None:
    unit, t5 = learned_bounds(LEARNED, UNIT), learned_bounds(LEARNED, T5)
    assert unit is not None
    assert t5 == pytest.approx([2 * value - 1 for value in unit])
    assert 0 < unit[0] < unit[1] < 1
    for both in (0.0, 0.4, 1.0):
        for scale in (UNIT, T5):
            found = learned_bounds(replace(LEARNED, lower=both, upper=both), scale)
            assert found is not None
            Bounds(*found, scale=scale)
    assert learned_bounds(replace(LEARNED, parameters=((-0.5, 0.1),)), UNIT) is None  # better scores are worth less


def test_the_verdict_is_the_recipes_and_the_confidence_the_calibrations() -> None:
    decide = RestrictedDecider(ThreeWay(BLOG), "all")
    decision = ConfidentDecider(decide, LEARNED, "this collection's")(QUERY, judged(0.2, 0.8))
    assert (decision.verdict, decision.confidence) == (Verdict.CORRECT, LEARNED.probability(0.8))
    assert decision.notes.facts["mapping"] == "this collection's"
    assert ConfidentDecider(decide, LEARNED, "")(QUERY, []).confidence is None
    assert bounded(decide) == ThreeWay(BLOG)
    assert bounded(Survivors()) is None
    assert best_score(ThreeWay(Bounds(-0.99, 0.59, "paper", T5)), judged(-0.5, 0.5, scale=T5)) == 0.75
