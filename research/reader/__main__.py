"""What the bundled judge reads: answers as spans, refusals, true and false claims.

    .venv/bin/python -m research.reader [squad|popqa|labels|all] [--final] [--folder DIR]

squad    SQuAD 2.0 questions, each with its own paragraph: the likeliest place, and when to refuse.
popqa    Long-tail PopQA over the contexts that CRAG's authors published: one short answer from several pieces of text.
labels   Claims with evidence: the sign of the support logit against true and false.

Without `--final` nothing of the final fifth is read: splits are those of thresher_evals.dataset, by article, subject,
claim or question id. Whatever there is to choose (thresholds, weights, one way of several) is chosen on the tune fifth.
The judge was trained on the training fifths of SQuAD, PopQA, SciFact and Climate-FEVER; it has not seen PubHealth,
whose training fifth counts as tune here. Intervals are 95 %, over questions. With `--final` the numbers go to
research/results/reader.json, each part replacing what was there of it.

Readings are kept in research/.cache/judge/reader.sqlite under the hash of the model's files and the judge's limits.
Delete it after changing how thresher.models.cross_encoders reads.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.machine import RESEARCH, keep, kept, tell
from research.reader.labels import labels
from research.reader.popqa import popqa
from research.reader.readings import Readings
from research.reader.squad import squad
from thresher.models.cross_encoders import BUNDLED_JUDGE, BundledJudge

PARTS: dict[str, Callable[..., dict[str, Any]]] = {
    "squad": squad,
    "popqa": popqa,
    "labels": labels,
}


def main() -> None:
    """The part that is named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("part", nargs="?", choices=(*PARTS, "all"), default="all")
    parser.add_argument("--final", action="store_true", help="read the final fifth too, and keep the results")
    parser.add_argument("--folder", type=Path, default=BUNDLED_JUDGE, help="the judge's folder (default: the bundled)")
    arguments = parser.parse_args()
    tell()
    # A thread for each reading and none within: that keeps the cores busy where a question has one text.
    readings = Readings(BundledJudge(arguments.folder, threads=1))
    chosen = PARTS if arguments.part == "all" else {arguments.part: PARTS[arguments.part]}
    found = {
        name: {"model": readings.judge.name, **part(readings, final=arguments.final)} for name, part in chosen.items()
    }
    if arguments.final:
        before = kept("reader", folder=RESEARCH)  # parts that were not run this time stay as they are
        keep(
            "reader",
            {part: {**before, **found}[part] for part in PARTS if part in {**before, **found}},
            folder=RESEARCH,
        )


if __name__ == "__main__":
    main()
