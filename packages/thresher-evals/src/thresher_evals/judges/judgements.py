"""Judgements of a run's answers, beside its rows: judgements/RECIPE.jsonl, and judge.json with the judges.

Numbers of different judges, or of different versions of prompts, are never mixed; nothing is judged twice. Ratings by
people are in ratings/ratings.json.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from pydantic.dataclasses import dataclass as model

from thresher.errors import UnknownSetting, UsageError
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
