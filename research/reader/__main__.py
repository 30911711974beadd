"""What the bundled judge reads: answers as spans of SQuAD 2.0's paragraphs, and refusals.

    .venv/bin/python -m research.reader squad [--final] [--folder DIR]

Without `--final` nothing of the final fifth is read: splits are those of thresher_evals.dataset, by article. Whatever
there is to choose (thresholds, weights) is chosen on the tune fifth; the judge was trained on the training fifths.
Intervals are 95 %, over questions. With `--final` the numbers go to research/results/reader.json.

Readings are kept in research/.cache/judge/reader.sqlite under the hash of the model's files and the judge's limits.
Delete it after changing how thresher.models.cross_encoders reads. One answer from several texts (PopQA's long tail) and
claims by the judge alone were measured up to commit 2ebb4b8.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.machine import RESEARCH, keep, kept, tell
from research.reader.readings import Readings
from research.reader.squad import squad
from thresher.models.cross_encoders import BUNDLED_JUDGE, BundledJudge


def main() -> None:
    """Measure, print, and keep where the final fifth was read."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("part", nargs="?", choices=("squad",), default="squad")
    parser.add_argument("--final", action="store_true", help="read the final fifth too, and keep the results")
    parser.add_argument("--folder", type=Path, default=BUNDLED_JUDGE, help="the judge's folder (default: the bundled)")
    arguments = parser.parse_args()
    tell()
    # A thread for each reading and none within: that keeps the cores busy where a question has one text.
    readings = Readings(BundledJudge(arguments.folder, threads=1))
    found = {"model": readings.judge.name, **squad(readings, final=arguments.final)}
    if arguments.final:
        keep("reader", {**kept("reader", folder=RESEARCH), "squad": found}, folder=RESEARCH)


if __name__ == "__main__":
    main()
