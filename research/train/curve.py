"""Draws the curves of the runs that the bundled judge and checker are means of: docs/assets/training-NAME.svg.

.venv/bin/python -m research.train.curve        # reads research/results/NAME_run_*.jsonl
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from benchmarks.machine import RESEARCH, ROOT
from thresher_evals.report.blocks import Figure
from thresher_evals.report.plots import Line, lines, render

Value = Callable[[Mapping[str, Any]], float]


def first(kind: str) -> Value:
    """Share of the questions whose first text answers."""
    return lambda tune: tune[kind][1] / tune[kind][0]


def area(source: str) -> Value:
    """Area under the curve of the support of supported claims and others."""
    return lambda tune: tune["claims"][source][3]


CURVES: dict[str, tuple[str, dict[str, Value]]] = {
    "judge": (
        "first text answers",
        {"held back": first("held back"), "manuals": first("manuals"), "papers": first("papers")},
    ),
    "checker": (
        "AUROC, supported or not",
        {
            "changed sentences": area("sentence"),
            "answers": area("answer"),
            "FEVER": area("nli_fever"),
            "SciFact": area("case SciFact"),
            "Climate-FEVER": area("case Climate-FEVER"),
        },
    ),
}
"""Of each model: what is drawn, and what is read of the tune part."""


def drawn(name: str) -> str:
    """The curves of a model, the mean of its runs at each step that all were measured at."""
    what, values = CURVES[name]
    files = sorted((RESEARCH / "results").glob(f"{name}_run_*.jsonl"))
    runs = []
    for file in files:
        rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
        runs.append({row["step"]: row["tune"] for row in rows if "tune" in row})
    steps = sorted(set.intersection(*map(set, runs)))
    every = [
        Line(label, steps, [sum(value(run[step]) for run in runs) / len(runs) for step in steps])
        for label, value in values.items()
    ]
    paint = partial(lines, drawn=every, x=f"steps, mean of {len(runs)} runs", y=what)
    return render(Figure(f"training-{name}", f"The {name}, trained", paint, n=None))


def main() -> None:
    """Write the drawings."""
    for name in CURVES:
        (ROOT / f"docs/assets/training-{name}.svg").write_text(drawn(name), encoding="utf-8")


if __name__ == "__main__":
    main()
