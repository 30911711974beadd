"""Sheets on which people rate answers: without recipes, in random order, with random codes; the run keeps the key."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from statistics import fmean
from typing import Any

from thresher.errors import UsageError
from thresher.home.places import LocalFiles
from thresher_evals.judges.base import Case
from thresher_evals.judges.judgements import RATINGS, answer_of
from thresher_evals.rows import Row, read_run
from thresher_evals.stats import mean_interval

KEY = RATINGS.with_name("KEY.json")

DIMENSIONS = ("correctness", "coherence", "relevance")
"""Rated from 1 to 5, as in ECRAG's evaluation (section 6.2)."""

CODE, COMMENT = "code", "comment"

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Without characters that look alike: I, O, 0, 1."""

CODE_LENGTH = 6

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Starts of formulas in spreadsheets; texts of documents must not become one."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A written sheet."""

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
    """Write the answers to `sample` questions from every recipe, and add their codes to the key.

    Refusals are left out. The same seed makes the same sheet. Raises UsageError.
    """
    if out.exists():
        raise UsageError("is there already", subject=str(out), next_step="give another `out`: it may hold ratings")
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
    codes = {place: "".join(source.choices(LETTERS, k=CODE_LENGTH)) for place in order}
    for (recipe, id), code in codes.items():
        entry = {"recipe": recipe, "id": id, "answer": answer_of(cases[recipe, id].row)}
        if key.setdefault(code, entry) != entry:
            raise UsageError("its codes are in use", subject=f"`seed` {seed}", next_step="give another")
    path = write_key(directory, key)  # before the sheet, whose codes depend on it
    columns = [CODE, "question", *(["context"] if context else []), "answer", *DIMENSIONS, COMMENT]
    try:
        with out.open("x", encoding="utf-8-sig", newline="") as stream:  # with a BOM spreadsheets read UTF-8
            lines = csv.DictWriter(stream, columns, restval="")
            lines.writeheader()
            for place, code in codes.items():
                case = cases[place]
                told = {CODE: code, "question": case.row.question.question, "answer": case.text}
                if context:
                    told["context"] = "\n\n".join(case.context or ())
                lines.writerow({name: harmless(text) for name, text in told.items()})
    except OSError as error:
        raise UsageError(f"cannot be written ({error.strerror})", subject=str(out), next_step="check `out`") from error
    return Sheet(path, len(codes), len(chosen))


def write_key(directory: Path, key: Mapping[str, Mapping[str, str]]) -> Path:
    """Replace the key atomically: ratings of earlier sheets depend on it."""
    LocalFiles(directory).write(str(KEY), (json.dumps(key, indent=1, ensure_ascii=False) + "\n").encode())
    return directory / KEY


def read_key(directory: Path) -> dict[str, dict[str, str]]:
    """Code to recipe, question id and hash of the answer; empty if no sheet was written. Raises UsageError."""
    path = directory / KEY
    if not path.is_file():
        return {}
    try:
        key = json.loads(path.read_text(encoding="utf-8"))
        if not all({"recipe", "id", "answer"} <= set(entry) for entry in key.values()):
            raise ValueError("not a key")
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise UsageError("damaged", subject=str(path), next_step="put it back: ratings mean nothing without") from error
    return dict(key)


def harmless(text: str) -> str:
    """The text, with an apostrophe before it if a spreadsheet would calculate it."""
    return f"'{text}" if text.startswith(FORMULA) else text


# --- agreement of people beyond chance ------------------------------------------------------------------------------


def krippendorff_alpha(units: Sequence[Sequence[int]]) -> float | None:
    """1 - observed disagreement / expected disagreement (Krippendorff 2011, interval data) of each answer's ratings.

    1 is full agreement, 0 is chance. None if undefined: nothing rated twice, or all ratings equal.
    """
    pairable = [unit for unit in units if len(unit) > 1]
    totals = Counter(rating for unit in pairable for rating in unit)
    expected = sum(totals[one] * totals[other] * (one - other) ** 2 for one in totals for other in totals)
    if not expected:
        return None
    observed = sum((one - other) ** 2 / (len(unit) - 1) for unit in pairable for one, other in permutations(unit, 2))
    return 1 - (totals.total() - 1) * observed / expected


# --- filled sheets, read back strictly --------------------------------------------------------------------------------


MIN_RATERS = 2
"""One person's ratings show no agreement."""


