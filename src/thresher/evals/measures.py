"""The measures: declared values that print as their names, and are parsed from the same string everywhere.

A measure gives every row a number, or None where it does not apply to the question; what failed or was refused counts
as 0 and does not disappear. The numbers of one recipe are then summarised with an interval. Where only all rows
together have a number, a row gives a forecast.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from thresher.errors import UnknownSetting
from thresher.evals import answers, rankings
from thresher.evals.labels import Task
from thresher.evals.matching import matches
from thresher.evals.rows import Reply, Row
from thresher.evals.statistics import (
    Forecast,
    Interval,
    auroc_interval,
    ece_interval,
    mean_interval,
    proportion_interval,
    quantile_interval,
)
from thresher.types import Origin, Verdict

Value = float | Forecast
"""What a measure says of one question: a number, or a probability and what came of it."""

Values = Sequence[Value | None]


class Summary(StrEnum):
    """How the numbers of the questions become one."""

    MEAN = "mean"
    PROPORTION = "proportion"
    """The mean of zeros and ones."""
    MEDIAN = "median"
    P95 = "95th percentile"
    AUROC = "area under the ROC curve"
    """Of forecasts."""
    ECE = "expected calibration error"
    """Of forecasts."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What is measured, what it means in a line, and who defined it."""

    name: str
    meaning: str = field(compare=False)
    source: str = field(compare=False)
    values: Callable[[Sequence[Row]], Values] = field(compare=False)
    summary: Summary = field(default=Summary.MEAN, compare=False)
    tasks: tuple[Task, ...] = field(default=("ask",), compare=False)
    paired: bool = field(default=True, compare=False)
    """Whether two recipes can be compared question by question."""

    def __str__(self) -> str:
        """The name, from which `parse` gives the measure again."""
        return self.name

    def summarise(self, rows: Sequence[Row], *, seed: int = 0) -> Interval:
        """One number and its interval, over the questions to which the measure applies."""
        return summarised(self.summary, [value for value in self.values(rows) if value is not None], seed=seed)


def summarised(summary: Summary, values: Sequence[Value], *, seed: int = 0) -> Interval:
    """The numbers or forecasts of the questions as one number, with its 95 % interval."""
    forecasts = [value for value in values if isinstance(value, Forecast)]
    numbers = [value for value in values if not isinstance(value, Forecast)]
    match summary:
        case Summary.MEAN:
            return mean_interval(numbers, seed=seed)
        case Summary.PROPORTION:
            return proportion_interval(numbers, seed=seed)
        case Summary.MEDIAN:
            return quantile_interval(numbers, 0.5)
        case Summary.P95:
            return quantile_interval(numbers, 0.95)
        case Summary.AUROC:
            return auroc_interval(forecasts, seed=seed)
        case Summary.ECE:
            return ece_interval(forecasts, seed=seed)


# --- retrieval: questions with labelled documents ---------------------------------------------------------------------


def retrieval(name: str) -> Measure:
    """`nDCG@k`, `P@k`, `R@k`, `F1@k` or `MRR`, over documents."""
    kind, _, cutoff = name.partition("@")
    measured, meaning, source = {
        "nDCG": (name, f"gain of the first {cutoff} documents over the best possible", "Järvelin and Kekäläinen 2002"),
        "P": (name, f"relevant among the first {cutoff}, divided by {cutoff} also when fewer came", "trec_eval"),
        "R": (name, f"share of the relevant documents among the first {cutoff}", "trec_eval"),
        "F1": ("", f"harmonic mean of P@{cutoff} and R@{cutoff}, question by question", "van Rijsbergen 1979"),
        "MRR": ("RR", "one over the rank of the first relevant document", "Voorhees 1999"),
    }[kind]

    def values(rows: Sequence[Row]) -> Values:
        if kind == "F1":
            precision, recall = (rankings.ranking_values(f"{part}@{cutoff}", rows) for part in ("P", "R"))
            return rankings.harmonic(precision, recall)
        return rankings.ranking_values(measured, rows)

    return Measure(name, meaning, source, values, tasks=("search", "ask"))


RETRIEVAL = re.compile(r"MRR|(?:nDCG|P|R|F1)@[1-9][0-9]{0,3}")


# --- answers: answerable questions with gold answers ------------------------------------------------------------------


