"""Judges a run's answers, each once, and keeps judgements beside its rows: judgements/RECIPE.jsonl, and judge.json.

Numbers of different judges, or of different versions of prompts, are never mixed; nothing is judged twice. Ratings by
people are in ratings/ratings.json.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

from pydantic.dataclasses import dataclass as model

from thresher.errors import ProviderError, UnknownSetting, UsageError
from thresher.models.running import in_parallel
from thresher.protocols import Progress
from thresher_evals.judges.base import FACTS, UNSUPPORTED, Case, Judge, judged
from thresher_evals.judges.factscore import factscore
from thresher_evals.metrics.registry import parse
from thresher_evals.rows import Row, RowLog, fingerprint, read_rows, read_run


@model(frozen=True)
class Judgement:
    """A judge's result for the answer to one question: one line of judgements/RECIPE.jsonl."""

    id: str
    """Of the question."""
    judge: str
    prompts: str
    """Version of the prompts or rules; numbers of different versions are not comparable."""
    answer: str
    """Hash of the judged answer, see `answer_of`."""
    measures: tuple[str, ...]
    """Measures that were judged, also inapplicable and unreadable ones."""
    values: Mapping[str, float] = field(default_factory=dict)
    detail: Mapping[str, Any] = field(default_factory=dict)
    failed: tuple[str, ...] = ()
    """Measures with unreadable replies, after one retry each."""

    @property
    def numbers(self) -> dict[str, float]:
        """The values, and `judge_failed`: 1 if a reply was unreadable."""
        return {**self.values, "judge_failed": float(bool(self.failed))}

    def merged(self, later: Judgement) -> Judgement:
        """Both combined; only the later one if the answer or the prompts changed."""
        if (self.answer, self.prompts) != (later.answer, later.prompts):
            return later
        return replace(
            later,
            measures=tuple(dict.fromkeys([*self.measures, *later.measures])),
            values={**self.values, **later.values},
            detail={**self.detail, **later.detail},
            failed=tuple(dict.fromkeys([*self.failed, *later.failed])),
        )


def answer_of(row: Row) -> str:
    """Hash of a row's judged content: the answer and its context."""
    reply = None if row.reply is None else [row.reply.text, row.reply.abstained]
    context = None if row.context is None else [piece.text for piece in row.context]
    return fingerprint([row.question.question, reply, context])[:16]


# --- the folder -------------------------------------------------------------------------------------------------------


def judgement_log(directory: Path) -> RowLog[Judgement]:
    """The judgements of a run, a file for each recipe."""
    return RowLog(
        directory / "judgements", Judgement, head="judge.json", needed=("judges",), lines="{}.jsonl", what="judge"
    )


def judgements_of(directory: Path, recipe: str) -> list[Judgement]:
    """One judgement per question and judge: later lines add measures for the same answer."""
    found: dict[tuple[str, str], Judgement] = {}
    for one in judgement_log(directory).rows(recipe):
        key = (one.id, one.judge)
        found[key] = found[key].merged(one) if key in found else one
    return list(found.values())


def of_answers(judgements: Iterable[Judgement], rows: Iterable[Row]) -> list[Judgement]:
    """The judgements of answers in the rows."""
    answers = {(row.question.id, answer_of(row)) for row in rows}
    return [one for one in judgements if (one.id, one.answer) in answers]


def read_judgements(directory: Path, recipe: str) -> dict[str, dict[str, float]]:
    """Question id to the last judge's numbers, for answers that are still in the rows; empty if there are none."""
    every = judgements_of(directory, recipe)
    if not every:
        return {}
    judge = read_judges(directory).get("latest") or every[-1].judge
    latest = [one for one in every if one.judge == judge]
    return {one.id: one.numbers for one in of_answers(latest, read_rows(directory, recipe))}


def read_judges(directory: Path) -> dict[str, Any]:
    """judge.json: `latest`, and `judges` by name; empty if nothing was judged."""
    log = judgement_log(directory)
    return log.read_head() if log.head.is_file() else {}


