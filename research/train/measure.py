"""How the judge alone puts texts in order, on what it is not trained on.

    python -m research.export_judge --data DATA --run RUN/mean-500.pt --target FOLDER
    python -m research.train.measure --candidates CANDIDATES [FOLDER ..]

For each exported judge, or the bundled one where none is named: of the questions to manuals and to papers of which a
candidate holds the answer, for how many such a one is first and among the first three; the area under the curve of
the best score, answerable questions against the others; and how often the text that answers is first in the groups
held back from training. Texts are read as at run time: titles in front, long ones in windows.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from research.train.groups import held_back_groups
from thresher.models.cross_encoders import BUNDLED_JUDGE, BundledJudge

KINDS = ("manuals", "papers")


def of_candidates(judge: BundledJudge, asked: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """First, among three and area under the curve of the questions of one kind."""
    ranks: list[int] = []
    best: tuple[list[float], list[float]] = ([], [])
    for row in asked:
        scores = relevance(judge, row["question"], row["texts"])
        best[row["answerable"]].append(max(scores))
        order = sorted(range(len(scores)), key=lambda at: -scores[at])
        if places := [place for place, at in enumerate(order) if row["texts"][at]["holds"]]:
            ranks.append(places[0])
    above = np.mean([[(yes > no) + (yes == no) / 2 for no in best[False]] for yes in best[True]])
    first, three = sum(rank == 0 for rank in ranks), sum(rank < 3 for rank in ranks)
    return {"of": len(ranks), "first": first, "three": three, "auc": round(float(above), 3)}


def first_of_groups(judge: BundledJudge, groups: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """In how many groups the text that answers has the best score."""
    right = 0
    for group in groups:
        scores = relevance(judge, group["question"], [*group["positives"][:1], *group["negatives"]])
        right += scores[0] == max(scores)
    return {"of": len(groups), "first": right}


def relevance(judge: BundledJudge, question: str, texts: Sequence[Mapping[str, Any]]) -> list[float]:
    """A score for each text."""
    readings = judge.read(question, [one["text"] for one in texts], [one["title"] for one in texts])
    return [reading.relevance for reading in readings]


def main() -> None:
    """Print a line for each judge."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("judges", type=Path, nargs="*", default=[BUNDLED_JUDGE], help="folders of exported judges")
    parser.add_argument("--candidates", type=Path, required=True, help="what research.train.candidates wrote")
    arguments = parser.parse_args()
    asked = [json.loads(line) for line in arguments.candidates.read_text(encoding="utf-8").splitlines()]
    groups = held_back_groups()
    for folder in arguments.judges:
        judge = BundledJudge(folder)
        found: dict[str, Any] = {}
        for kind in KINDS:
            found[kind] = of_candidates(judge, [row for row in asked if row["kind"] == kind])
        print(json.dumps({"judge": folder.name, **found, "held back": first_of_groups(judge, groups)}), flush=True)


if __name__ == "__main__":
    main()
