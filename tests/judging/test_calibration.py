from __future__ import annotations

import json
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.errors import UsageError
from thresher.judging.calibration import (
    FALSE_POSITIVE_COST,
    SHIPPED,
    CalibratedScorer,
    Calibration,
    auroc,
    calibration_error,
    decision_bounds,
    fit,
    usual,
)
from thresher.judging.synthetic_questions import gather, gather_labelled
from thresher.types import PROBABILITY, UNIT, Chunk, Hit, Notes, Query, Scale, Score, Scores
from thresher_evals.questions.synthetic import put_together, synthetic_questions

HALF = np.arange(200) < 100


def fitted(positives: Sequence[float], negatives: Sequence[float], **more: object) -> Calibration:
    return fit(positives, negatives, judge="judge", encoder="encoder", source="labels", **more)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def overlapping() -> Calibration:
    """Raw scores whose log odds are 1 and -1 on average, with a spread of 1.5: the curve is known."""
    generator = np.random.default_rng(7)
    raw = 1 / (1 + np.exp(-generator.normal(np.repeat([1.0, -1.0], 600), 1.5)))
    return fitted(raw[:600], raw[600:])


# --- measures ---------------------------------------------------------------------------------------------------------


def test_auroc_counts_the_pairs_in_the_right_order_and_half_of_the_ties() -> None:
    scores = np.array([0.9, 0.5, 0.5, 0.1])
    assert auroc(scores, np.array([True, True, False, False])) == pytest.approx(3.5 / 4)


@given(st.lists(st.floats(0, 1), min_size=4, max_size=40))
def test_auroc_is_the_share_of_pairs_whatever_the_scores(values: list[float]) -> None:
    scores, answerable = np.array(values), np.arange(len(values)) % 2 == 0
    pairs = [(high > low) + (high == low) / 2 for high in scores[answerable] for low in scores[~answerable]]
    assert auroc(scores, answerable) == pytest.approx(np.mean(pairs))


def test_the_calibration_error_weighs_each_bin_by_its_questions() -> None:
    probabilities = np.array([0.15, 0.15, 0.95, 1.0])
    answerable = np.array([True, False, True, True])
    assert calibration_error(probabilities, answerable) == pytest.approx((2 * 0.35 + 2 * 0.025) / 4)


def test_a_perfect_forecast_has_no_calibration_error() -> None:
    assert calibration_error(np.repeat([0.75], 4), np.array([True, True, True, False])) == 0


# --- bounds -----------------------------------------------------------------------------------------------------------


def test_the_lower_bound_loses_one_in_ten_and_the_upper_one_costs_least() -> None:
    probabilities = np.arange(120) / 120
    answerable = np.array([False] * 40 + [True] * 5 + [False] * 5 + [False, True, False] * 10 + [True] * 40)
    lower, upper = decision_bounds(probabilities, answerable)
    assert (lower, upper) == (pytest.approx(50.5 / 120), pytest.approx(79.5 / 120))
    assert answerable[probabilities < lower].mean() == pytest.approx(5 / 51)
    misled = [np.sum((probabilities >= bound) & ~answerable) for bound in probabilities]
    needless = [np.sum((probabilities < bound) & answerable) for bound in probabilities]
    costs = FALSE_POSITIVE_COST * np.array(misled) + np.array(needless)
    assert costs[np.searchsorted(probabilities, upper)] == costs.min()


def test_where_no_bound_keeps_nine_in_ten_out_nothing_is_incorrect() -> None:
    probabilities = np.arange(200) / 200
    assert decision_bounds(probabilities, np.arange(200) % 2 == 0)[0] == 0.0


def test_a_few_lucky_questions_at_the_beginning_draw_no_bound() -> None:
    answerable = np.concatenate([np.zeros(7, bool), np.arange(190) % 2 == 0])
    assert decision_bounds(np.arange(197) / 200, answerable)[0] == 0.0


