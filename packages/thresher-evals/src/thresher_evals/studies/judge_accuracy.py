"""How well judges tell the passage that is about the question's subject from the others that were retrieved.

CRAG (arXiv:2401.15884v3), Table 4: accuracy of its retrieval evaluator on PopQA. As in its released code, a passage is
positive when its title is that of the question's subject page, and ten passages are judged for each question. The
threshold of each judge is chosen on the tune fifth of the questions and told on the final one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import Field

from thresher.errors import UsageError
from thresher.judging.kdm import ConfidenceJudge
from thresher.protocols import Scorer
from thresher.recipes.ecrag import judged
from thresher.recipes.judges import evaluator
from thresher.recipes.settings import EcragSettings, JudgeSettings
from thresher.settings import Frozen
from thresher.types import Query
from thresher_evals.dataset import split_of
from thresher_evals.metrics.answers import matches
from thresher_evals.report.blocks import Cell, Figure, Section, Table
from thresher_evals.stats import Forecast, Interval, auroc_interval, ece_interval
from thresher_evals.studies.runner import Kind, Materials, Opened, Study, StudyRow, mean_of, opened, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RETRIEVER = "rag"
"""Plain dense retrieval: what is judged was not chosen by a judge."""

COSINE, SHARE, CONFIDENCE = "cosine", "BM25 share", "KDM confidence"
OWN = ("local", "trained")

PUBLISHED = (
    ("T5-large, fine-tuned (CRAG)", 0.843),
    ("ChatGPT", 0.580),
    ("ChatGPT, chain of thought", 0.624),
    ("ChatGPT, few-shot", 0.647),
)
"""CRAG v3, Table 4, accuracy."""

ALWAYS_NO = "always no"
"""The judge that every accuracy has to beat: most of what is retrieved is not the gold page."""


class Settings(Frozen):
    """Settings of the study."""

    depth: int = Field(10, ge=1, description="passages retrieved for each question (CRAG's released code: 10)")


def recipes_of(settings: Settings) -> Sequence[str]:
    """The retriever, and the recipes whose judges judge."""
    return (RETRIEVER, "ecrag", "crag")


def measure(materials: Materials, done: Set[str]) -> Iterator[StudyRow]:
    """A row for each question: its passages, whether each is the gold page, and what each judge makes of it.

    Questions whose first gold source is not in the collection have no passages to tell apart and no row but their id.
    """
    here = opened(materials.home, materials.collection, materials.given)
    depth = materials.settings.depth
    retrieve = here.pipeline(RETRIEVER, {"dense.depth": depth}).retrieve
    own: dict[str, Scorer] = {name: own_judge(here, name) for name in OWN}
    confidence = confidence_of(here)
    titles = gold_titles(here, materials)
    for question in materials.left(done):
        row: dict[str, Any] = {"id": question.id, "question": question.question, "passages": []}
        gold = titles.get(question.id)
        row |= {"split": split_of(question.group or question.id), "gold": gold}
        query = Query(question.question, question.question, depth)
        hits = retrieve(query).kept if gold else ()
        if hits:
            cosines, shares = confidence.absolute.parts(query, hits)
            together = [score.value for score in map(confidence.absolute.combined, cosines, shares)]
            scores: dict[str, Sequence[float | None]] = {COSINE: cosines, SHARE: shares, CONFIDENCE: together}
            for name, scorer in own.items():
                scores[name] = [None if score is None else score.value for score in scorer(query, hits).scores]
            row["passages"] = [
                {
                    "source": hit.chunk.source,
                    "title": hit.chunk.title,
                    "gold": hit.chunk.title == gold,
                    "scores": {name: values[at] for name, values in scores.items()},
                }
                for at, hit in enumerate(hits)
            ]
        yield row


def own_judge(here: Opened, name: str) -> Scorer:
    """Our local or trained judge."""
    settings = here.configured("crag", {"judge": name})
    assert isinstance(settings, JudgeSettings)
    return evaluator(settings, here.parts, here.table(RETRIEVER))[0]


def confidence_of(here: Opened) -> ConfidenceJudge:
    """ECRAG's confidence, over the passages that were retrieved here."""
    settings = here.configured("ecrag", {"judge": "kdm"})
    assert isinstance(settings, EcragSettings)
    judge, _, _ = judged(settings, here.parts, here.table(RETRIEVER))
    assert isinstance(judge, ConfidenceJudge)
    return judge


