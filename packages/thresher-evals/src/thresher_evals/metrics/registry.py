"""All measures by name. A new one is a function, here or in its own file, and a line in `MEASURES`.

A measure gives each row a number, or None if it does not apply to the question. Failures and refusals count as 0 unless
the measure is about answers only. If only all rows together have a number, a row gives a forecast or counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

from thresher.errors import UnknownSetting
from thresher.types import Origin, Verdict
from thresher_evals.dataset import Task
from thresher_evals.metrics import answers
from thresher_evals.metrics.answers import answered, cites_gold, is_checkable, is_right, picked, plain, spoken
from thresher_evals.metrics.measure import LARGEST, MEAN, MEDIAN, P95, Family, Measure, Values, each
from thresher_evals.metrics.retrieval import BOTH, retrieval
from thresher_evals.rows import Row
from thresher_evals.stats import Forecast, aurc_interval, auroc_interval, ece_interval

# --- answers ----------------------------------------------------------------------------------------------------------


def worded(judge: Callable[[str, Sequence[str]], float]) -> Callable[[Sequence[Row]], Values]:
    """Values of a comparison of words, for answerable questions with gold answers; a refusal or failure is 0.

    Of a list with known items the lowest value counts: all must be present.
    """

    def value(row: Row) -> float | None:
        asked = row.question
        golds = [asked.answers] if asked.answers else [(item,) for item in asked.items]
        if not asked.answerable or not golds:
            return None
        return min(float(judge(spoken(row.reply), gold)) for gold in golds) if answered(row.reply) else 0.0

    return each(value)


def words(row: Row) -> float | None:
    """Words of an answer; None for refusals and failures, which would make answers look short."""
    return float(len(spoken(row.reply).split())) if answered(row.reply) else None


def right(row: Row) -> float | None:
    """Whether the outcome is right; None if unknown."""
    known = is_right(row)
    return None if known is None else float(known)


def wrong(row: Row) -> float | None:
    """For answers to answerable questions with a known right answer: whether they are wrong."""
    known = is_right(row) if row.question.answerable and answered(row.reply) else None
    return None if known is None else float(not known)


def label_right(row: Row) -> float | None:
    """For questions with options: whether the answer names a right one; a refusal or failure is 0."""
    return float(answers.right_option(row)) if row.question.options else None


def unparsed(row: Row) -> float | None:
    """For answers to questions with options: whether they name none."""
    return float(picked(row) is None) if row.question.options and answered(row.reply) else None


def majority(rows: Sequence[Row]) -> Values:
    """For questions with options: whether the right one is the most frequent right one."""
    labels = [plain(row.question.answers[0]) if row.question.options and row.question.answers else None for row in rows]
    counted = Counter(sorted(label for label in labels if label is not None))
    most = counted.most_common(1)[0][0] if counted else None
    return [None if label is None else float(label == most) for label in labels]


# --- citations and evidence -------------------------------------------------------------------------------------------


def gold_source(row: Row) -> float | None:
    """Whether the first citation names a gold document; for answerable questions with gold documents."""
    return float(cites_gold(row)) if row.question.answerable and row.question.gold else None


def gold_page(row: Row) -> float | None:
    """Whether the first citation is on a gold page; for answerable questions with gold pages."""
    has_page = any(gold.page is not None for gold in row.question.gold)
    return float(cites_gold(row, pages=True)) if row.question.answerable and has_page else None


def outside_used(row: Row) -> float | None:
    """For answers: whether a citation is from outside the collection."""
    if row.reply is None or row.reply.abstained:
        return None
    return float(any(citation.origin is Origin.OUTSIDE for citation in row.reply.citations))


def context_characters(row: Row) -> float | None:
    """Characters of the generator's evidence, if the row has it."""
    return None if row.context is None else float(sum(len(piece.text) for piece in row.context))


def context_match(row: Row) -> float | None:
    """Whether the generator's evidence contains an accepted answer."""
    asked = row.question
    if row.context is None or not asked.answerable or not asked.answers:
        return None
    return float(any(answers.match(piece.text, asked.answers) for piece in row.context))


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


# --- verdicts and confidence ------------------------------------------------------------------------------------------

SUFFICES: Mapping[str | None, bool] = {
    "inside": True,
    "outside": False,
    "answerable": True,
    "near-miss": False,
    "unanswerable": False,
    "off-topic": False,
}
"""Category of a question (of `routing:` and `refusal:`) to whether the asked collection answers it."""