def rate(directory: Path, sheets: Sequence[Path]) -> dict[str, Any]:
    """Read all raters' sheets; writes and returns ratings/ratings.json. Raises UsageError.

    `recipes`: the mean of each dimension over answers, after the mean over raters. `agreement`: for each dimension,
    over answers that all rated. `missing`: missing ratings of each rater. `answers`: mean ratings by recipe and
    question id.
    """
    read_run(directory)
    key = read_key(directory)
    if not key:
        raise UsageError(
            "no sheet was written of this run", subject=str(directory), next_step="write one with: thresher eval sheet"
        )
    read = {rater: read_sheet(path, key) for rater, path in raters_of(sheets).items()}
    rated = sorted({code for ratings in read.values() for code in ratings})
    answers: dict[str, dict[str, dict[str, float]]] = {}
    for code in rated:
        given = [ratings.get(code, {}) for ratings in read.values()]
        numbers = {one: [ratings[one] for ratings in given if one in ratings] for one in DIMENSIONS}
        means = {one: fmean(values) for one, values in numbers.items() if values}
        answers.setdefault(key[code]["recipe"], {})[key[code]["id"]] = means
    cells = len(rated) * len(DIMENSIONS)
    found = {
        "raters": list(read),
        "recipes": {
            recipe: {
                one: mean_interval([means[one] for means in of_recipe.values() if one in means]).to_dict()
                for one in DIMENSIONS
            }
            for recipe, of_recipe in sorted(answers.items())
        },
        "agreement": {
            one: agreement(
                [{code: ratings[one] for code, ratings in sheet.items() if one in ratings} for sheet in read.values()]
            )
            for one in DIMENSIONS
        },
        "missing": {rater: cells - sum(map(len, sheet.values())) for rater, sheet in read.items()},
        "answers": answers,
    }
    path = directory / RATINGS
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return found


def raters_of(sheets: Sequence[Path]) -> dict[str, Path]:
    """Sheets by rater: the file's name. Raises UsageError."""
    raters = {path.stem: path for path in sheets}
    if len(raters) < len(sheets):
        raise UsageError(
            "two sheets have one name", subject=", ".join(map(str, sheets)), next_step="name each as its rater"
        )
    if len(raters) < MIN_RATERS:
        raise UsageError(
            "only one sheet is given", subject=str(sheets[0]), next_step=f"give those of {MIN_RATERS} raters at least"
        )
    return raters


def read_sheet(path: Path, key: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, int]]:
    """Code to the ratings of a sheet. Raises UsageError for other files, unknown or repeated codes, invalid ratings."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        delimiter = max(",;\t", key=text.partition("\n")[0].count)  # in many countries spreadsheets save semicolons
        lines = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
        if absent := sorted({CODE, *DIMENSIONS} - set(lines.fieldnames or ())):
            raise UsageError(
                f"no column {absent[0]}", subject=str(path), next_step="keep the columns of the sheet as they were"
            )
        found: dict[str, dict[str, int]] = {}
        for line in lines:
            code, place = (line[CODE] or "").strip(), f"{path}:{lines.line_num}"
            if not code and not any((line[one] or "").strip() for one in DIMENSIONS):
                continue
            if code not in key:
                raise UsageError(
                    f"no answer of this run has the code {code!r}", subject=place, next_step="check the sheet"
                )
            if code in found:
                raise UsageError(f"the code {code} stands twice", subject=place, next_step="delete one of the lines")
            given = {one: read_rating(line[one] or "", f"{place}, {one}") for one in DIMENSIONS}
            found[code] = {one: rating for one, rating in given.items() if rating is not None}
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UsageError(f"cannot be read ({reason})", subject=str(path), next_step="check the path") from error
    except UnicodeDecodeError as error:
        raise UsageError("cannot be read as UTF-8", subject=str(path), next_step="save it as CSV, UTF-8") from error
    except csv.Error as error:
        raise UsageError(f"is no CSV ({error})", subject=str(path), next_step="save it as CSV, UTF-8") from error
    return found


def read_rating(text: str, place: str) -> int | None:
    """A whole number from 1 to 5; None for an empty cell. Raises UsageError for other text."""
    if not text.strip():
        return None
    if not re.fullmatch(r"\s*[1-5]\s*", text, re.ASCII):
        raise UsageError(f"{text!r} is no rating", subject=place, next_step="give 1, 2, 3, 4 or 5, or nothing")
    return int(text)


def agreement(raters: Sequence[Mapping[str, int]]) -> dict[str, Any]:
    """Agreement of raters on one dimension.

    `n` counts the answers that all rated, `same` is the share of them with equal ratings; alpha also uses answers that
    only some rated.
    """
    codes = sorted(set.intersection(*(set(given) for given in raters)))
    every = sorted(set.union(*(set(given) for given in raters)))
    alike = [len({given[code] for given in raters}) == 1 for code in codes]
    return {
        "n": len(codes),
        "same": sum(alike) / len(alike) if alike else None,
        "alpha": krippendorff_alpha([[given[code] for given in raters if code in given] for code in every]),
    }
