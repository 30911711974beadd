"""The engine with hand-made parts in its slots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from thresher.answer import Answer
from thresher.deadline import watch
from thresher.errors import BudgetSpent, Degraded
from thresher.models.usage import Meter
from thresher.pipeline import SLOTS, Pipeline, as_is, keep_all, select
from thresher.types import (
    UNIT,
    Correction,
    Decision,
    Evidence,
    Generation,
    Hit,
    Judged,
    Judgement,
    Notes,
    Origin,
    Query,
    Refined,
    Score,
    Step,
    Verdict,
)

Make = Callable[..., Hit]
QUERY = Query("Why so?", "Why so?", 2)


def say(query: Query, evidence: Sequence[Evidence]) -> Generation:
    return Generation(" ".join(piece.hit.chunk.id for piece in evidence), notes=Notes(facts={"reader": "listing"}))


@pytest.fixture
def pipeline(make_hit: Make) -> Callable[..., Pipeline]:
    """Finds a, b, c and drops d; everything else is the do-nothing part unless given."""

    def make(**parts: Any) -> Pipeline:
        found = Judged(
            (
                *(Judgement(make_hit(id, rank=n), keep=True, reason=f"rank {n}") for n, id in enumerate("abc", 1)),
                Judgement(make_hit("d", rank=4), keep=False, reason="below the best 3"),
            )
        )
        return Pipeline("made", **{"retrieve": lambda query: found, "generate": say, "meter": Meter(), **parts})

    return make


@pytest.fixture
def corrective(pipeline: Callable[..., Pipeline], make_hit: Make) -> Callable[..., Pipeline]:
    """Drops c in judging, reaches a verdict, finds w and x outside, drops x in refinement."""

    def judge(query: Query, hits: Sequence[Hit]) -> Judged:
        return Judged(
            tuple(
                Judgement(hit, keep=hit.chunk.id != "c", reason="off topic", score=Score(0.4, UNIT), stood_for=("z",))
                for hit in hits
            )
        )

    def correct(query: Query, decision: Decision) -> Correction:
        return Correction(tuple(Judgement(make_hit(id, origin=Origin.OUTSIDE), keep=True) for id in "wx"))

    def refine(query: Query, hits: Sequence[Hit]) -> Refined:
        judgements = tuple(Judgement(hit, keep=hit.chunk.id != "x", reason="read") for hit in hits)
        evidence = as_is(query, [judgement.hit for judgement in judgements if judgement.keep]).evidence
        return Refined(evidence, judgements)

    def make(verdict: Verdict | None) -> Pipeline:
        return pipeline(judge=judge, decide=lambda *given: Decision(verdict, 0.7), correct=correct, refine=refine)

    return make


# --- the path ---------------------------------------------------------------------------------------------------------


def test_the_steps_come_in_the_order_of_the_slots_and_the_answer_last(pipeline: Callable[..., Pipeline]) -> None:
    *steps, answer = pipeline().run(QUERY)
    assert isinstance(answer, Answer)
    assert all(isinstance(step, Step) for step in steps)
    assert tuple(step.name for step in answer.steps) == SLOTS
    assert tuple(steps) == answer.steps


def test_a_step_is_out_before_the_next_one_begins(pipeline: Callable[..., Pipeline]) -> None:
    begun: list[str] = []

    def generate(query: Query, evidence: Sequence[Evidence]) -> Generation:
        begun.append("generate")
        return Generation("x")

    for step in pipeline(generate=generate).run(QUERY):
        if isinstance(step, Step) and step.name == "refine":
            assert begun == []
    assert begun == ["generate"]


def test_a_step_tells_how_much_went_in_and_came_out(corrective: Callable[..., Pipeline]) -> None:
    counts = [(step.considered, step.kept) for step in corrective(Verdict.AMBIGUOUS).answer(QUERY).steps]
    assert dict(zip(SLOTS[1:7], counts[1:7], strict=True)) == {
        "retrieve": (1, 3),
        "judge": (3, 2),
        "decide": (2, 1),
        "correct": (1, 2),
        "refine": (4, 3),
        "generate": (3, 0),
    }


def test_the_words_of_a_rewriter_are_searched_and_the_question_stays(pipeline: Callable[..., Pipeline]) -> None:
    seen: list[Query] = []

    def retrieve(query: Query) -> Judged:
        seen.append(query)
        return Judged(())

    answer = pipeline(rewrite=lambda query: replace(query, search="cause"), retrieve=retrieve).answer(QUERY)
    assert (seen[0].question, seen[0].search, answer.question) == ("Why so?", "cause", "Why so?")
    assert answer.steps[0].detail == {"question": "Why so?", "search": "cause"}


def test_a_fact_is_told_by_the_step_that_found_it_only(pipeline: Callable[..., Pipeline]) -> None:
    def verify(query: Query, draft: Generation, refined: Refined) -> Generation:
        return replace(draft, notes=draft.notes + Notes(facts={"quotes_checked": 3}))

    details = {step.name: step.detail for step in pipeline(verify=verify).answer(QUERY).steps}
    assert details["generate"]["reader"] == "listing"
    assert details["verify"] == {"quotes_checked": 3}


def test_an_abstention_for_want_of_evidence_says_why_in_the_step_that_abstains(
    pipeline: Callable[..., Pipeline],
) -> None:
    def generate(query: Query, evidence: Sequence[Evidence]) -> Generation:
        return Generation("", abstained=True, reason="There is nothing.")

    parts = {"decide": lambda *given: Decision(Verdict.INCORRECT, reason="the best is below 0.3"), "generate": generate}
    answer = pipeline(**parts, correct=lambda query, decision: Correction(outcome="nothing")).answer(QUERY)
    assert answer.reason == "No answer found in your documents. None was found outside either."
    details = {step.name: step.detail for step in answer.steps}
    assert (details["generate"]["reason"], details["verify"]) == (answer.reason, {})
    assert details["correct"] == {"outcome": "nothing"}
    undecided = pipeline(retrieve=lambda query: Judged(()), generate=generate).answer(QUERY)
    assert undecided.reason == "There is nothing."


def test_an_abstention_names_the_language_of_a_question_that_is_not_english(pipeline: Callable[..., Pipeline]) -> None:
    def foreign(query: Query) -> Query:
        return replace(query, notes=Notes(facts={"language": "German"}))

    def refuse(query: Query, evidence: Sequence[Evidence]) -> Generation:
        return Generation("", abstained=True, reason="Nothing fits.")

    reason = pipeline(rewrite=foreign, generate=refuse).answer(QUERY).reason or ""
    assert reason.startswith("Nothing fits. The question seems to be in German")
    assert pipeline(rewrite=foreign).answer(QUERY).reason is None


# --- verdicts ---------------------------------------------------------------------------------------------------------


def test_a_decider_is_given_the_question(corrective: Callable[..., Pipeline]) -> None:
    def decide(query: Query, judged: Sequence[Judgement]) -> Decision:
        return Decision(Verdict.CORRECT if len(query.question.split()) > 1 else Verdict.AMBIGUOUS)

    asking = replace(corrective(Verdict.CORRECT), decide=decide)
    assert asking.answer(Query("refunds", "refunds")).verdict == Verdict.AMBIGUOUS
    assert asking.answer(QUERY).verdict == Verdict.CORRECT


def test_a_chunk_found_inside_and_outside_is_selected_once(make_hit: Make) -> None:
    chosen = select(Decision(Verdict.AMBIGUOUS), [make_hit("a")], [make_hit("a", origin=Origin.OUTSIDE), make_hit("b")])
    assert [(hit.chunk.id, hit.origin) for hit in chosen] == [("a", Origin.INSIDE), ("b", Origin.INSIDE)]


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        (Verdict.CORRECT, "a b w"),
        (Verdict.AMBIGUOUS, "a b w"),
        (Verdict.UNSURE, "a b w"),
        (Verdict.INCORRECT, "w"),
        (None, "a b"),
    ],
)
def test_the_generator_sees_what_the_verdict_selects(
    corrective: Callable[..., Pipeline], verdict: Verdict | None, text: str
) -> None:
    answer = corrective(verdict).answer(QUERY)
    assert (answer.text, answer.verdict, answer.confidence) == (text, verdict, 0.7)


# --- the fate of every chunk ------------------------------------------------------------------------------------------


def test_a_dropped_chunk_says_which_slot_dropped_it_and_why(corrective: Callable[..., Pipeline]) -> None:
    chunks = corrective(Verdict.AMBIGUOUS).answer(QUERY).chunks
    fates = {fate.hit.chunk.id: (fate.dropped_by, fate.reason) for fate in chunks}
    assert fates == {
        "a": (None, "read"),
        "b": (None, "read"),
        "c": ("judge", "off topic"),
        "d": ("retrieve", "below the best 3"),
        "w": (None, "read"),
        "x": ("refine", "read"),
    }


def test_what_a_verdict_leaves_out_was_dropped_by_the_decision(corrective: Callable[..., Pipeline]) -> None:
    inside = {fate.hit.chunk.id: fate for fate in corrective(Verdict.INCORRECT).answer(QUERY).chunks}
    assert (inside["a"].dropped_by, inside["a"].reason) == ("decide", "the verdict is incorrect")
    assert inside["c"].dropped_by == "judge"
    assert inside["w"].kept
    undecided = {fate.hit.chunk.id: fate for fate in corrective(None).answer(QUERY).chunks}
    assert (undecided["w"].dropped_by, undecided["w"].reason) == ("decide", "the verdict is None")


def test_a_chunk_that_came_back_from_outside_was_not_dropped(pipeline: Callable[..., Pipeline], make_hit: Make) -> None:
    again = Correction((Judgement(make_hit("a", origin=Origin.OUTSIDE), keep=True),))
    answer = pipeline(decide=lambda *given: Decision(Verdict.INCORRECT), correct=lambda query, decision: again).answer(
        QUERY
    )
    fates = {fate.hit.chunk.id: fate.kept for fate in answer.chunks}
    assert (answer.text, fates) == ("a", {"a": True, "b": False, "c": False, "d": False})


def test_a_chunk_has_the_scores_of_all_slots_and_those_it_stands_for(corrective: Callable[..., Pipeline]) -> None:
    first = corrective(Verdict.CORRECT).answer(QUERY).chunks[0]
    assert set(first.hit.scores) == {"dense", "judge"}
    assert first.to_dict()["scores"]["judge"] == {"value": 0.4, "scale": "relevance [0, 1]"}
    assert first.stood_for == ("z",)


# --- doing without ----------------------------------------------------------------------------------------------------


def test_what_is_lacking_is_told_once_whether_known_before_or_met_on_the_way(pipeline: Callable[..., Pipeline]) -> None:
    def generate(query: Query, evidence: Sequence[Evidence]) -> Generation:
        return Generation("x", notes=Notes(("no model", "late")))

    answer = pipeline(generate=generate, degraded=("no model",)).answer(QUERY)
    assert answer.degraded == ("no model", "late")
    assert all("degraded" not in step.detail for step in answer.steps)


def test_strict_refuses_what_is_lacking_before_and_on_the_way(pipeline: Callable[..., Pipeline]) -> None:
    untouched = pipeline(retrieve=lambda query: pytest.fail("was run"), degraded=("generate: no model",))
    with pytest.raises(Degraded, match="generate: no model"):
        untouched.answer(QUERY, strict=True)
    lacking = Judged((), Notes(("rerank: cannot be reached",)))
    with pytest.raises(Degraded, match="rerank: cannot be reached"):
        pipeline(retrieve=lambda query: lacking).answer(QUERY, strict=True)


# --- searching --------------------------------------------------------------------------------------------------------


class Seconds(Meter):
    """A budget that is spent after some questions whether work may go on."""

    def __init__(self, left: int) -> None:
        super().__init__()
        self.left = left

    def allow_time(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise BudgetSpent("the budget of 2 seconds is spent")


@pytest.mark.parametrize("reached", range(7))
def test_a_spent_budget_ends_the_question_with_what_was_reached(
    corrective: Callable[..., Pipeline], reached: int
) -> None:
    answer = replace(corrective(Verdict.AMBIGUOUS), meter=Seconds(reached)).answer(QUERY)
    assert [step.name for step in answer.steps] == list(SLOTS)
    assert answer.abstained
    assert answer.reason == f"There was no time left to answer; reached: {', '.join(SLOTS[:reached]) or 'nothing'}."
    assert answer.degraded == (f"{SLOTS[reached]}: the budget of 2 seconds is spent",)
    assert answer.citations == ()


def test_what_was_written_within_the_budget_is_verified_whatever_the_time(pipeline: Callable[..., Pipeline]) -> None:
    def checked(query: Query, draft: Generation, refined: Refined) -> Generation:
        return replace(draft, text=f"{draft.text}, checked")

    answer = pipeline(meter=Seconds(7), verify=checked).answer(QUERY)
    assert (answer.text, answer.abstained, answer.degraded) == ("a b c, checked", False, ())


def test_a_slot_is_ended_between_two_pieces_of_its_work(pipeline: Callable[..., Pipeline]) -> None:
    begun: list[str] = []

    def slow(query: Query, hits: Sequence[Hit]) -> Judged:
        allow = watch()
        for hit in hits:
            allow()
            begun.append(hit.chunk.id)
        return keep_all(query, hits)

    answer = pipeline(meter=Seconds(5), judge=slow).answer(QUERY)
    assert begun == ["a", "b"]
    assert answer.degraded == ("judge: the budget of 2 seconds is spent",)
    assert [(fate.kept, fate.dropped_by) for fate in answer.chunks] == [(False, "judge")] * 3 + [(False, "retrieve")]
    with pytest.raises(Degraded, match="judge: the budget of 2 seconds is spent"):
        pipeline(meter=Seconds(2)).answer(QUERY, strict=True)


def test_a_search_stops_before_it_would_go_outside_or_answer(pipeline: Callable[..., Pipeline]) -> None:
    def forbidden(*arguments: object) -> Any:
        pytest.fail("was called")

    parts = dict.fromkeys(("decide", "correct", "refine", "generate", "verify"), forbidden)
    found = pipeline(**parts).search(QUERY)
    assert [(hit.chunk.id, hit.rank) for hit in found.hits] == [("a", 1), ("b", 2)]


def test_a_search_does_not_lack_what_only_an_answer_needs(pipeline: Callable[..., Pipeline]) -> None:
    lacking = pipeline(degraded=("rerank: none", "generate: no model"))
    assert lacking.search(QUERY).degraded == ("rerank: none",)
    with pytest.raises(Degraded):
        lacking.search(QUERY, strict=True)
    assert pipeline(degraded=("generate: no model",)).search(QUERY, strict=True).degraded == ()