def verdicts(rows: Sequence[Row]) -> Values:
    """Whether the verdict is `correct` if the collection answers, and another one if it does not.

    Rows without a verdict have no number; failures of a recipe that gives verdicts count as 0.
    """
    decides = any(verdict_of(row) is not None for row in rows)

    def value(row: Row) -> float | None:
        suffices = SUFFICES.get(row.question.category)
        if suffices is None:
            return None
        if row.reply is None:
            return 0.0 if decides else None
        verdict = verdict_of(row)
        return None if verdict is None else float((verdict is Verdict.CORRECT) == suffices)

    return [value(row) for row in rows]


def verdict_of(row: Row) -> Verdict | None:
    """The recipe's verdict on its evidence, if it gives one."""
    return None if row.reply is None else row.reply.verdict


def forecast(row: Row) -> Forecast | None:
    """The confidence that the evidence suffices, if the recipe gives one, and whether the collection answers."""
    confidence = None if row.reply is None else row.reply.confidence
    suffices = SUFFICES.get(row.question.category)
    return None if confidence is None or suffices is None else Forecast(confidence, float(suffices))


def wager(row: Row) -> Forecast | None:
    """The confidence of an answer and whether it is wrong; None if either is unknown."""
    confidence = None if row.reply is None or row.reply.abstained else row.reply.confidence
    known = is_right(row)
    return None if confidence is None or known is None else Forecast(confidence, float(not known))


class Point(NamedTuple):
    """Result of answering only at this confidence and above."""

    coverage: float
    """Share of questions answered, 0..1."""
    risk: float
    """Share of wrong answers among them, 0..1."""
    threshold: float


def risk_coverage(rows: Sequence[Row]) -> list[Point]:
    """The risk-coverage curve (Geifman and El-Yaniv 2017): a point for each distinct confidence, the highest first.

    Refusals and failures are unanswered at any threshold; questions without a known right answer are left out. Empty if
    no answer has a confidence.
    """
    asked = sum(is_checkable(row.question) for row in rows)
    wagers = sorted((one for row in rows if (one := wager(row)) is not None), reverse=True)
    points: list[Point] = []
    answered = wrong = 0
    for confidence, alike in groupby(wagers, key=lambda one: one.probability):
        outcomes = [one.outcome for one in alike]
        answered, wrong = answered + len(outcomes), wrong + round(sum(outcomes))
        points.append(Point(answered / asked, wrong / answered, confidence))
    return points


# --- judgements and costs of an answer --------------------------------------------------------------------------------


def judged(name: str) -> Callable[[Sequence[Row]], Values]:
    """A number of a judge; None if there is none."""
    return each(lambda row: row.judged.get(name))


def responding_factscore(row: Row) -> float | None:
    """FActScore of an answer that responds."""
    return row.judged.get("factscore") if row.judged.get("responded", 1) else None


def used(name: str) -> Callable[[Sequence[Row]], Values]:
    """A count from the answer's usage, for questions that did not fail."""
    return each(lambda row: None if row.reply is None else float(getattr(row.reply.usage, name)))


# --- all of them ------------------------------------------------------------------------------------------------------

SELF_RAG, SQUAD, SQUAD_2 = "Asai et al. 2023, metrics.py", "Rajpurkar et al. 2016", "Rajpurkar et al. 2018"
FACTS, ECRAG, OURS = "Min et al. 2023", "ECRAG thesis, section 6.2", "Thresher"
HYBRID = "hybrid report, section 3"
ANSWERABLE = "answerable ones with gold answers"
KNOWN = "those of which it is known whether the collection answers them"
OPTIONS = "those with options"
ANSWERED = "those answered"
JUDGED = "those judged by `eval judge`"
NOT_FAILED = "those answered or refused"
KEPT = "whose evidence is kept in the row"

