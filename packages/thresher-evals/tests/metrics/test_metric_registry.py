"""Measures are declared values; refusals and failures count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from thresher.errors import UnknownSetting
from thresher.types import Verdict
from thresher_evals.dataset import Gold, Question
from thresher_evals.metrics.registry import MEASURES, measures_of, parse, risk_coverage
from thresher_evals.rows import Context, Place, Reply, Row

MakeRow = Callable[..., Row]
CAPITAL = Question("q1", "Capital?", ("Paris",), gold=(Gold("france.pdf", page=2), Gold("france.pdf", page=7)))
NEVER = Question("q2", "Never?", answerable=False)

CONTRACT = (
    *("nDCG@10", "P@5", "R@5", "F1@5", "MRR", "match", "match_norm", "em", "f1", "words_median", "gold_page"),
    *("gold_source", "abstained", "refusal_precision", "refusal_recall", "wrong_refusals", "seconds_p50"),
    *("seconds_p95", "llm_calls", "unreadable", "timed_out", "verdict_accuracy", "auroc", "ece"),
    *("label_accuracy", "unsupported", "factscore", "respond_ratio"),
)
ON_REQUEST = (
    "right",
    *("nDCG_exp@10", "nDCG_retrieved@10", "nDCG_retrieved_exp@10", "returned_P@5"),
    *("micro_P@5", "micro_R@5", "micro_span_P@5", "micro_span_R@5", "micro_chunk_P@5", "micro_chunk_R@5"),
)
"""Variants of measures that are printed anyway."""


@pytest.mark.parametrize(
    "name",
    [*MEASURES, "R@100", "nDCG@3", "nDCG_retrieved@5", "span_P@1", "chunk_F1@20", "micro_chunk_R@7", "returned_P@3"],
)
def test_a_measure_prints_as_its_name_and_is_parsed_from_it(name: str) -> None:
    measure = parse(name)
    assert str(measure) == name
    assert measure == parse(str(measure))
    assert hash(measure) == hash(parse(name))
    assert measure.meaning
    assert measure.source
    assert measure.bounds
    assert measure.questions


@pytest.mark.parametrize("name", ["ndcg@10", "P@0", "P@", "MRR@10", "matches", "span_nDCG@10", "micro_MRR"])
def test_an_unknown_measure_names_the_nearest(name: str) -> None:
    with pytest.raises(UnknownSetting, match="did you mean"):
        parse(name)


def test_every_measure_of_the_contract_is_scored_for_questions_and_a_ranking_has_no_answer_measures() -> None:
    assert set(CONTRACT) < set(MEASURES)
    assert set(map(str, measures_of("ask"))) == set(MEASURES) - set(ON_REQUEST)
    assert set(CONTRACT) < set(map(str, measures_of("ask")))
    assert "match" not in {str(measure) for measure in measures_of("search")}


def test_refusals_and_failures_of_answerable_questions_are_wrong(make_row: MakeRow) -> None:
    rows = [
        make_row(CAPITAL, text="Paris [1]", cited=[Place("/x/france.pdf", page=2)]),
        make_row(CAPITAL, text="Not Paris, I refuse.", abstained=True),
        make_row(CAPITAL),
        make_row(NEVER, text="Paris"),
    ]
    for name in ("match", "match_norm", "em", "f1", "gold_source", "gold_page"):
        assert parse(name).values(rows) == [1.0, 0.0, 0.0, None]


@pytest.mark.parametrize(
    ("cited", "page", "source"),
    [
        ([Place("/x/france.pdf", page=7)], 1.0, 1.0),
        ([Place("/x/france.pdf", page=3), Place("/x/france.pdf", page=2)], 0.0, 1.0),
        ([Place("/x/france.pdf")], 0.0, 1.0),
        ([Place("/x/other.pdf", also=("/y/france.pdf",), page=2)], 1.0, 1.0),
        ([Place("/x/spain.pdf", page=2)], 0.0, 0.0),
        ([], 0.0, 0.0),
    ],
)
def test_only_the_first_citation_counts(make_row: MakeRow, cited: list[Place], page: float, source: float) -> None:
    rows = [make_row(CAPITAL, text="Paris", cited=cited)]
    assert parse("gold_page").values(rows) == [page]
    assert parse("gold_source").values(rows) == [source]


def test_refusals_have_a_precision_and_a_recall(make_row: MakeRow) -> None:
    rows = [
        make_row(CAPITAL, text="Paris"),
        make_row(CAPITAL, abstained=True),
        make_row(NEVER, abstained=True),
        make_row(NEVER, abstained=True),
        make_row(NEVER, text="Yes"),
        make_row(NEVER),
    ]
    expected = {
        "abstained": (3 / 6, 6),
        "refusal_precision": (2 / 3, 3),
        "refusal_recall": (2 / 4, 4),
        "wrong_refusals": (1 / 2, 2),
    }
    for name, (value, n) in expected.items():
        interval = parse(name).summarise(rows)
        assert interval.value == pytest.approx(value)
        assert interval.n == n


def judged(category: str | None, verdict: str | None, confidence: float | None = None) -> Row:
    """A row whose recipe gave a verdict."""
    reply = Reply("x", abstained=False, verdict=Verdict(verdict) if verdict else None, confidence=confidence)
    return Row(Question("q", "?", category=category), "crag", "c0ffee", 1.0, reply=reply)


@pytest.mark.parametrize(
    ("category", "verdict", "right"),
    [
        ("inside", "correct", 1.0),
        ("inside", "ambiguous", 0.0),
        ("inside", "incorrect", 0.0),
        ("inside", "unsure", 0.0),
        ("outside", "correct", 0.0),
        ("outside", "ambiguous", 1.0),
        ("outside", "incorrect", 1.0),
        ("outside", "unsure", 1.0),
        ("near-miss", "incorrect", 1.0),
        ("off-topic", "correct", 0.0),
        ("answerable", "correct", 1.0),
        ("inside", None, None),
        (None, "correct", None),
        ("people", "correct", None),
    ],
)
def test_a_verdict_is_right_when_it_goes_where_the_answer_is(
    category: str | None, verdict: str | None, right: float | None
) -> None:
    assert parse("verdict_accuracy").values([judged(category, verdict)]) == [right]


def test_a_failure_counts_against_a_recipe_that_decides_and_not_against_one_that_does_not(make_row: MakeRow) -> None:
    failed = make_row(Question("f", "?", category="inside"))
    assert parse("verdict_accuracy").values([judged("inside", "correct"), failed]) == [1.0, 0.0]
    assert parse("verdict_accuracy").values([judged("inside", None), failed]) == [None, None]


def test_confidence_is_measured_over_all_questions_of_known_whereabouts(make_row: MakeRow) -> None:
    rows = [
        judged("inside", "correct", 0.9),
        judged("inside", "correct", 0.4),
        judged("outside", "incorrect", 0.4),
        judged("outside", "incorrect", 0.1),
        judged("outside", "incorrect", None),
        judged("people", "correct", 0.1),
        make_row(Question("f", "?", category="inside")),
    ]
    auroc, ece = parse("auroc").summarise(rows), parse("ece").summarise(rows)
    assert (auroc.value, auroc.n) == (pytest.approx(3.5 / 4), 4)
    assert (ece.value, ece.n) == (pytest.approx(0.4 / 4), 4)
    assert parse("auroc").summarise(rows[:2]).value is None


# --- documents, spans, pages: all questions together -----------------------------------------------------------------

GRADED = (
    Question("1", "?", grades={"a": 3, "b": 1, "c": 2}),
    Question("2", "?", grades={"d": 1}),
)


def test_micro_sums_counts_and_macro_averages_questions(make_row: MakeRow) -> None:
    """Two of three relevant among two hits, then none of one: P 2/10, R 2/4."""
    rows = [make_row(GRADED[0], ranking=["a", "c"]), make_row(GRADED[1], ranking=["x", "y", "z"])]
    micro = {name: parse(f"micro_{name}@5").summarise(rows).value for name in ("P", "R", "F1")}
    assert micro == {"P": pytest.approx(2 / 10), "R": pytest.approx(2 / 4), "F1": pytest.approx(0.2 / 0.7)}
    assert parse("F1@5").summarise(rows).value == pytest.approx((2 * 0.4 * (2 / 3) / (0.4 + 2 / 3) + 0) / 2)
    assert parse("micro_P@5").summarise(rows).value == pytest.approx(parse("P@5").summarise(rows).value)


def test_micro_at_span_level_counts_hits_and_spans(make_row: MakeRow) -> None:
    question = Question("q", "?", gold=(Gold("a", None, 0, 5), Gold("a", None, 50, 55)))
    other = Question("r", "?", gold=(Gold("b", None, 0, 5),))
    hits = [Place("a", start=0, end=3), Place("a", start=2, end=9)]
    rows = [make_row(question, ranking=hits), make_row(other, ranking=[Place("b", start=4, end=9)])]
    assert parse("micro_span_P@2").summarise(rows).value == pytest.approx(3 / 4)
    interval = parse("micro_span_R@2").summarise(rows)
    assert (interval.value, interval.low, interval.high, interval.n) == (pytest.approx(2 / 3), 0.5, 1.0, 2)
    assert parse("micro_span_F1@2").summarise(rows).value == pytest.approx(2 * (3 / 4) * (2 / 3) / (3 / 4 + 2 / 3))


def test_published_precision_divides_by_what_was_returned(make_row: MakeRow) -> None:
    rows = [
        make_row(GRADED[0], ranking=["a", "x"]),
        make_row(GRADED[0], ranking=["x", "y", "z", "w", "v", "a"]),
        make_row(GRADED[0], ranking=[]),
        make_row(Question("q", "?"), ranking=["a"]),
    ]
    assert parse("returned_P@5").values(rows) == [0.5, 0.0, 0.0, None]
    assert parse("P@5").values(rows) == [pytest.approx(0.2), 0.0, 0.0, None]


# --- what was answered ------------------------------------------------------------------------------------------------

CLAIM = Question("c", "Claim.", ("false",), options=("true", "false"))


def test_labels_are_read_strictly_and_match_stays_beside_them(make_row: MakeRow) -> None:
    rows = [
        make_row(CLAIM, text="That is not true."),
        make_row(CLAIM, text="True, and nothing about it is false"),
        make_row(CLAIM, text="Who knows"),
        make_row(CLAIM, abstained=True),
        make_row(CLAIM),
        make_row(CAPITAL, text="Paris"),
    ]
    assert parse("label_accuracy").values(rows) == [1.0, 0.0, 0.0, 0.0, 0.0, None]
    assert parse("unparsed").values(rows) == [0.0, 0.0, 1.0, None, None, None]
    assert parse("match").values(rows) == [0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
    assert parse("wrong").values(rows) == [0.0, 1.0, 1.0, None, None, 0.0]


def test_the_majority_label_is_what_always_naming_it_would_score(make_row: MakeRow) -> None:
    supported = Question("s", "Claim.", ("SUPPORTS",), options=("SUPPORTS", "NOT_ENOUGH_INFO"))
    unknown = Question("u", "Claim.", ("NOT_ENOUGH_INFO",), options=("SUPPORTS", "NOT_ENOUGH_INFO"))
    spelled = Question("v", "Claim.", ("not enough info",), options=("SUPPORTS", "NOT_ENOUGH_INFO"))
    rows = [make_row(question, text="?") for question in (supported, unknown, spelled, CAPITAL)]
    assert parse("majority_label").values(rows) == [0.0, 1.0, 1.0, None]
    assert parse("majority_label").values(rows[3:]) == [None]


def test_what_a_judge_said_is_read_and_only_responding_answers_have_a_factscore(make_row: MakeRow) -> None:
    said = [
        {"responded": 1.0, "factscore": 0.75, "unsupported": 0.5, "likert_coherence": 4.0},
        {"responded": 0.0, "factscore": 0.0},
        {},
    ]
    rows = [replace(make_row(CAPITAL, text="x"), judged=judged) for judged in said]
    assert parse("respond_ratio").summarise(rows).value == 0.5
    assert parse("factscore").values(rows) == [0.75, None, None]
    assert parse("unsupported").values(rows) == [0.5, None, None]
    assert parse("likert_coherence").values(rows) == [4.0, None, None]


def test_what_was_handed_on_holds_an_answer_or_not_whatever_was_said(make_row: MakeRow) -> None:
    holds, holds_not = (Context("a", 0, 9, "In Paris."),), (Context("b", 0, 8, "In Lyon."),)
    rows = [replace(make_row(CAPITAL, text="Lyon"), context=pieces) for pieces in (holds, holds_not, (), None)]
    assert parse("context_match").values(rows) == [1.0, 0.0, 0.0, None]
    unanswerable = replace(make_row(replace(CAPITAL, answerable=False)), context=holds)
    assert parse("context_match").values([unanswerable]) == [None]


# --- risk and coverage ------------------------------------------------------------------------------------------------


def said(text: str | None, confidence: float | None, question: Question = CAPITAL) -> Row:
    """An answer with a confidence; None is a refusal."""
    reply = Reply(text or "", abstained=text is None, confidence=confidence)
    return Row(question, "crag", "c0ffee", 1.0, reply=reply)


ROWS = [
    said("Paris", 0.9),
    said("Rome", 0.6),
    said("Paris", 0.8),
    said("Paris", 0.7, replace(NEVER, answers=("Paris",))),  # wrong, although the words are there
    said(None, 0.1),
    Row(CAPITAL, "crag", "c0ffee", 1.0, error="failed"),
    said("Paris", 0.95, Question("free", "Tell me.")),  # nobody knows whether that is right
]


def test_the_curve_by_hand() -> None:
    assert risk_coverage(ROWS) == [
        pytest.approx((1 / 6, 0, 0.9)),
        pytest.approx((2 / 6, 0, 0.8)),
        pytest.approx((3 / 6, 1 / 3, 0.7)),
        pytest.approx((4 / 6, 2 / 4, 0.6)),
    ]


def test_its_area_is_the_mean_risk_over_the_answers() -> None:
    area = parse("aurc").summarise(ROWS)
    assert (area.value, area.n) == (pytest.approx((0 + 0 + 1 / 3 + 2 / 4) / 4), 4)
    assert area.low is not None
    assert area.high is not None
    assert 0 <= area.low <= (0 + 0 + 1 / 3 + 2 / 4) / 4 <= area.high <= 1


def test_answers_of_one_confidence_are_taken_together() -> None:
    rows = [said("Paris", 0.5), said("Rome", 0.5), said("Paris", 0.4), said("Rome", 0.4)]
    assert risk_coverage(rows) == [(0.5, 0.5, 0.5), (1.0, 0.5, 0.4)]
    assert parse("aurc").summarise(rows).value == 0.5
    assert parse("aurc").summarise(rows[::-1]) == parse("aurc").summarise(rows)


# --- the page ---------------------------------------------------------------------------------------------------------


PAGE = Path(__file__).resolve().parents[4] / "docs" / "measures.md"


def test_the_table_lists_every_measure_with_its_meaning_source_range_and_questions() -> None:
    printed = [
        line
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| `") and line.count("|") == 8
    ]
    told = [
        f"| `{measure}` | {measure.meaning} | {measure.better or ''} | {measure.source} | {measure.bounds}"
        f" | {measure.questions} | {', '.join(measure.tasks) or 'on request'} |"
        for measure in MEASURES.values()
    ]
    assert printed == told