def remember_judge(directory: Path, name: str, described: Mapping[str, Any]) -> None:
    """Record the current judge in judge.json, beside the earlier ones."""
    judges = {**read_judges(directory).get("judges", {}), name: dict(described)}
    judgement_log(directory).write_head({"latest": name, "judges": judges})


def rows_of(directory: Path, recipes: Sequence[str] | None = None) -> dict[str, list[Row]]:
    """The rows of these recipes of a run, or of all. Raises UsageError for a run without rows, UnknownSetting."""
    known = read_run(directory)["recipes"]
    for recipe in recipes or ():
        if recipe not in known:
            raise UnknownSetting(recipe, known, kind="recipe of this run")
    rows = {recipe: read_rows(directory, recipe) for recipe in dict.fromkeys(recipes or known)}
    if not any(rows.values()):
        raise UsageError("the run has no rows yet", subject=str(directory), next_step="finish it with `resume`")
    return rows


def judged_rows(directory: Path, recipe: str) -> list[Row]:
    """The rows of a recipe with the numbers of their judgements."""
    judgements = read_judgements(directory, recipe)
    return [replace(row, judged=judgements.get(row.question.id, {})) for row in read_rows(directory, recipe)]


# --- ratings by people ------------------------------------------------------------------------------------------------

RATINGS = Path("ratings", "ratings.json")
"""In the folder of a run."""


def read_ratings(directory: Path) -> dict[str, Any]:
    """ratings.json of a run; empty where there is none."""
    path = directory / RATINGS
    try:
        ratings: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        if path.is_file() and not {"raters", "recipes", "agreement"} <= set(ratings):
            raise ValueError("not ratings")
    except (OSError, ValueError, TypeError) as error:
        next_step = "read the sheets again: thresher eval ratings"
        raise UsageError("damaged", subject=str(path), next_step=next_step) from error
    return ratings


# --- judging a run, each answer once ----------------------------------------------------------------------------------


PATIENCE = 3
"""Consecutive failures of the judge's server before judging stops."""


@dataclass(slots=True)
class Done:
    """Counts of one run of a judge."""

    judged: dict[str, int] = field(default_factory=dict)
    """Recipe to answers judged now."""
    skipped: dict[str, int] = field(default_factory=dict)
    """Recipe to answers judged earlier."""
    unreached: dict[str, list[str]] = field(default_factory=dict)
    """Recipe to errors of the judge's server; these answers can be judged again."""


def generators_of(directory: Path, rows: Mapping[str, Sequence[Row]]) -> list[str]:
    """The models that wrote the answers, from the rows and the settings of the run."""
    settings = read_run(directory)["settings"]
    written = [row.generator for each in rows.values() for row in each]
    set_up = [settings.get(recipe, {}).get("llm.model") for recipe in rows]
    return sorted({str(one) for one in (*written, *set_up) if one})


def missing(
    rows: Sequence[Row], known: Sequence[Judgement], *, judge: str, prompts: str, measures: Sequence[str]
) -> list[tuple[Row, tuple[str, ...]]]:
    """The rows with measures that this judge has not judged, with these measures."""
    done = {(one.id, one.answer): set(one.measures) for one in known if (one.judge, one.prompts) == (judge, prompts)}
    wanted = [
        (row, tuple(name for name in measures if name not in done.get((row.question.id, answer_of(row)), ())))
        for row in rows
    ]
    return [(row, names) for row, names in wanted if names]


