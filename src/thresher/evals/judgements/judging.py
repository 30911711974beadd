"""Judges the answers of a run and keeps what was said beside its rows; nothing is judged twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any

from thresher.errors import ProviderError, UnknownSetting, UsageError
from thresher.evals.datasets import load
from thresher.evals.factscore_penalty import factscore
from thresher.evals.folder import held, read_run, rows_path
from thresher.evals.judgements.judged import (
    FOLDER,
    Book,
    Judgement,
    answer_of,
    judgements_of,
    missing,
    of_answers,
    remember_judge,
    values_of,
)
from thresher.evals.judgements.judges import FACTS, Case, Judge, judged
from thresher.evals.judgements.knowledge import Knowledge
from thresher.evals.measures import parse
from thresher.evals.rows import Row, read_rows
from thresher.models.structured import in_parallel
from thresher.protocols import Progress

PATIENCE = 3
"""Answers in a row that the judge's server fails at before judging stops: it is not the answers then."""

SCORED = (
    "unsupported",
    "factscore",
    "respond_ratio",
    "judged_correct",
    "judged_relevance",
    "likert_correctness",
    "likert_coherence",
    "likert_relevance",
)
"""The measures that are made of what judges say; see `thresher.evals.measures`."""

References = Mapping[str, tuple[str, ...]]


@dataclass(slots=True)
class Done:
    """What a judging did."""

    judged: dict[str, int] = field(default_factory=dict)
    """Recipe to the answers that were judged now."""
    skipped: dict[str, int] = field(default_factory=dict)
    """Recipe to the answers that had been judged before."""
    unreached: dict[str, list[str]] = field(default_factory=dict)
    """Recipe to the errors of the judge's server; those answers can be judged again."""

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {"judged": self.judged, "skipped": self.skipped, "unreached": self.unreached}


def rows_of(directory: Path, recipes: Sequence[str] | None = None) -> dict[str, list[Row]]:
    """The rows of the chosen recipes of a run, or of all. Raises UsageError for a run without rows."""
    known = read_run(directory)["recipes"]
    for recipe in recipes or ():
        if recipe not in known:
            raise UnknownSetting(recipe, known, kind="recipe of this run")
    rows = {recipe: read_rows(rows_path(directory, recipe)) for recipe in dict.fromkeys(recipes or known)}
    if not any(rows.values()):
        raise UsageError("the run has no rows yet", subject=str(directory), next_step="finish it with --resume")
    return rows


def generators_of(directory: Path, rows: Mapping[str, Sequence[Row]]) -> list[str]:
    """What wrote the answers: the rows say, and the settings of the run for rows that do not."""
    settings = read_run(directory)["settings"]
    told = [row.generator for each in rows.values() for row in each]
    set_up = [settings.get(recipe, {}).get("llm.model") for recipe in rows]
    return sorted({str(one) for one in (*told, *set_up) if one})


def references_of(directory: Path, rows: Mapping[str, Sequence[Row]]) -> References:
    """The texts that long answers are checked against, from the run's dataset; nothing where no question has a topic.

    Raises UsageError where the dataset's files are not those that were asked.
    """
    if not any(row.question.topic for each in rows.values() for row in each):
        return {}
    asked = read_run(directory)["dataset"]
    dataset = load(asked["spec"], split=asked.get("split", "all"))
    if dataset.sha256 != asked["sha256"]:
        raise UsageError(
            f"is not the file that was asked (was {asked['sha256']:.12}, now {dataset.sha256:.12})",
            subject=asked["spec"],
            next_step="put the old file back, or judge without --measure factscore",
        )
    return dataset.references


def judge_run(
    directory: Path,
    judge: Judge,
    rows: Mapping[str, Sequence[Row]],
    measures: Sequence[str],
    *,
    gamma: float,
    references: References,
    progress: Progress = lambda _: None,
) -> Done:
    """Judge what this judge has not judged yet, a line for each answer as soon as it is judged.

    An answer at which the judge's server fails is left for the next time; after `PATIENCE` of them in a row the
    failure is raised. Raises ProviderError, ModelError, and StoreError where another process is judging the run.
    """
    knowledge = {id: Knowledge(texts) for id, texts in references.items()}
    done = Done()
    with held(directory / FOLDER):
        remember_judge(directory, judge.name, {**judge.described, "measures": list(judge.looks)})
        for recipe, answers in rows.items():
            book = Book(directory, recipe)
            known = judgements_of(directory, recipe)
            for changed in regraded(known, judge, gamma) if FACTS in measures else ():
                book.add(changed)
            todo = missing(answers, known, judge=judge.name, prompts=judge.prompts, measures=measures)
            done.skipped[recipe] = len(answers) - len(todo)
            progress(done.skipped[recipe])
            desk = Desk(judge, book, knowledge, progress)
            in_parallel([desk.task(row, names) for row, names in todo], workers=judge.workers)
            done.judged[recipe] = len(todo) - len(desk.unreached)
            done.unreached[recipe] = desk.unreached
    return done


