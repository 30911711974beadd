"""The measures: declared values that print as their names, and are parsed from the same string everywhere.

A measure gives every row a number, or None where it does not apply to the question; what failed or was refused counts
as 0 and does not disappear, unless it says that it is about answers only. The numbers of one recipe are then
summarised with an interval. Where only all rows together have a number, a row gives a forecast or counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from thresher.errors import UnknownSetting
from thresher.types import Origin, Verdict
from thresher_evals.dataset import Task
from thresher_evals.metrics import answers
from thresher_evals.metrics.answers import answered, matches, picked, plain, right, right_option, spoken
from thresher_evals.metrics.measure import Measure, Summary, Value, Values, each, summarised
from thresher_evals.metrics.retrieval import BOTH, RETRIEVAL, retrieval
from thresher_evals.rows import Row
from thresher_evals.stats import Forecast


class Point(NamedTuple):
    """Answering only at this confidence and above."""

    coverage: float
    """Share of the questions that would be answered, 0..1."""
    risk: float
    """Share of those answers that are wrong, 0..1."""
    threshold: float


def wager(row: Row) -> Forecast | None:
    """The confidence of an answer and whether it is wrong; None without a confidence or where that is not known."""
    confidence = None if row.reply is None else row.reply.answer.get("confidence")
    is_right = right(row)
    return None if confidence is None or is_right is None else Forecast(confidence, float(not is_right))


def risk_coverage(rows: Sequence[Row]) -> list[Point]:
    """The risk-coverage curve (Geifman and El-Yaniv 2017), a point for each distinct confidence, the highest first.

    Refusals and failures are questions not answered, at any threshold; questions without a known right answer are left
    out. Empty where no answer has a confidence.
    """
    asked = sum(not row.question.answerable or bool(row.question.answers) for row in rows)
    wagers = sorted((one for row in rows if (one := wager(row)) is not None), reverse=True)
    points: list[Point] = []
    answered = wrong = 0
    for confidence, alike in groupby(wagers, key=lambda one: one.probability):
        outcomes = [one.outcome for one in alike]
        answered, wrong = answered + len(outcomes), wrong + round(sum(outcomes))
        points.append(Point(answered / asked, wrong / answered, confidence))
    return points


# --- the measures: declared values that print as their names, and are parsed from the same string everywhere ----------


__all__ = ["MEASURES", "SUFFICES", "Measure", "Summary", "Value", "Values", "measures_of", "parse", "summarised"]

# --- answers: answerable questions with gold answers ------------------------------------------------------------------


def worded(judge: Callable[[str, Sequence[str]], float]) -> Callable[[Sequence[Row]], Values]:
    """Values of a judge of words: for answerable questions with gold answers; a refusal or a failure is 0."""

    def value(row: Row) -> float | None:
        asked = row.question
        if not asked.answerable or not asked.answers:
            return None
        return float(judge(spoken(row.reply), asked.answers)) if answered(row.reply) else 0.0

    return lambda rows: [value(row) for row in rows]


def words(row: Row) -> float | None:
    """Number of words of an answer; None for refusals and failures, which would make answers look short."""
    return float(len(spoken(row.reply).split())) if answered(row.reply) else None


def wrong(row: Row) -> float | None:
    """For answers to answerable questions of which the right answer is known: whether they are not right."""
    is_right = right(row) if row.question.answerable else None
    return None if is_right is None else float(not is_right)


# --- options: questions to which one of several labels is the answer --------------------------------------------------


def label_right(row: Row) -> float | None:
    """For questions with options: whether the answer names a right one; a refusal or a failure is 0."""
    return float(right_option(row)) if row.question.options else None


def unparsed(row: Row) -> float | None:
    """For answers to questions with options: whether they name none."""
    return float(picked(row) is None) if row.question.options and answered(row.reply) else None


def majority(rows: Sequence[Row]) -> Values:
    """For questions with options: whether the right one is the one that is right most often."""
    labels = [plain(row.question.answers[0]) if row.question.options and row.question.answers else None for row in rows]
    counted = Counter(sorted(label for label in labels if label is not None))
    most = counted.most_common(1)[0][0] if counted else None
    return [None if label is None else float(label == most) for label in labels]


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


# --- what a judge said of an answer, and what it cost -----------------------------------------------------------------


def said(name: str) -> Callable[[Sequence[Row]], Values]:
    """What a judge said of an answer; None where nothing was said."""
    return each(lambda row: row.judged.get(name))


def responding_factscore(row: Row) -> float | None:
    """FActScore of an answer that responds."""
    return row.judged.get("factscore") if row.judged.get("responded", 1) else None


def context_characters(row: Row) -> float | None:
    """Characters of the evidence that the generator was given, where it is kept."""
    return None if row.context is None else float(sum(len(piece.text) for piece in row.context))


def context_match(row: Row) -> float | None:
    """Whether an accepted answer stands in a piece of the evidence that the generator was given."""
    asked = row.question
    if row.context is None or not asked.answerable or not asked.answers:
        return None
    return float(any(answers.match(piece.text, asked.answers) for piece in row.context))


def used(name: str) -> Callable[[Sequence[Row]], Values]:
    """A count of the answer's usage, for questions that did not fail."""

    def value(row: Row) -> float | None:
        number = None if row.reply is None else row.reply.answer.get("usage", {}).get(name)
        return None if number is None else float(number)

    return each(value)


