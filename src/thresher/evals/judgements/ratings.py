"""Filled sheets read back strictly, told whose answers they rate, and summed up with the people's agreement."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from thresher.errors import UsageError
from thresher.evals.folder import read_run
from thresher.evals.judgements.agreement import krippendorff_alpha, weighted_kappa
from thresher.evals.judgements.sheets import CODE, DIMENSIONS, FOLDER, read_key
from thresher.evals.statistics import mean_interval

RATINGS = "ratings.json"

LEAST_RATERS = 2
"""One person's ratings say nothing about how sure they are."""

Ratings = Mapping[str, Mapping[str, int]]
"""Code to dimension to rating; what was not rated is not there."""


def rate(directory: Path, sheets: Sequence[Path]) -> dict[str, Any]:
    """Read the sheets of all raters and keep what they say in ratings/ratings.json, which is also returned.

    `recipes` has the mean of each dimension over answers, an answer's rating being the mean of its raters';
    `agreement` is told for each dimension over the answers that all rated; `missing` counts what each left out;
    `answers` has each answer's mean ratings by recipe and question id.
    """
    read_run(directory)
    key = read_key(directory)
    if not key:
        raise UsageError(
            "no sheet was written of this run", subject=str(directory), next_step="write one with: thresher eval sheet"
        )
    raters = names_of(sheets)
    read = {rater: read_sheet(path, key) for rater, path in raters.items()}
    rated = sorted({code for ratings in read.values() for code in ratings})
    answers: dict[str, dict[str, dict[str, float]]] = {}
    for code in rated:
        means = mean_ratings([ratings.get(code, {}) for ratings in read.values()])
        answers.setdefault(key[code]["recipe"], {})[key[code]["id"]] = means
    told = {
        "raters": list(raters),
        "recipes": {recipe: summed(answers[recipe]) for recipe in sorted(answers)},
        "agreement": {one: agreement([ratings_of(read[rater], one) for rater in raters]) for one in DIMENSIONS},
        "missing": {rater: len(rated) * len(DIMENSIONS) - sum(map(len, read[rater].values())) for rater in raters},
        "answers": answers,
    }
    path = directory / FOLDER / RATINGS
    path.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return told


def names_of(sheets: Sequence[Path]) -> dict[str, Path]:
    """The raters, named as their files."""
    raters = {path.stem: path for path in sheets}
    if len(raters) < len(sheets):
        raise UsageError(
            "two sheets have one name", subject=", ".join(map(str, sheets)), next_step="name each as its rater"
        )
    if len(raters) < LEAST_RATERS:
        raise UsageError(
            "only one sheet is given", subject=str(sheets[0]), next_step=f"give those of {LEAST_RATERS} raters at least"
        )
    return raters


def read_sheet(path: Path, key: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, int]]:
    """The ratings of one sheet; a code that is not of this run, twice there, or a rating but 1 to 5 is an error."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UsageError(f"cannot be read ({reason})", subject=str(path), next_step="check the path") from error
    except UnicodeDecodeError as error:
        raise UsageError("cannot be read as UTF-8", subject=str(path), next_step="save it as CSV, UTF-8") from error
    try:
        return read_ratings(path, text, key)
    except csv.Error as error:
        raise UsageError(f"is no CSV ({error})", subject=str(path), next_step="save it as CSV, UTF-8") from error


def read_ratings(path: Path, text: str, key: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, int]]:
    """The ratings in the text of a sheet; raises csv.Error where it cannot be taken apart."""
    heading = text.split("\n", 1)[0]
    # Spreadsheets of many countries save with semicolons.
    delimiter = max(",;\t", key=heading.count)
    lines = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    lacking = {CODE, *DIMENSIONS} - set(lines.fieldnames or ())
    if lacking:
        raise UsageError(
            f"no column {sorted(lacking)[0]}", subject=str(path), next_step="keep the columns of the sheet as they were"
        )
    found: dict[str, dict[str, int]] = {}
    for line in lines:
        code, place = (line[CODE] or "").strip(), f"{path}:{lines.line_num}"
        if not code and not any((line[one] or "").strip() for one in DIMENSIONS):
            continue
        if code not in key:
            raise UsageError(f"no answer of this run has the code {code!r}", subject=place, next_step="check the sheet")
        if code in found:
            raise UsageError(f"the code {code} stands twice", subject=place, next_step="delete one of the lines")
        given = {one: read_rating(line[one] or "", f"{place}, {one}") for one in DIMENSIONS}
        found[code] = {one: rating for one, rating in given.items() if rating is not None}
    return found


def read_rating(text: str, place: str) -> int | None:
    """A whole number from 1 to 5; None for an empty cell. Raises UsageError for anything else."""
    if not text.strip():
        return None
    if not re.fullmatch(r"\s*[1-5]\s*", text, re.ASCII):
        raise UsageError(f"{text!r} is no rating", subject=place, next_step="give 1, 2, 3, 4 or 5, or nothing")
    return int(text)


def mean_ratings(each: Sequence[Mapping[str, int]]) -> dict[str, float]:
    """The mean over the raters of each dimension that any of them rated."""
    given = {one: [ratings[one] for ratings in each if one in ratings] for one in DIMENSIONS}
    return {one: math.fsum(numbers) / len(numbers) for one, numbers in given.items() if numbers}


def summed(answers: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """The mean of each dimension over the answers of a recipe, with its interval."""
    return {
        one: mean_interval([means[one] for means in answers.values() if one in means]).to_dict() for one in DIMENSIONS
    }


def ratings_of(ratings: Ratings, dimension: str) -> dict[str, int]:
    """Code to rating of one dimension."""
    return {code: given[dimension] for code, given in ratings.items() if dimension in given}


def agreement(raters: Sequence[Mapping[str, int]]) -> dict[str, Any]:
    """How far raters agree on one dimension: kappa for two of them, alpha for any number; `n` answers all rated.

    `same` is the share of these on which all said the same. Alpha also takes answers that only some rated.
    """
    codes = sorted(set.intersection(*(set(given) for given in raters)))
    every = sorted(set.union(*(set(given) for given in raters)))
    units = [[given[code] for given in raters if code in given] for code in every]
    alike = [len({given[code] for given in raters}) == 1 for code in codes]
    two = [[given[code] for code in codes] for given in raters]
    return {
        "n": len(codes),
        "same": sum(alike) / len(alike) if alike else None,
        "kappa": weighted_kappa(two[0], two[1]) if len(raters) == LEAST_RATERS else None,
        "alpha_interval": krippendorff_alpha(units, "interval"),
        "alpha_ordinal": krippendorff_alpha(units, "ordinal"),
    }