def worded(judge: Callable[[str, Sequence[str]], float]) -> Callable[[Sequence[Row]], Values]:
    """Values of a judge of words: for answerable questions with gold answers; a refusal or a failure is 0."""

    def value(row: Row) -> float | None:
        asked = row.question
        if not asked.answerable or not asked.answers:
            return None
        return float(judge(spoken(row.reply), asked.answers)) if answered(row.reply) else 0.0

    return lambda rows: [value(row) for row in rows]


def answered(reply: Reply | None) -> bool:
    """Whether there is an answer and not a refusal."""
    return reply is not None and not reply.abstained


def spoken(reply: Reply | None) -> str:
    """The answer's words; citation markers and the quotation marks before them are not words."""
    return "" if reply is None else answers.without_markers(answers.unquoted(reply.text), reply.markers)


def words(row: Row) -> float | None:
    """Number of words of an answer; None for refusals and failures, which would make answers look short."""
    return float(len(spoken(row.reply).split())) if answered(row.reply) else None


# --- citations --------------------------------------------------------------------------------------------------------


def gold_source(row: Row) -> float | None:
    """Whether the first citation names a gold document; for answerable questions with gold documents."""
    if not row.question.answerable or not row.question.gold:
        return None
    return float(cites(row, pages=False))


def gold_page(row: Row) -> float | None:
    """Whether the first citation lies on a gold page; for answerable questions with gold pages."""
    if not row.question.answerable or all(gold.page is None for gold in row.question.gold):
        return None
    return float(cites(row, pages=True))


def cites(row: Row, *, pages: bool) -> bool:
    """Whether the first citation of an answer is a gold document, and with `pages` also a gold page of it."""
    if row.reply is None or row.reply.abstained or not row.reply.citations:
        return False
    first = row.reply.citations[0]
    return any(
        matches(gold.source, first.source, first.also)
        and (not pages or (gold.page is not None and gold.page == first.page))
        for gold in row.question.gold
    )


# --- refusals ---------------------------------------------------------------------------------------------------------


def refused(row: Row) -> float:
    """1 for a refusal; a failure is not one."""
    return float(row.reply is not None and row.reply.abstained)


def refusal_precision(row: Row) -> float | None:
    """For refusals: whether the question cannot be answered."""
    return float(not row.question.answerable) if refused(row) else None


def refusal_recall(row: Row) -> float | None:
    """For questions that cannot be answered: whether they were refused."""
    return None if row.question.answerable else refused(row)


def wrong_refusal(row: Row) -> float | None:
    """For answerable questions: whether they were refused."""
    return refused(row) if row.question.answerable else None


# --- knowing: questions of which it is known whether the collection answers them --------------------------------------

SUFFICES: Mapping[str | None, bool] = {
    "inside": True,
    "outside": False,
    "answerable": True,
    "near-miss": False,
    "unanswerable": False,
    "off-topic": False,
}
"""Category of a question (of `routing:` and `refusal:`) to whether the collection that is asked answers it."""


def verdicts(rows: Sequence[Row]) -> Values:
    """Whether the verdict is `correct` where the collection answers and another one where it does not.

    Rows without a verdict have no number; failures of a recipe that gives verdicts elsewhere count as 0.
    """
    decides = any(verdict_of(row) is not None for row in rows)

    def value(row: Row) -> float | None:
        suffices = SUFFICES.get(row.question.category)
        if suffices is None or (row.reply is None and not decides):
            return None
        if row.reply is None:
            return 0.0
        verdict = verdict_of(row)
        return None if verdict is None else float((verdict is Verdict.CORRECT) == suffices)

    return [value(row) for row in rows]


def verdict_of(row: Row) -> Verdict | None:
    """What the recipe thought of its evidence, where it says."""
    told = None if row.reply is None else row.reply.answer.get("verdict")
    return None if told is None else Verdict(told)


def forecast(row: Row) -> Forecast | None:
    """The confidence that the evidence suffices, where the recipe tells one, and whether the collection answers."""
    confidence = None if row.reply is None else row.reply.answer.get("confidence")
    suffices = SUFFICES.get(row.question.category)
    return None if confidence is None or suffices is None else Forecast(confidence, float(suffices))


def outside_used(row: Row) -> float | None:
    """For answers: whether one of the citations is from outside the collection."""
    if row.reply is None or row.reply.abstained:
        return None
    citations = row.reply.answer.get("citations", ())
    return float(any(citation.get("origin") == Origin.OUTSIDE for citation in citations))


def each(value: Callable[[Row], Value | None]) -> Callable[[Sequence[Row]], Values]:
    """A measure of one row, for many."""
    return lambda rows: [value(row) for row in rows]