# --- all of them ------------------------------------------------------------------------------------------------------

SELF_RAG, SQUAD, SQUAD_2 = "Asai et al. 2023, metrics.py", "Rajpurkar et al. 2016", "Rajpurkar et al. 2018"
FACTS, ECRAG, OURS = "Min et al. 2023", "ECRAG thesis, section 6.2", "Thresher"
ANSWERABLE = "answerable ones with gold answers"
KNOWN = "those of which it is known whether the collection answers them"
OPTIONS = "those with options"
ANSWERED = "those answered"
JUDGED = "those judged by `eval judge`"
NOT_FAILED = "those answered or refused"
COUNT, SECONDS, RATING = "from 0", "from 0, seconds", "1 to 5"
PROPORTION, MEDIAN = Summary.PROPORTION, Summary.MEDIAN


def ranking(*names: str) -> list[Measure]:
    """The retrieval measures of these names."""
    return [retrieval(found) for name in names if (found := RETRIEVAL.fullmatch(name))]


MEASURES: Mapping[str, Measure] = {
    measure.name: measure
    for measure in (
        *ranking("nDCG@10", "P@5", "R@5", "F1@5", "MRR", "MAP"),
        *ranking("span_P@5", "span_R@5", "span_F1@5", "chunk_P@5", "chunk_R@5", "chunk_F1@5"),
        *ranking("micro_F1@5", "micro_span_F1@5", "micro_chunk_F1@5"),
        *ranking("micro_P@5", "micro_R@5", "micro_span_P@5", "micro_span_R@5", "micro_chunk_P@5", "micro_chunk_R@5"),
        *ranking("nDCG_exp@10", "nDCG_retrieved@10", "nDCG_retrieved_exp@10", "returned_P@5"),
        Measure(
            "context_characters", "characters of the evidence handed to the generator, mean", OURS,
            each(context_characters), bounds=COUNT, questions="those whose evidence is kept in the row",
        ),
        Measure(
            "context_match", "a gold answer stands in the evidence handed to the generator, letter by letter", OURS,
            each(context_match), PROPORTION, questions=f"{ANSWERABLE}, whose evidence is kept in the row",
        ),
        Measure(
            "match", "a gold answer is a substring of the answer, letter by letter", SELF_RAG,
            worded(answers.match), PROPORTION, questions=ANSWERABLE,
        ),
        Measure(
            "match_norm", "the words of a gold answer stand in the answer; case, punctuation and articles aside", OURS,
            worded(answers.match_norm), PROPORTION, questions=ANSWERABLE,
        ),
        Measure(
            "em", "the answer is a gold answer; case, punctuation and articles aside", SQUAD,
            worded(answers.exact_match), PROPORTION, questions=ANSWERABLE,
        ),
        Measure(
            "f1", "overlap of the answer's words with the nearest gold answer's", SQUAD,
            worded(answers.f1), questions=ANSWERABLE,
        ),
        Measure(
            "words_median", "words of an answer that is not a refusal, median", OURS,
            each(words), MEDIAN, bounds=COUNT, questions=ANSWERED,
        ),
        Measure(
            "label_accuracy", "the first option that the answer names is right; naming none is wrong", OURS,
            each(label_right), PROPORTION, questions=OPTIONS,
        ),
        Measure(
            "unparsed", "answers that name none of the options", OURS,
            each(unparsed), PROPORTION, paired=False, questions=f"{OPTIONS}, answered",
        ),
        Measure(
            "majority_label", "share of the most frequent right option: what always naming it would score", OURS,
            majority, PROPORTION, paired=False, questions=OPTIONS,
        ),
        Measure(
            "wrong", "answers that are wrong against gold: no gold answer in them, or another option", OURS,
            each(wrong), PROPORTION, paired=False, questions=f"{ANSWERABLE}, answered",
        ),
        Measure(
            "unsupported", "share of an answer's sentences that its context does not support", OURS,
            said("unsupported"), paired=False, questions=f"{JUDGED}, answered",
        ),
        Measure(
            "factscore", "supported share of an answer's atomic facts, times exp(1 - 10/n) for n < 10 facts", FACTS,
            each(responding_factscore), paired=False, questions=f"{JUDGED}, with an answer that responds",
        ),
        Measure(
            "respond_ratio", "answers that state facts at all", FACTS, said("responded"), PROPORTION, questions=JUDGED,
        ),
        Measure(
            "judged_correct", "answers that a judge calls correct", OURS,
            said("judged_correct"), PROPORTION, questions=JUDGED,
        ),
        Measure(
            "judged_relevance", "a judge's rating of the answer's relevance", OURS,
            said("judged_relevance"), bounds=RATING, questions=JUDGED,
        ),
        *(
            Measure(
                f"likert_{aspect}", f"a judge's rating of the answer's {aspect}", ECRAG,
                said(f"likert_{aspect}"), bounds=RATING, questions=JUDGED,
            )
            for aspect in ("correctness", "coherence", "relevance")
        ),
        Measure(
            "judge_failed", "answers of which a judge's reply could not be read", OURS,
            said("judge_failed"), PROPORTION, paired=False, questions=JUDGED,
        ),
        Measure(
            "gold_page", "the first citation lies on a gold page; a refusal counts as 0", OURS,
            each(gold_page), PROPORTION, questions="answerable ones with gold pages",
        ),
        Measure(
            "gold_source", "the first citation names a gold document; a refusal counts as 0", OURS,
            each(gold_source), PROPORTION, questions="answerable ones with gold documents",
        ),
        Measure("abstained", "questions refused", OURS, each(refused), PROPORTION),
        Measure(
            "refusal_precision", "refused questions that cannot be answered", SQUAD_2,
            each(refusal_precision), PROPORTION, paired=False, questions="those refused",
        ),
        Measure(
            "refusal_recall", "questions that cannot be answered and were refused", SQUAD_2,
            each(refusal_recall), PROPORTION, questions="those that cannot be answered",
        ),
        Measure(
            "wrong_refusals", "answerable questions refused", OURS,
            each(wrong_refusal), PROPORTION, questions="answerable ones",
        ),
        Measure(
            "aurc", "area under the curve of wrong answers against questions answered, the most confident first",
            "Geifman and El-Yaniv 2017", each(wager), Summary.AURC, paired=False,
            questions="those answered with a confidence, whose right answer is known",
        ),
        Measure(
            "verdict_accuracy", "the verdict is `correct` where the collection answers, and another where not", OURS,
            verdicts, PROPORTION, questions=KNOWN,
        ),
        Measure(
            "auroc", "a confidence where the collection answers is above one where not", "Hanley and McNeil 1982",
            each(forecast), Summary.AUROC, paired=False, questions=KNOWN,
        ),
        Measure(
            "ece", "confidence minus how often the collection answers, over ten bins", "Naeini et al. 2015",
            each(forecast), Summary.ECE, paired=False, questions=KNOWN,
        ),
        Measure(
            "outside_used", "answers that cite something outside the collection", OURS,
            each(outside_used), PROPORTION, paired=False, questions=ANSWERED,
        ),
        Measure(
            "seconds_p50", "seconds a question took, failures included, median", OURS,
            each(lambda row: row.seconds), MEDIAN, BOTH, bounds=SECONDS,
        ),
        Measure(
            "seconds_p95", "seconds that 95 % of the questions took at most, failures included", OURS,
            each(lambda row: row.seconds), Summary.P95, BOTH, bounds=SECONDS,
        ),
        Measure(
            "cpu_seconds", "processor time of the process for a question, mean", OURS,
            each(lambda row: row.cpu_seconds), tasks=BOTH, bounds=SECONDS, questions="those asked one at a time",
        ),
        Measure(
            "memory_mib", "the most memory that the process held, recipes asked earlier included", OURS,
            each(lambda row: row.memory_mib), Summary.MOST, BOTH, paired=False, bounds="from 0, MiB",
        ),
        Measure(
            "llm_calls", "calls of a language model for a question that did not fail, mean", OURS,
            each(lambda row: None if row.reply is None else float(row.reply.llm_calls)),
            bounds=COUNT, questions=NOT_FAILED,
        ),
        Measure(
            "prompt_tokens", "tokens that language models read for a question that did not fail, mean", OURS,
            used("prompt_tokens"), bounds=COUNT, questions=NOT_FAILED,
        ),
        Measure(
            "completion_tokens", "tokens that language models wrote for a question that did not fail, mean", OURS,
            used("completion_tokens"), bounds=COUNT, questions=NOT_FAILED,
        ),
        Measure(
            "unreadable", "replies of models that could not be parsed, for a question that did not fail, mean", OURS,
            each(lambda row: None if row.reply is None else float(row.unreadable)), bounds=COUNT, questions=NOT_FAILED,
        ),
        Measure(
            "timed_out", "questions of which a part ran out of time", OURS,
            each(lambda row: float(row.timed_out)), PROPORTION, BOTH,
        ),
        Measure(
            "failed", "questions that ended in an error", OURS,
            each(lambda row: float(row.error is not None)), PROPORTION, BOTH,
        ),
    )
}  # fmt: skip
"""Every measure, in the order it is printed; those of rankings take any other cutoff too."""


def parse(name: str) -> Measure:
    """The measure of that name; retrieval measures take any cutoff (`R@100`)."""
    if name in MEASURES:
        return MEASURES[name]
    if found := RETRIEVAL.fullmatch(name):
        return retrieval(found)
    raise UnknownSetting(name, MEASURES, kind="measure")


def measures_of(task: Task) -> tuple[Measure, ...]:
    """The measures that are scored for a dataset's task when none are named, in order."""
    return tuple(measure for measure in MEASURES.values() if task in measure.tasks)
