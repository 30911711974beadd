"""Runs `thresher eval run` and `eval score` as a user would, and keeps the scores with the machine they came from."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from machine import CACHE, DATA, RESULTS, describe
from processes import Processes

THRESHER = Path(sys.executable).with_name("thresher")
PROCESSES = Processes()


def measured(
    name: str,
    dataset: str,
    recipes: Sequence[str],
    *,
    settings: Sequence[str] = (),
    options: Sequence[str] = (),
    fresh: bool = True,
) -> dict[str, Any]:
    """The `eval score` of a run of `recipes` on `dataset`; `name` names the folder of its rows.

    A run that is not `fresh` goes on where it was stopped, with the option --resume.
    """
    out = rows(name)
    if fresh:
        shutil.rmtree(out, ignore_errors=True)
    assignments = [part for setting in settings for part in ("--set", setting)]
    chosen = [part for recipe in recipes for part in ("--recipe", recipe)]
    thresher("eval", "run", "--dataset", dataset, *chosen, *assignments, "--out", str(out), *options)
    return json.loads(thresher("eval", "score", str(out), "--json", home=False))


def rows(name: str) -> Path:
    """The folder of a run's rows."""
    return CACHE / "runs" / name


def thresher(*arguments: str, home: bool = True) -> str:
    """What a command prints; its complaints go to our stderr. A failure ends the benchmark. For several threads."""
    where = ["--home", str(CACHE / "home")] if home else []
    environment = {**os.environ, "THRESHER_DATA": str(DATA)}
    command = [str(THRESHER), *arguments, *where]
    code, printed = PROCESSES.run(command, environment)
    if code not in (0, 3):
        raise SystemExit(f"thresher {' '.join(arguments)} exited with {code}")
    return printed


def keep(name: str, results: Mapping[str, Any]) -> None:
    """Write results/NAME.json."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"machine": describe(), **results}, indent=1, ensure_ascii=False)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def show(label: str, values: Mapping[str, Mapping[str, Any]], measures: Sequence[str]) -> None:
    """One line of measures with their intervals."""
    cells = []
    for measure in measures:
        value = values.get(measure)
        if value is None or value["value"] is None:
            cells.append(f"{measure} -")
        else:
            cells.append(f"{measure} {value['value']:.3f} [{value['low']:.3f}, {value['high']:.3f}]")
    print(f"{label:<28} " + "  ".join(cells))
