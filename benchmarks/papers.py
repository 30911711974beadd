"""Answers from 41 papers without any model: is the first citation on the page that holds the answer, and what is refused.

    .venv/bin/python benchmarks/papers.py
"""

from __future__ import annotations

from evaluate import keep, measured, show, thresher
from machine import DATA, ROOT, tell

RECIPES = ("rag", "hybrid")
MEASURES = ("gold_page", "gold_source", "match_norm", "refusal_precision", "refusal_recall", "wrong_refusals", "seconds_p50")


def main() -> None:
    tell()
    papers = DATA / "papers"
    print(thresher("index", str(papers), "--exclude", "broken/*", *(p for r in RECIPES for p in ("--recipe", r)), "--collection", "papers"))
    scored = measured("papers", f"qa:{ROOT / 'benchmarks' / 'papers.jsonl'}", RECIPES, options=["--collection", "papers"])
    for recipe in RECIPES:
        show(f"{recipe} (n={scored['n']})", scored["recipes"][recipe], MEASURES)
    keep("papers", scored)


if __name__ == "__main__":
    main()