SELF_RAG, SQUAD, OURS = "Asai et al. 2023, metrics.py", "Rajpurkar et al. 2016", "Thresher"
BOTH: tuple[Task, ...] = ("search", "ask")

MEASURES: Mapping[str, Measure] = {
    measure.name: measure
    for measure in (
        *(retrieval(name) for name in ("nDCG@10", "P@5", "R@5", "F1@5", "MRR")),
        Measure(
            "match", "a gold answer is a substring of the answer, letter by letter", SELF_RAG,
            worded(answers.match), Summary.PROPORTION,
        ),
        Measure(
            "match_norm", "the words of a gold answer stand in the answer; case, punctuation and articles aside", OURS,
            worded(answers.match_norm), Summary.PROPORTION,
        ),
        Measure(
            "em", "the answer is a gold answer; case, punctuation and articles aside", SQUAD,
            worded(answers.exact_match), Summary.PROPORTION,
        ),
        Measure("f1", "overlap of the answer's words with the nearest gold answer's", SQUAD, worded(answers.f1)),
        Measure(
            "words_median", "words of an answer that is not a refusal, median", OURS, each(words), Summary.MEDIAN,
        ),
        Measure(
            "gold_page", "the first citation lies on a gold page; a refusal counts as 0", OURS,
            each(gold_page), Summary.PROPORTION,
        ),
        Measure(
            "gold_source", "the first citation names a gold document; a refusal counts as 0", OURS,
            each(gold_source), Summary.PROPORTION,
        ),
        Measure("abstained", "questions refused", OURS, each(refused), Summary.PROPORTION),
        Measure(
            "refusal_precision", "refused questions that cannot be answered", "Rajpurkar et al. 2018",
            each(refusal_precision), Summary.PROPORTION, paired=False,
        ),
        Measure(
            "refusal_recall", "questions that cannot be answered and were refused", "Rajpurkar et al. 2018",
            each(refusal_recall), Summary.PROPORTION,
        ),
        Measure("wrong_refusals", "answerable questions refused", OURS, each(wrong_refusal), Summary.PROPORTION),
        Measure(
            "verdict_accuracy", "the verdict is `correct` where the collection answers, and another where not", OURS,
            verdicts, Summary.PROPORTION,
        ),
        Measure(
            "auroc", "a confidence where the collection answers is above one where not", "Hanley and McNeil 1982",
            each(forecast), Summary.AUROC, paired=False,
        ),
        Measure(
            "ece", "confidence minus how often the collection answers, over ten bins", "Naeini et al. 2015",
            each(forecast), Summary.ECE, paired=False,
        ),
        Measure(
            "outside_used", "answers that cite something outside the collection", OURS,
            each(outside_used), Summary.PROPORTION, paired=False,
        ),
        Measure(
            "seconds_p50", "seconds a question took, failures included, median", OURS,
            each(lambda row: row.seconds), Summary.MEDIAN, BOTH,
        ),
        Measure(
            "seconds_p95", "seconds that 95 % of the questions took at most, failures included", OURS,
            each(lambda row: row.seconds), Summary.P95, BOTH,
        ),
        Measure(
            "llm_calls", "calls of a language model for a question that did not fail, mean", OURS,
            each(lambda row: None if row.reply is None else float(row.reply.llm_calls)),
        ),
        Measure(
            "unreadable", "replies of models that could not be parsed, for a question that did not fail, mean", OURS,
            each(lambda row: None if row.reply is None else float(row.unreadable)),
        ),
        Measure(
            "timed_out", "questions of which a part ran out of time", OURS,
            each(lambda row: float(row.timed_out)), Summary.PROPORTION, BOTH,
        ),
        Measure(
            "failed", "questions that ended in an error", OURS,
            each(lambda row: float(row.error is not None)), Summary.PROPORTION, BOTH,
        ),
    )
}  # fmt: skip
"""Every measure of the contract that needs no judge, in the order it is printed."""


def parse(name: str) -> Measure:
    """The measure of that name; retrieval measures take any cutoff (`R@100`)."""
    if name in MEASURES:
        return MEASURES[name]
    if RETRIEVAL.fullmatch(name):
        return retrieval(name)
    raise UnknownSetting(name, MEASURES, kind="measure")


def measures_of(task: Task) -> tuple[Measure, ...]:
    """The measures that apply to a dataset's task, in order."""
    return tuple(measure for measure in MEASURES.values() if task in measure.tasks)