class Desk:
    """Where the answers of one recipe are judged, several at a time."""

    def __init__(self, judge: Judge, book: Book, knowledge: Mapping[str, Knowledge], progress: Progress) -> None:
        self.unreached: list[str] = []
        self._judge, self._book, self._knowledge, self._progress = judge, book, knowledge, progress
        self._lock = Lock()
        self._failing = 0

    def task(self, row: Row, measures: Sequence[str]) -> Callable[[], None]:
        """Judging one answer, to be called later."""
        return lambda: self._judged(row, measures)

    def _judged(self, row: Row, measures: Sequence[str]) -> None:
        case = Case(row, self._knowledge.get(row.question.id))
        try:
            judgement = judgement_of(self._judge, case, measures)
        except ProviderError as error:
            with self._lock:
                self.unreached.append(f"{row.question.id}: {error}")
                self._failing += 1
                if self._failing >= PATIENCE:
                    raise
        else:
            self._book.add(judgement)
            with self._lock:
                self._failing = 0
        with self._lock:
            self._progress(1)


def judgement_of(judge: Judge, case: Case, measures: Sequence[str]) -> Judgement:
    """Everything a judge says of one answer."""
    outcomes = {measure: judged(judge, measure, case) for measure in measures}
    return Judgement(
        case.row.question.id,
        judge.name,
        judge.prompts,
        answer_of(case.row),
        tuple(measures),
        {name: value for outcome in outcomes.values() for name, value in outcome.values.items()},
        {measure: dict(outcome.detail) for measure, outcome in outcomes.items() if outcome.detail},
        tuple(measure for measure, outcome in outcomes.items() if outcome.failed),
    )


def regraded(known: Sequence[Judgement], judge: Judge, gamma: float) -> list[Judgement]:
    """The judgements whose factscore was made with another gamma, made again from the counts that were kept."""
    made = []
    for one in known:
        facts = one.detail.get(FACTS, {})
        if one.judge == judge.name and FACTS in one.values and facts["gamma"] != gamma:
            value = factscore(facts["supported"], facts["facts"], gamma)
            detail = {**one.detail, FACTS: {**facts, "gamma": gamma}}
            made.append(replace(one, values={**one.values, FACTS: value}, detail=detail))
    return made


# --- what came of it --------------------------------------------------------------------------------------------------


def summary(directory: Path, judge: Judge, rows: Mapping[str, Sequence[Row]], *, seed: int = 0) -> dict[str, Any]:
    """Recipe to the mean of each number with its interval, what failed, and what must be known beside them."""
    return {recipe: summed(directory, judge, recipe, answers, seed=seed) for recipe, answers in rows.items()}


def summed(directory: Path, judge: Judge, recipe: str, rows: Sequence[Row], *, seed: int) -> dict[str, Any]:
    """The measures of `eval score` over what this judge said of the answers that are in the rows now."""
    mine = [one for one in judgements_of(directory, recipe) if (one.judge, one.prompts) == (judge.name, judge.prompts)]
    said = of_answers(mine, rows)
    values = {one.id: values_of(one) for one in said}
    scored = [replace(row, judged=values.get(row.question.id, {})) for row in rows]
    intervals = {name: parse(name).summarise(scored, seed=seed) for name in SCORED}
    told = {name: interval.to_dict() for name, interval in intervals.items() if interval.n}
    support = [one.detail.get("unsupported", {}) for one in said]
    return {
        "values": told,
        "judged": len(said),
        "judge_failed": sum(bool(one.failed) for one in said),
        "sentences": sum(int(one.get("sentences", 0)) for one in support),
        "verbatim": sum(int(one.get("verbatim", 0)) for one in support),
        "context_is_quotes": sum(one.get("context") == "quotes of the citations" for one in support),
        "context_not_known": sum(one.get("context") == "not known" for one in support),
    }
