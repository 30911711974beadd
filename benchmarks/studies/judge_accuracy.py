"""How well judges tell the passage that is about the question's subject from the others that were retrieved.

CRAG (arXiv:2401.15884v3), Table 4: accuracy of its retrieval evaluator on PopQA. As in its released code, a passage is
positive when its title is that of the question's subject page, and ten passages are judged for each question. The
threshold of each judge is chosen on the tune fifth of the questions and told on the final one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Any

from pydantic import Field

from benchmarks.studies.study import Cells, Findings, Materials, Opened, Row, Study, Table, mean_of, spread
from thresher.errors import UsageError
from thresher.protocols import Scorer
from thresher.recipes.judges import evaluator
from thresher.recipes.settings import JudgeSettings
from thresher.settings import Frozen
from thresher.types import Query
from thresher_evals.dataset import matches, split_of
from thresher_evals.stats import Forecast, auroc_interval, ece_interval
from thresher_methods.confidence import ConfidenceJudge
from thresher_methods.ecrag import judged
from thresher_methods.settings import EcragSettings

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


def measure(materials: Materials, done: Set[str]) -> Iterator[Row]:
    """A row for each question: its passages, whether each is the gold page, and what each judge makes of it.

    Questions whose first gold source is not in the collection have no passages to tell apart and no row but their id.
    """
    here = Opened.of(materials)
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
            cosines, shares = confidence.absolute_parts(query, hits, confidence.lexical(query, hits))
            together = [score.value for score in map(confidence.absolute, cosines, shares)]
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


def tell(rows: Sequence[Row], settings: Settings, seed: int) -> Findings:
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
    never = [sum(not one["gold"] for one in row["passages"]) / len(row["passages"]) for row in final]
    cells: list[Cells] = [
        {"judge": ALWAYS_NO, **spread("accuracy", mean_of(never, seed)), "balanced accuracy": 0.5 if final else None},
        *(judged_cells(judge, tune, final, seed) for judge in judges),
    ]
    note = (
        f"n = {len(final)} final questions. Intervals are 95 %, bootstrap: of accuracy over questions, of AUROC and "
        "ECE over passages, as if those of one question did not hang together. ECE takes the scores as probabilities, "
        "which cosine, share and confidence do not claim to be."
    )
    published: list[Cells] = [{"evaluator": name, "accuracy": accuracy} for name, accuracy in PUBLISHED]
    unsaid = "On other passages; the share of positives is not given."
    return Findings(
        text,
        (
            Table("judges", f"Is it the gold page? n = {len(final)}", cells, note),
            Table("published", "As published: CRAG v3, Table 4", published, unsaid),
        ),
    )


def judged_cells(judge: str, tune: Sequence[Row], final: Sequence[Row], seed: int) -> Cells:
    """A judge's threshold from the tune questions, the rest from the final ones.

    Balanced accuracy is the mean of the shares of gold and of other passages that are told right.
    """
    threshold = best_threshold(forecasts(judge, tune))
    found = forecasts(judge, final)
    right = [] if threshold is None else [share_right(forecasts(judge, [row]), threshold) for row in final]
    return {
        "judge": judge,
        "threshold": threshold,
        **spread("accuracy", mean_of(right, seed)),
        "balanced accuracy": None if threshold is None else balanced(found, threshold),
        **spread("AUROC", auroc_interval(found, seed=seed)),
        **spread("ECE", ece_interval(found, seed=seed)),
    }


def forecasts(judge: str, rows: Sequence[Row]) -> list[Forecast]:
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


STUDY = Study(
    "evaluator",
    "Judges as retrieval evaluators",
    Settings,
    lambda settings: (RETRIEVER, "ecrag", "crag"),
    measure,
    tell,
)
