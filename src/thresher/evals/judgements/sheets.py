"""The sheet on which people rate answers: no recipe on it, random order, random codes; the key stays with the run."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from thresher.errors import UsageError
from thresher.evals.judgements.judged import answer_of
from thresher.evals.judgements.judges import Case
from thresher.evals.rows import Row
from thresher.evals.whole_files import write_whole

FOLDER, KEY = "ratings", "KEY.json"

DIMENSIONS = ("correctness", "coherence", "relevance")
"""What ECRAG's evaluation (section 6.2) has people rate, from 1 to 5."""

CODE, COMMENT = "code", "comment"

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Without those that are read as one another: I, O, 0, 1."""

CODE_LENGTH = 6

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula; texts of documents must not become one."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """What was written."""

    key: Path
    answers: int
    questions: int


def write_sheet(
    directory: Path,
    rows: Mapping[str, Sequence[Row]],
    out: Path,
    *,
    sample: int | None = None,
    seed: int = 0,
    context: bool = False,
) -> Sheet:
    """Write the answers to `sample` questions, of every recipe that gave one, and add their codes to the key.

    Refusals are left out: there is nothing to rate. The same seed makes the same sheet.
    """
    if out.exists():
        raise UsageError("is there already", subject=str(out), next_step="give another --out: it may hold ratings")
    cases = {
        (recipe, row.question.id): case for recipe, each in rows.items() for row in each if (case := Case(row)).text
    }
    if not cases:
        raise UsageError("no answers in the run", subject=str(directory), next_step="refusals cannot be rated")
    source = random.Random(seed)
    questions = sorted({id for _, id in cases})
    chosen = set(questions if sample is None else source.sample(questions, min(sample, len(questions))))
    order = sorted(place for place in cases if place[1] in chosen)
    source.shuffle(order)
    key = read_key(directory)
    codes = {place: fresh_code(source) for place in order}
    for (recipe, id), code in codes.items():
        entry = {"recipe": recipe, "id": id, "answer": answer_of(cases[recipe, id].row)}
        if key.setdefault(code, entry) != entry:
            raise UsageError("its codes are in use", subject=f"--seed {seed}", next_step="give another --seed")
    path = write_key(directory, key)  # before the sheet, whose codes nobody could read without it
    columns = [CODE, "question", *(["context"] if context else []), "answer", *DIMENSIONS, COMMENT]
    try:
        with out.open("x", encoding="utf-8-sig", newline="") as stream:  # the mark tells spreadsheets that it is UTF-8
            lines = csv.DictWriter(stream, columns, restval="")
            lines.writeheader()
            for place, code in codes.items():
                case = cases[place]
                told = {CODE: code, "question": case.row.question.question, "answer": case.text}
                if context:
                    told["context"] = "\n\n".join(case.context or ())
                lines.writerow({name: harmless(text) for name, text in told.items()})
    except OSError as error:
        raise UsageError(f"cannot be written ({error.strerror})", subject=str(out), next_step="check --out") from error
    return Sheet(path, len(codes), len(chosen))


def write_key(directory: Path, key: Mapping[str, Mapping[str, str]]) -> Path:
    """Replace the key as a whole: ratings of earlier sheets mean nothing without it."""
    path = directory / FOLDER / KEY
    path.parent.mkdir(exist_ok=True)
    write_whole(path, (json.dumps(key, indent=1, ensure_ascii=False) + "\n").encode())
    return path


def read_key(directory: Path) -> dict[str, dict[str, str]]:
    """Code to recipe, question id and hash of the answer; empty where no sheet was written."""
    path = directory / FOLDER / KEY
    if not path.is_file():
        return {}
    try:
        key = json.loads(path.read_text(encoding="utf-8"))
        if not all({"recipe", "id", "answer"} <= set(entry) for entry in key.values()):
            raise ValueError("not a key")
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise UsageError("damaged", subject=str(path), next_step="put it back: ratings mean nothing without") from error
    return dict(key)


def fresh_code(source: random.Random) -> str:
    """A code that says nothing about the answer."""
    return "".join(source.choices(LETTERS, k=CODE_LENGTH))


def harmless(text: str) -> str:
    """The text, set off by an apostrophe where a spreadsheet would calculate it."""
    return f"'{text}" if text.startswith(FORMULA) else text
