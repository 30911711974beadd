"""Answers from 41 papers without any model: is the first citation on the right page, and what is refused.

.venv/bin/python benchmarks/papers.py
"""

from __future__ import annotations

import os

from evaluate import keep, measured, show
from machine import DATA, tell

RECIPES = ("rag", "hybrid")
MEASURES = (
    "gold_page",
    "gold_source",
    "match_norm",
    "refusal_precision",
    "refusal_recall",
    "wrong_refusals",
    "seconds_p50",
)


def main() -> None:
    tell()
    os.environ.setdefault("THRESHER_DATA", str(DATA))
    scored = measured("papers", "papers", RECIPES)
    for recipe in RECIPES:
        show(f"{recipe} (n={scored['n']})", scored["recipes"][recipe], MEASURES)
    keep("papers", scored)


if __name__ == "__main__":
    main()
