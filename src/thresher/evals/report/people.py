"""What people said of the answers (ECRAG, section 6.2), and how far they agree."""

from __future__ import annotations

import json
from typing import Any

from thresher.errors import UsageError
from thresher.evals.judgements.ratings import RATINGS
from thresher.evals.judgements.sheets import FOLDER
from thresher.evals.report.comparison import drawer, fewest
from thresher.evals.report.measured import Block, Run
from thresher.evals.report.section import Cell, Figure, Measured, Section, Table, number


def people_section(run: Run, block: Block, prefix: str) -> list[Section]:
    """Ratings by recipe and the raters' agreement; nothing where nobody rated."""
    told = read_ratings(run)
    rated = {recipe: dimensions for recipe, dimensions in told.get("recipes", {}).items() if recipe in block.rows}
    if not rated:
        return []
    names = list(next(iter(rated.values())))
    measured = [
        (recipe, {name: Measured.of(one) for name, one in dimensions.items() if one["value"] is not None})
        for recipe, dimensions in rated.items()
    ]
    rows: list[list[Cell]] = [[recipe, *(dimensions.get(name) for name in names)] for recipe, dimensions in measured]
    note = f"1 to 5, mean of {len(told['raters'])} people's means [95 % interval] n answers. They saw no recipe's name."
    agreed: list[list[Cell]] = [
        [name, one["n"], *(plain(one[how]) for how in ("same", "kappa", "alpha_interval", "alpha_ordinal"))]
        for name, one in told["agreement"].items()
    ]
    columns = ["", "n", "said the same", "kappa, quadratic", "alpha, interval", "alpha, ordinal"]
    tables = [
        Table("Ratings", ["recipe", *names], rows, note),
        Table("Agreement of the raters", columns, agreed, "n: answers that all of them rated."),
    ]
    draw = drawer(measured, names, {}, "1 to 5", share=False)
    return [
        Section(
            "Response quality, by people",
            tables=tables,
            figures=[Figure(f"{prefix}-people", "Response quality, by people", draw, fewest(measured))],
        )
    ]


def plain(value: float | None) -> str | None:
    """A number without an interval."""
    return None if value is None else number(value)


def read_ratings(run: Run) -> dict[str, Any]:
    """ratings.json; empty where there is none."""
    path = run.directory / FOLDER / RATINGS
    if not path.is_file():
        return {}
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        if not {"raters", "recipes", "agreement"} <= set(told):
            raise ValueError("not ratings")
    except (OSError, ValueError, TypeError) as error:
        raise UsageError("damaged", subject=str(path), next_step="read the sheets again: thresher eval rate") from error
    return dict(told)
