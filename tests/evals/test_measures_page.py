"""The page about measures has every measure that the code has, as the code describes it."""

from __future__ import annotations

from pathlib import Path

from thresher_evals.metrics.registry import MEASURES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "measures.md"


def test_the_table_lists_every_measure_with_its_meaning_source_range_and_questions() -> None:
    printed = [
        line
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| `") and line.count("|") == 8
    ]
    told = [
        f"| `{measure}` | {measure.meaning} | {measure.better or ''} | {measure.source} | {measure.bounds}"
        f" | {measure.questions} | {', '.join(measure.tasks) or 'on request'} |"
        for measure in MEASURES.values()
    ]
    assert printed == told