def test_a_judge_that_separates_cleanly_leaves_no_band_between_the_bounds() -> None:
    probabilities = np.concatenate([np.linspace(0.8, 0.9, 100), np.linspace(0.1, 0.2, 100)])
    lower, upper = decision_bounds(probabilities, HALF)
    assert lower == upper == pytest.approx(0.5)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60))
def test_bounds_are_in_order_whatever_the_questions(pairs: list[tuple[float, bool]]) -> None:
    lower, upper = decision_bounds(np.array([p for p, _ in pairs]), np.array([right for _, right in pairs]))
    assert 0 <= lower <= upper <= 1


# --- fitting ----------------------------------------------------------------------------------------------------------


def test_a_known_curve_is_found_again(overlapping: Calibration) -> None:
    ((slope, intercept),) = overlapping.parameters
    assert slope == pytest.approx(2 / 1.5**2, abs=0.1)  # two normal distributions 2 apart: slope is 2 over the variance
    assert intercept == pytest.approx(0, abs=0.1)
    assert overlapping.probability(0.5) == pytest.approx(0.5, abs=0.03)
    assert overlapping.method == "logistic"


def test_the_report_holds_what_was_measured(overlapping: Calibration) -> None:
    low, high = overlapping.auroc_interval
    assert low < overlapping.auroc < high
    assert overlapping.auroc == pytest.approx(0.827, abs=0.025)  # normal distribution of 2 / (1.5 * sqrt 2)
    assert overlapping.ece < 0.05
    assert (overlapping.n_positive, overlapping.n_negative, overlapping.source) == (600, 600, "labels")
    assert overlapping.lower_interval[0] <= overlapping.lower <= overlapping.lower_interval[1]
    assert overlapping.upper_interval[0] <= overlapping.upper <= overlapping.upper_interval[1]


@pytest.mark.parametrize(("distance", "separated"), [(0.4, True), (0.05, False)])
def test_a_judge_is_said_to_separate_when_its_auroc_is_surely_above_the_limit(distance: float, separated: bool) -> None:
    generator = np.random.default_rng(1)
    high, low = (np.clip(generator.normal(0.5 + sign * distance / 2, 0.15, 80), 0, 1) for sign in (1, -1))
    assert fitted(high.tolist(), low.tolist()).separated is separated


def test_a_judge_that_gives_every_question_the_same_score_knows_nothing() -> None:
    calibration = fitted([0.5] * 30, [0.5] * 30)
    assert calibration.probability(0.5) == pytest.approx(0.5)
    assert (calibration.auroc, calibration.separated) == (0.5, False)
    assert (calibration.lower, calibration.upper) == (0.0, 1.0)


def test_a_perfect_judge_is_never_given_certainty() -> None:
    calibration = fitted([1.0] * 30, [0.0] * 30)
    assert 0.9 < calibration.probability(1.0) < 1
    assert 0 < calibration.probability(0.0) < 0.1


def test_a_free_curve_is_taken_where_a_logistic_one_cannot_follow() -> None:
    generator = np.random.default_rng(3)
    raw = generator.random(3000)
    share = np.where(raw < 0.3, 0.02, np.where(raw < 0.7, 0.5, 0.52))
    answerable = generator.random(3000) < share
    calibration = fitted(raw[answerable].tolist(), raw[~answerable].tolist())
    assert calibration.method == "isotonic"
    assert calibration.probability(0.15) == pytest.approx(0.02, abs=0.03)
    assert calibration.probability(0.5) == pytest.approx(0.5, abs=0.06)


@given(st.floats(-20, 20), st.floats(-20, 20), st.lists(st.floats(0, 1), max_size=9))
def test_probabilities_are_probabilities_in_one_direction(slope: float, intercept: float, raw: list[float]) -> None:
    calibration = replace(SHIPPED["local"], parameters=((slope, intercept),))
    found = [calibration.probability(value) for value in sorted(raw)]
    assert all(0 <= value <= 1 for value in found)
    assert found == sorted(found, reverse=slope < 0)


