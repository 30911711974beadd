"""Answers from 41 papers without any model: is the first citation on the right page, and what is refused.

.venv/bin/python benchmarks/papers.py
"""

from __future__ import annotations

from evaluate import keep, measured, show, thresher
from machine import DATA, ROOT, tell

RECIPES = ("rag", "hybrid")
COLLECTION = ("--collection", "papers")
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
    recipes = [part for recipe in RECIPES for part in ("--recipe", recipe)]
    print(thresher("index", str(DATA / "papers"), "--exclude", "broken/*", *recipes, *COLLECTION))
    questions = ROOT / "benchmarks" / "papers.jsonl"
    scored = measured("papers", f"qa:{questions}", RECIPES, options=COLLECTION)
    for recipe in RECIPES:
        show(f"{recipe} (n={scored['n']})", scored["recipes"][recipe], MEASURES)
    keep("papers", {**scored, "dataset": "qa:benchmarks/papers.jsonl"})


if __name__ == "__main__":
    main()
