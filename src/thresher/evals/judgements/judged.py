"""What was judged of a run's answers, kept beside its rows: `judgements/RECIPE.jsonl` and `judgements/judge.json`.

A line is what one judge said of one answer. Lines are added and never rewritten, so a judging that was killed loses at
most the answers it was at, and goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from thresher.errors import UsageError
from thresher.evals.folder import fingerprint, rows_path
from thresher.evals.line_file import LineFile
from thresher.evals.rows import Row, read_rows, whole_lines
from thresher.evals.whole_files import write_whole

FOLDER = "judgements"
JUDGES = "judge.json"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one judge said of the answer to one question."""

    id: str
    """Of the question."""
    judge: str
    prompts: str
    """Version of the prompts or rules: numbers of different versions are not of one kind."""
    answer: str
    """Which answer was judged; see `answer_of`."""
    measures: tuple[str, ...]
    """What was looked at, also where it does not apply to the question or could not be read."""
    values: Mapping[str, float] = field(default_factory=dict)
    detail: Mapping[str, Any] = field(default_factory=dict)
    failed: tuple[str, ...] = ()
    """Measures whose replies could not be read, after one retry each."""

    def to_dict(self) -> dict[str, Any]:
        """JSON form: one line of judgements/RECIPE.jsonl."""
        return {
            "id": self.id,
            "judge": self.judge,
            "prompts": self.prompts,
            "answer": self.answer,
            "measures": list(self.measures),
            "values": dict(self.values),
            "detail": dict(self.detail),
            "failed": list(self.failed),
        }


def read_judgement(line: Mapping[str, Any]) -> Judgement:
    """The judgement that `Judgement.to_dict` described."""
    return Judgement(
        line["id"],
        line["judge"],
        line["prompts"],
        line["answer"],
        tuple(line["measures"]),
        {str(name): float(value) for name, value in line["values"].items()},
        line["detail"],
        tuple(line["failed"]),
    )


def answer_of(row: Row) -> str:
    """Hash of what is judged in a row: the answer and what it was written from."""
    reply = None if row.reply is None else [row.reply.text, row.reply.abstained]
    context = None if row.context is None else [piece.text for piece in row.context]
    return fingerprint([row.question.question, reply, context])[:16]


def judgements_path(directory: Path, recipe: str) -> Path:
    """Where the judgements of a recipe's answers are; a name that is no file name is escaped, as for its rows."""
    return directory / FOLDER / f"{quote(recipe, safe=' ')}.jsonl"


# --- reading ----------------------------------------------------------------------------------------------------------


def read_judgements(directory: Path, recipe: str) -> dict[str, dict[str, float]]:
    """Question id to what was measured of its answer, by the judge that was asked last; nothing where none was.

    Numbers of two judges are never mixed, and what was said of an answer that is no longer in the rows is left out.
    """
    every = judgements_of(directory, recipe)
    if not every:
        return {}
    judge = latest_judge(directory) or every[-1].judge
    said = [one for one in every if one.judge == judge]
    return {one.id: values_of(one) for one in of_answers(said, read_rows(rows_path(directory, recipe)))}


def values_of(judgement: Judgement) -> dict[str, float]:
    """The numbers of a judgement, and `judge_failed`: 1 where a reply could not be read."""
    return {**judgement.values, "judge_failed": float(bool(judgement.failed))}


def of_answers(judgements: Iterable[Judgement], rows: Iterable[Row]) -> list[Judgement]:
    """The judgements of the answers that are in the rows."""
    answers = {(row.question.id, answer_of(row)) for row in rows}
    return [one for one in judgements if (one.id, one.answer) in answers]


def judgements_of(directory: Path, recipe: str) -> list[Judgement]:
    """One judgement for each question and judge: later lines add measures to earlier ones of the same answer."""
    path = judgements_path(directory, recipe)
    found: dict[tuple[str, str], Judgement] = {}
    for number, line in enumerate(whole_lines(path), start=1):
        try:
            one = read_judgement(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(
                "not a judgement", subject=f"{path}:{number}", next_step="delete the line and judge again"
            ) from error
        key = (one.id, one.judge)
        found[key] = merged(found[key], one) if key in found else one
    return list(found.values())


def merged(earlier: Judgement, later: Judgement) -> Judgement:
    """Both together; the later one alone where the answer or the prompts have changed since."""
    if (earlier.answer, earlier.prompts) != (later.answer, later.prompts):
        return later
    return Judgement(
        later.id,
        later.judge,
        later.prompts,
        later.answer,
        tuple(dict.fromkeys([*earlier.measures, *later.measures])),
        {**earlier.values, **later.values},
        {**earlier.detail, **later.detail},
        tuple(dict.fromkeys([*earlier.failed, *later.failed])),
    )


def latest_judge(directory: Path) -> str | None:
    """The name of the judge that was asked last; None where none was."""
    latest = read_judges(directory).get("latest")
    return None if latest is None else str(latest)


def read_judges(directory: Path) -> dict[str, Any]:
    """judge.json: `latest`, and under `judges` what each judge of the run is; empty where nothing was judged."""
    path = directory / FOLDER / JUDGES
    if not path.is_file():
        return {}
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(told, dict) or not isinstance(told.get("judges"), dict):
            raise ValueError("not a judge.json")
    except (OSError, ValueError) as error:
        raise UsageError("damaged", subject=str(path), next_step="delete it and judge again") from error
    return told


# --- writing ----------------------------------------------------------------------------------------------------------


def remember_judge(directory: Path, name: str, described: Mapping[str, Any]) -> None:
    """Write into judge.json who judges now; what earlier judges were stays."""
    judges = {**read_judges(directory).get("judges", {}), name: dict(described)}
    folder = directory / FOLDER
    folder.mkdir(exist_ok=True)
    write_whole(folder / JUDGES, (json.dumps({"latest": name, "judges": judges}, indent=2) + "\n").encode())


class Book:
    """Adds judgements to the file of one recipe. Safe to use from several threads."""

    def __init__(self, directory: Path, recipe: str) -> None:
        self._lines = LineFile(judgements_path(directory, recipe))

    def add(self, judgement: Judgement) -> None:
        """One more line, on disk before this returns."""
        self._lines.add(judgement.to_dict())


def missing(
    rows: Sequence[Row], known: Sequence[Judgement], *, judge: str, prompts: str, measures: Sequence[str]
) -> list[tuple[Row, tuple[str, ...]]]:
    """The rows that this judge has not looked at, each with the measures that are missing."""
    done = {(one.id, one.answer): set(one.measures) for one in known if (one.judge, one.prompts) == (judge, prompts)}
    wanted = [
        (row, tuple(name for name in measures if name not in done.get((row.question.id, answer_of(row)), ())))
        for row in rows
    ]
    return [(row, names) for row, names in wanted if names]