def gold_titles(here: Opened, materials: Materials) -> dict[str, str]:
    """Question id to the title of its first gold source, where the collection has that source."""
    titles: dict[str, str] = {}
    others: list[tuple[str, Sequence[str], str]] = []
    for record in here.collection.documents():
        titles |= dict.fromkeys((record.source, *record.also), record.title)
        others.append((record.source, record.also, record.title))
    found = {}
    for question in materials.dataset.questions:
        if not question.gold:
            continue
        source = question.gold[0].source
        title = titles.get(source) or next((t for name, also, t in others if matches(source, name, also)), "")
        if title:
            found[question.id] = title
    if not found:
        raise UsageError(
            "none of the questions has its first gold source in the collection",
            subject=materials.dataset.spec,
            next_step="index the passages that the questions name, or name another collection",
        )
    return found


# --- what the rows say ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Told:
    """What is said of one judge."""

    threshold: float | None
    """Score from which a passage is told to be gold; None without tune questions."""
    accuracy: Interval
    balanced: float | None
    """Mean of the shares of gold and of other passages that are told right."""
    auroc: Interval
    ece: Interval


def section(rows: Sequence[StudyRow], study: Study) -> Section:
    """Table 4 with our judges."""
    asked = [row for row in rows if row["passages"]]
    tune, final = ([row for row in asked if row["split"] == split] for split in ("tune", "final"))
    passages = [one for row in asked for one in row["passages"]]
    share = sum(one["gold"] for one in passages) / len(passages) if passages else 0.0
    text = [
        f"n = {len(asked)} questions with {len(passages)} retrieved passages, {100 * share:.1f} % of them from the "
        f"gold page ({len(rows) - len(asked)} questions without their gold page in the collection are left out). "
        f"Thresholds are chosen on {len(tune)} tune questions and told on {len(final)} final ones; AUROC and "
        "calibration error are over the final ones too.",
        "Accuracy depends on how many passages are gold: always saying no is right in the share of the others, and "
        "the published accuracies, whose share is not given, cannot be set against ours without it. The label is a "
        "title: a passage elsewhere that answers counts as wrong, and a judge that only matches names does well.",
    ]
    if not tune or not final:
        text.append("There are no questions of the tune or of the final split: no accuracy can be told.")
    judges = list(passages[0]["scores"]) if passages else []
    told = {judge: tell(judge, tune, final, study.seed) for judge in judges}
    figures = [
        Figure(
            "evaluator-accuracy",
            "Accuracy of retrieval evaluators",
            partial(draw, told, no_gold(final, study.seed)),
            len(final),
            "Hollow: as published (CRAG v3, Table 4), on other passages. Bars: 95 % intervals over the questions.",
        )
    ]
    published = Table(
        "As published: CRAG v3, Table 4", ("evaluator", "accuracy"), PUBLISHED, "The share of positives is not given."
    )
    tables = (judge_table(told, no_gold(final, study.seed), len(final)), published)
    return Section(study.title, text, tables, figures if told and tune and final else ())


def tell(judge: str, tune: Sequence[StudyRow], final: Sequence[StudyRow], seed: int) -> Told:
    """Threshold from the tune questions, the rest from the final ones."""
    threshold = best_threshold(forecasts(judge, tune))
    told = forecasts(judge, final)
    right = None if threshold is None else [share_right(forecasts(judge, [row]), threshold) for row in final]
    return Told(
        threshold,
        mean_of(right or [], seed),
        None if threshold is None else balanced(told, threshold),
        auroc_interval(told, seed=seed),
        ece_interval(told, seed=seed),
    )