context = partial(Measure, family=Family.SPANS, better="higher")
answer = partial(Measure, family=Family.ANSWERS, better="higher", questions=ANSWERABLE)
option = partial(answer, questions=OPTIONS)
facts = partial(Measure, family=Family.FACTS, better="higher", questions=JUDGED)
citation = partial(Measure, family=Family.CITATIONS, better="higher")
hallucination = partial(Measure, family=Family.CITATIONS, better="lower", paired=False)
quality = partial(Measure, family=Family.QUALITY, better="higher", questions=JUDGED)
rating = partial(quality, summary=MEAN, bounds="1 to 5")
verdict = partial(Measure, family=Family.VERDICTS, better="higher")
known = partial(verdict, questions=KNOWN)
fault = partial(Measure, family=Family.COST, better="lower", tasks=BOTH)
seconds = partial(Measure, family=Family.COST, tasks=BOTH, bounds="from 0, seconds")
count = partial(Measure, family=Family.COST, summary=MEAN, bounds="from 0", questions=NOT_FAILED)


def rankings(*names: str) -> Iterator[Measure]:
    """The retrieval measures of these names."""
    return filter(None, map(retrieval, names))


MEASURES: dict[str, Measure] = {measure.name: measure for measure in (
    *rankings("nDCG@10", "P@5", "R@5", "F1@5", "MRR", "MAP"),
    *rankings("span_P@5", "span_R@5", "span_F1@5", "chunk_P@5", "chunk_R@5", "chunk_F1@5"),
    *rankings("micro_F1@5", "micro_span_F1@5", "micro_chunk_F1@5"),
    *rankings("micro_P@5", "micro_R@5", "micro_span_P@5", "micro_span_R@5", "micro_chunk_P@5", "micro_chunk_R@5"),
    *rankings("nDCG_exp@10", "nDCG_retrieved@10", "nDCG_retrieved_exp@10", "returned_P@5"),
    context("context_characters", "characters of the evidence handed to the generator, mean", OURS,
            each(context_characters), better=None, summary=MEAN, bounds="from 0", questions=f"those {KEPT}"),
    context("context_match", "a gold answer stands in the evidence handed to the generator, letter by letter", OURS,
            each(context_match), questions=f"{ANSWERABLE}, {KEPT}"),
    answer("match", "a gold answer is a substring of the answer, letter by letter", SELF_RAG, worded(answers.match)),
    answer("match_norm", "the words of a gold answer stand in the answer; case, punctuation and articles aside", OURS,
           worded(answers.match_norm)),
    answer("em", "the answer is a gold answer; case, punctuation and articles aside", SQUAD,
           worded(answers.exact_match)),
    answer("f1", "overlap of the answer's words with the nearest gold answer's", SQUAD, worded(answers.f1),
           summary=MEAN),
    answer("words_median", "words of an answer that is not a refusal, median", OURS, each(words), better=None,
           summary=MEDIAN, paired=False, bounds="from 0", questions=ANSWERED),
    option("label_accuracy", "the first option that the answer names is right; naming none is wrong", OURS,
           each(label_right)),
    option("unparsed", "answers that name none of the options", OURS, each(unparsed), better="lower", paired=False,
           questions=f"{OPTIONS}, answered"),
    option("majority_label", "share of the most frequent right option: what always naming it would score", OURS,
           majority, better=None, paired=False),
    answer("right", "the right thing came of the question: a right answer, or a refusal where there is none", OURS,
           each(right), tasks=(), questions="those of which it is known what is right"),
    hallucination("wrong", "answers that are wrong against gold: no gold answer in them, or another option", OURS,
                  each(wrong), questions=f"{ANSWERABLE}, answered"),
    hallucination("unsupported", "share of an answer's sentences that its context does not support", OURS,
                  judged("unsupported"), summary=MEAN, questions=f"{JUDGED}, answered"),
    facts("factscore", "supported share of an answer's atomic facts, times exp(1 - 10/n) for n < 10 facts", FACTS,
          each(responding_factscore), summary=MEAN, paired=False,
          questions=f"{JUDGED}, with an answer that responds"),
    facts("respond_ratio", "answers that state facts at all", FACTS, judged("responded")),
    quality("judged_correct", "answers that a judge calls correct", OURS, judged("judged_correct")),
    rating("judged_relevance", "a judge's grades of the pieces of an answer's context, mean", OURS,
           judged("judged_relevance")),
    quality("judged_P@5", "pieces of context a judge grades 3 or better among the first 5, divided by 5 also when "
            "fewer came", HYBRID, judged("judged_P@5"), summary=MEAN),
    quality("judged_nDCG@5", "discounted gain (a judge's grade) of the first 5 pieces of context over that of the best "
            "order of all pieces of that answer", HYBRID, judged("judged_nDCG@5"), summary=MEAN),
    *(rating(f"likert_{aspect}", f"a judge's rating of the answer's {aspect}", ECRAG, judged(f"likert_{aspect}"))
      for aspect in ("correctness", "coherence", "relevance")),
    quality("judge_failed", "answers of which a judge's reply could not be read", OURS, judged("judge_failed"),
            better=None, paired=False),
    citation("gold_page", "the first citation lies on a gold page; a refusal counts as 0", OURS, each(gold_page),
             questions="answerable ones with gold pages"),
    citation("gold_source", "the first citation names a gold document; a refusal counts as 0", OURS,
             each(gold_source), questions="answerable ones with gold documents"),
    verdict("abstained", "questions refused", OURS, each(refused), better=None),
    verdict("refusal_precision", "refused questions that cannot be answered", SQUAD_2, each(refusal_precision),
            paired=False, questions="those refused"),
    verdict("refusal_recall", "questions that cannot be answered and were refused", SQUAD_2, each(refusal_recall),
            questions="those that cannot be answered"),
    verdict("wrong_refusals", "answerable questions refused", OURS, each(wrong_refusal), better="lower",
            questions="answerable ones"),
    verdict("aurc", "area under the curve of wrong answers against questions answered, the most confident first",
            "Geifman and El-Yaniv 2017", each(wager), better="lower", summary=aurc_interval, paired=False,
            questions="those answered with a confidence, whose right answer is known"),
    known("verdict_accuracy", "the verdict is `correct` where the collection answers, and another where not", OURS,
          verdicts),
    known("auroc", "a confidence where the collection answers is above one where not", "Hanley and McNeil 1982",
          each(forecast), summary=auroc_interval, paired=False),
    known("ece", "confidence minus how often the collection answers, over ten bins", "Naeini et al. 2015",
          each(forecast), better="lower", summary=ece_interval, paired=False),
    verdict("outside_used", "answers that cite something outside the collection", OURS, each(outside_used),
            better=None, paired=False, questions=ANSWERED),
    seconds("seconds_p50", "seconds a question took, failures included, median", OURS, each(lambda row: row.seconds),
            summary=MEDIAN, paired=False),
    seconds("seconds_p95", "seconds that 95 % of the questions took at most, failures included", OURS,
            each(lambda row: row.seconds), summary=P95, paired=False),
    seconds("cpu_seconds", "processor time of the process for a question, mean", OURS,
            each(lambda row: row.cpu_seconds), summary=MEAN, questions="those asked one at a time"),
    seconds("memory_mib", "the most memory that the process held, recipes asked earlier included", OURS,
            each(lambda row: row.memory_mib), summary=LARGEST, paired=False, bounds="from 0, MiB"),
    count("llm_calls", "calls of a language model for a question that did not fail, mean", OURS,
          used("llm_calls")),
    count("prompt_tokens", "tokens that language models read for a question that did not fail, mean", OURS,
          used("prompt_tokens")),
    count("completion_tokens", "tokens that language models wrote for a question that did not fail, mean", OURS,
          used("completion_tokens")),
    count("cost", "money for the tokens of a question that did not fail, mean", OURS,
          each(lambda row: None if row.reply is None else row.reply.usage.cost),
          questions="those of recipes with `llm.price_prompt` or `llm.price_completion`"),
    count("unreadable", "replies of models that could not be parsed, for a question that did not fail, mean", OURS,
          each(lambda row: None if row.reply is None else float(row.unreadable)), better="lower"),
    fault("timed_out", "questions of which a part ran out of time", OURS, each(lambda row: float(row.timed_out))),
    fault("failed", "questions that ended in an error", OURS, each(lambda row: float(row.error is not None))),
)}  # fmt: skip
"""Every measure in print order; those of rankings accept other cutoffs."""


def parse(name: str) -> Measure:
    """The measure of that name. Raises UnknownSetting."""
    measure = MEASURES.get(name) or retrieval(name)
    if measure is None:
        raise UnknownSetting(name, MEASURES, kind="measure")
    return measure


def measures_of(task: Task) -> tuple[Measure, ...]:
    """The default measures of a dataset's task, in order."""
    return tuple(measure for measure in MEASURES.values() if task in measure.tasks)