def judge_run(
    directory: Path,
    judge: Judge,
    rows: Mapping[str, Sequence[Row]],
    measures: Sequence[str],
    *,
    gamma: float,
    references: Mapping[str, Sequence[str]],
    progress: Progress = lambda _: None,
) -> Done:
    """Judge the missing measures; each answer's line is written at once.

    An answer at which the judge's server fails is left for the next run; after `PATIENCE` consecutive failures the
    error is raised. Raises ProviderError, ModelError, and StoreError if another process is judging the run.
    """
    log, done, lock = judgement_log(directory), Done(), Lock()
    failing = 0

    def judge_one(recipe: str, row: Row, names: Sequence[str]) -> None:
        nonlocal failing
        try:
            judgement = judgement_of(judge, Case(row, references.get(row.question.id, ())), names)
        except ProviderError as error:
            with lock:
                done.unreached[recipe].append(f"{row.question.id}: {error}")
                failing += 1
                if failing >= PATIENCE:
                    raise
        else:
            log.add(judgement, recipe)
            with lock:
                failing = 0
        with lock:
            progress(1)

    with log.locked():
        remember_judge(directory, judge.name, {**judge.described, "measures": list(judge.looks)})
        for recipe, answers in rows.items():
            known = judgements_of(directory, recipe)
            for changed in regraded(known, judge, gamma) if FACTS in measures else ():
                log.add(changed, recipe)
            todo = missing(answers, known, judge=judge.name, prompts=judge.prompts, measures=measures)
            done.skipped[recipe], done.unreached[recipe], failing = len(answers) - len(todo), [], 0
            progress(done.skipped[recipe])
            in_parallel([partial(judge_one, recipe, row, names) for row, names in todo], workers=judge.workers)
            done.judged[recipe] = len(todo) - len(done.unreached[recipe])
    return done


def judgement_of(judge: Judge, case: Case, measures: Sequence[str]) -> Judgement:
    """The judgement of one answer."""
    outcomes = {measure: judged(judge, measure, case) for measure in measures}
    return Judgement(
        id=case.row.question.id,
        judge=judge.name,
        prompts=judge.prompts,
        answer=answer_of(case.row),
        measures=tuple(measures),
        values={name: value for outcome in outcomes.values() for name, value in outcome.values.items()},
        detail={measure: dict(outcome.detail) for measure, outcome in outcomes.items() if outcome.detail},
        failed=tuple(measure for measure, outcome in outcomes.items() if outcome.failed),
    )


def regraded(known: Sequence[Judgement], judge: Judge, gamma: float) -> Iterator[Judgement]:
    """Judgements whose factscore used another gamma, computed again from their stored counts."""
    for one in known:
        facts = one.detail.get(FACTS, {})
        if one.judge == judge.name and FACTS in one.values and facts["gamma"] != gamma:
            value = factscore(facts["supported"], facts["facts"], gamma)
            detail = {**one.detail, FACTS: {**facts, "gamma": gamma}}
            yield replace(one, values={**one.values, FACTS: value}, detail=detail)


# --- results ----------------------------------------------------------------------------------------------------------

SCORED = (
    "unsupported",
    "factscore",
    "respond_ratio",
    "judged_correct",
    "judged_relevance",
    "judged_P@5",
    "judged_nDCG@5",
    "likert_correctness",
    "likert_coherence",
    "likert_relevance",
)
"""Measures computed from judgements; see `thresher_evals.metrics.registry`."""


def summary(directory: Path, judge: Judge, rows: Mapping[str, Sequence[Row]], *, seed: int = 0) -> dict[str, Any]:
    """Recipe to the mean of each number with its interval, failures, and caveats."""
    return {recipe: summed(directory, judge, recipe, answers, seed=seed) for recipe, answers in rows.items()}


def summed(directory: Path, judge: Judge, recipe: str, rows: Sequence[Row], *, seed: int) -> dict[str, Any]:
    """The measures of `eval score` over this judge's judgements of answers in the rows."""
    mine = [one for one in judgements_of(directory, recipe) if (one.judge, one.prompts) == (judge.name, judge.prompts)]
    current = of_answers(mine, rows)
    values = {one.id: one.numbers for one in current}
    scored = [replace(row, judged=values.get(row.question.id, {})) for row in rows]
    intervals = {name: parse(name).summarise(scored, seed=seed) for name in SCORED}
    support = [one.detail.get(UNSUPPORTED, {}) for one in current]
    return {
        "values": {name: interval.to_dict() for name, interval in intervals.items() if interval.n},
        "judged": len(current),
        "judge_failed": sum(bool(one.failed) for one in current),
        "sentences": sum(int(one.get("sentences", 0)) for one in support),
        "verbatim": sum(int(one.get("verbatim", 0)) for one in support),
        "context_is_quotes": sum(one.get("context") == "quotes of the citations" for one in support),
        "context_not_known": sum(one.get("context") == "not known" for one in support),
    }