def forecasts(judge: str, rows: Sequence[StudyRow]) -> list[Forecast]:
    """A judge's scores and whether the passages were gold; those it could not score are left out."""
    return [
        Forecast(one["scores"][judge], float(one["gold"]))
        for row in rows
        for one in row["passages"]
        if one["scores"][judge] is not None
    ]


def best_threshold(found: Sequence[Forecast]) -> float | None:
    """The score from which to say yes that is right most often; the highest of equals; above all scores for never."""
    if not found:
        return None
    ordered = sorted(found, key=lambda one: -one.probability)
    best = right = sum(one.outcome == 0 for one in ordered)
    threshold = float("inf")
    for at, one in enumerate(ordered):
        right += 1 if one.outcome else -1
        last = at + 1 == len(ordered) or ordered[at + 1].probability < one.probability
        if last and right > best:
            best, threshold = right, one.probability
    # The score itself rather than the middle to the next one: it was seen. "Never" is written as a score that none has.
    return threshold if threshold != float("inf") else ordered[0].probability + 1.0


def share_right(found: Sequence[Forecast], threshold: float) -> float | None:
    """Share of the passages that are told right."""
    right = [(one.probability >= threshold) == bool(one.outcome) for one in found]
    return sum(right) / len(right) if right else None


def balanced(found: Sequence[Forecast], threshold: float) -> float | None:
    """Mean of the shares told right of both kinds; None where one kind is missing."""
    kinds = [share_right([one for one in found if one.outcome == kind], threshold) for kind in (1.0, 0.0)]
    known = [share for share in kinds if share is not None]
    return sum(known) / 2 if len(known) == 2 else None


def no_gold(rows: Sequence[StudyRow], seed: int) -> Interval:
    """Accuracy of always saying no."""
    return mean_of([sum(not one["gold"] for one in row["passages"]) / len(row["passages"]) for row in rows], seed)


def judge_table(told: Mapping[str, Told], never: Interval, n: int) -> Table:
    """One row a judge."""
    rows: list[Sequence[Cell]] = [(ALWAYS_NO, None, shown(never), 0.5 if n else None, None, None)]
    for judge, one in told.items():
        threshold = None if one.threshold is None else round(one.threshold, 3)
        even = None if one.balanced is None else round(one.balanced, 3)
        rows.append((judge, threshold, shown(one.accuracy), even, shown(one.auroc), shown(one.ece)))
    columns = ("judge", "threshold", "accuracy", "balanced accuracy", "AUROC", "ECE")
    note = (
        f"n = {n} final questions. Intervals are 95 %, bootstrap: of accuracy over questions, of AUROC and ECE over "
        "passages, as if those of one question did not hang together. ECE takes the scores as probabilities, which "
        "cosine, share and confidence do not claim to be."
    )
    return Table(f"Is it the gold page? n = {n}", columns, rows, note)


def draw(told: Mapping[str, Told], never: Interval, axes: Axes) -> None:
    """Accuracies with intervals; the published ones hollow."""
    names = [ALWAYS_NO, *told, *(name for name, _ in PUBLISHED)]
    for place, one in enumerate([never, *(one.accuracy for one in told.values())]):
        if one.value is None or one.low is None or one.high is None:
            continue
        axes.barh(place, one.value, xerr=[[one.value - one.low], [one.high - one.value]], color="C0", capsize=2)
    for place, (_, accuracy) in enumerate(PUBLISHED, start=1 + len(told)):
        axes.barh(place, accuracy, fill=False)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("accuracy")


KIND = Kind("evaluator", "Judges as retrieval evaluators", Settings, recipes_of, measure, section)