def test_the_same_scores_give_the_same_calibration() -> None:
    positives, negatives = [0.4, 0.6, 0.8, 0.9] * 6, [0.1, 0.3, 0.5, 0.7] * 6
    assert fitted(positives, negatives) == fitted(positives, negatives)
    assert fitted(positives, negatives, seed=1) != fitted(positives, negatives, seed=2)


def test_made_questions_for_the_shipped_judge_draw_its_curve_halfway() -> None:
    positives, negatives = [0.6, 0.8, 0.9] * 10, [0.1, 0.3, 0.7] * 10
    source = "questions made of the collection"
    (alone,) = fit(positives, negatives, judge="local", encoder="another", source=source).parameters
    elsewhere = usual("local", SHIPPED["local"].encoder)
    (drawn,) = fit(positives, negatives, judge="local", encoder="", source=source, elsewhere=elsewhere).parameters
    assert usual("local", "another") is None
    (shipped,) = SHIPPED["local"].parameters
    assert drawn == pytest.approx([(a + b) / 2 for a, b in zip(alone, shipped, strict=True)])


def test_too_few_questions_are_refused() -> None:
    with pytest.raises(UsageError, match="19 answerable and 20 unanswerable"):
        fitted([0.5] * 19, [0.5] * 20)


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_a_score_off_the_scale_is_refused(value: float) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        fitted([*[0.5] * 20, value], [0.5] * 20)


# --- keeping ----------------------------------------------------------------------------------------------------------


def test_a_calibration_survives_json(overlapping: Calibration) -> None:
    for calibration in (overlapping, SHIPPED["local"]):
        assert Calibration.from_dict(json.loads(json.dumps(calibration.to_dict()))) == calibration


@pytest.mark.parametrize("broken", [{"method": "magic"}, {"parameters": 3}, {"auroc_interval": [1]}])
def test_a_damaged_calibration_is_refused(broken: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Calibration.from_dict({**SHIPPED["local"].to_dict(), **broken})
    with pytest.raises(UsageError, match="calibrate"):
        Calibration.from_dict({})


# --- scoring ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Given:
    scores: tuple[Score | None, ...]
    name: str = "local"
    scale: Scale = UNIT

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
        return Scores(self.scores, Notes(unreadable=1), ({"terms": Score(0.3, UNIT)},) * len(hits), failed=())


def test_a_calibrated_scorer_gives_probabilities_and_keeps_the_raw_scores(make_hit: Callable[..., Hit]) -> None:
    scorer = CalibratedScorer(Given((Score(0.8, UNIT), None)), SHIPPED["local"])
    scored = scorer(Query("?", "?"), [make_hit("a"), make_hit("b")])
    assert scored.scores == (Score(SHIPPED["local"].probability(0.8), PROBABILITY), None)
    assert scored.others == (
        {"terms": Score(0.3, UNIT), "local": Score(0.8, UNIT)},
        {"terms": Score(0.3, UNIT)},
    )
    assert (scored.notes, scored.failed) == (Notes(unreadable=1), ())
    assert (scorer.name, scorer.scale) == ("local, calibrated", PROBABILITY)


# --- questions made of the collection ---------------------------------------------------------------------------------

BUILT = "The Kopu lighthouse was built by Hansa Tallinn in 1531 and has 40 lamps for passing ships."


@pytest.fixture
def chunks(make_chunk: Callable[..., Chunk]) -> list[Chunk]:
    texts = {
        "lamps": BUILT,
        "copy": f"A quotation follows here. {BUILT}",
        "other": "The lighthouse keeps a lamp that burns all the night.",
    }
    return [make_chunk(id, text, document=id, title="Kopu") for id, text in texts.items()]


def made(chunks: Sequence[Chunk], number: int = 5, seed: int = 0) -> list[tuple[str, str, tuple[str, ...]]]:
    questions = synthetic_questions(chunks, number=number, seed=seed)
    return [(one.question, one.document_id, one.answered_by) for one in questions]


def test_a_question_is_whole_and_brief_and_leaves_its_answer_out(chunks: list[Chunk]) -> None:
    assert {question for question, _, _ in made(chunks[:1])} == {
        "When was the Kopu lighthouse built?",
        "Who built the Kopu lighthouse?",
        "How many lamps does the Kopu lighthouse have?",
    }


def test_every_document_that_holds_subject_and_answer_answers(chunks: list[Chunk]) -> None:
    found = made(chunks)
    assert {document for _, document, _ in found} == {"lamps", "copy"}
    assert all(set(answered_by) == {"lamps", "copy"} for _, _, answered_by in found)


def test_documents_take_turns_and_the_number_is_kept(make_chunk: Callable[..., Chunk]) -> None:
    many = [
        make_chunk(f"{document}{n}", f"Pier {n} of {document} has {n * 7} cranes.", document=document, start=99 * n)
        for document in ("Ava", "Bor", "Cif")
        for n in range(3, 9)
    ]
    assert sorted(document for _, document, _ in made(many, number=3)) == ["Ava", "Bor", "Cif"]
    assert len(made(many, number=5)) == 5


def test_questions_depend_on_the_seed_and_not_on_the_order_of_the_chunks(chunks: list[Chunk]) -> None:
    def asked(found: Sequence[Chunk], seed: int) -> list[str]:
        return [question for question, _, _ in made(found, seed=seed)]

    assert asked(chunks, 4) == asked(chunks[::-1], 4)
    assert len({tuple(asked(chunks, seed)) for seed in range(8)}) > 1


def test_a_document_is_put_together_of_chunks_that_overlap_and_its_table_of_those_that_follow_each_other(
    make_chunk: Callable[..., Chunk],
) -> None:
    text = f"{BUILT}\n\n| Part | Price |\n| lamp | 40 |\n| bell | 70 |\n\nThe end of it."
    table, middle = text.index("| Part"), text.index("| bell")
    cuts = [(0, 60, "text"), (40, table, "text"), (table, middle, "table"), (middle, len(text) - 16, "table")]
    chunks = [
        make_chunk(f"c{start}", text[start:end].rstrip("\n"), start=start, kind=kind) for start, end, kind in cuts
    ]
    document = put_together(chunks[::-1])
    assert document.text == text[: text.index("\n\nThe end")]
    (one,) = document.tables
    assert [document.text[slice(*row)] for row in one.rows] == ["| Part | Price |", "| lamp | 40 |", "| bell | 70 |"]


def test_each_made_question_is_asked_with_and_without_what_answers_it(chunks: list[Chunk]) -> None:
    questions = synthetic_questions(chunks, number=2)

    def scores_of(question: str, without: Set[str]) -> float | None:
        return None if question == questions[0].question and without else 0.2 if without else 0.9

    assert gather(questions, scores_of) == ([0.9], [0.2])


def test_one_in_five_unanswerable_questions_is_a_near_miss(make_chunk: Callable[..., Chunk]) -> None:
    many = [
        make_chunk(
            f"{n}", f"The {name} lighthouse was built by Al Meyer in {1500 + 10 * n}.", document=f"d{n}", title=name
        )
        for n, name in enumerate(["Ava", "Bor", "Cif", "Dun", "Elm", "Fir", "Gor", "Hob", "Ivy", "Jot"])
    ]
    questions = synthetic_questions(many, number=10)
    near = [one.near_miss for one in questions if one.near_miss]
    assert (len(questions), len(near)) == (10, 2)
    assert not set(near) & {one.question for one in questions}
    asked: list[tuple[str, Set[str]]] = []
    gather(questions, lambda question, without: asked.append((question, without)) or 0.5)  # type: ignore[func-returns-value]
    assert len(asked) == 20
    assert {question for question, without in asked if not without} == {one.question for one in questions} | set(near)


def test_labelled_questions_are_asked_as_they_are_and_nothing_found_scores_zero() -> None:
    best = {"a": 0.9, "b": 0.4, "c": None}
    asked = [("a", True), ("b", False), ("c", False)]
    assert gather_labelled(asked, lambda question, without: best[question]) == ([0.9], [0.4, 0.0])
