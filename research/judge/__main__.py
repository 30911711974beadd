"""What the bundled judge is worth: as a reranker, as the evaluator of what was retrieved, and how fast it is.

    .venv/bin/python -m research.judge [rerank|evaluator|speed|all] [--final] [--folder DIR]

Splits: sha1 of "split:KEY" modulo 5 (KEY: PopQA's subject, SQuAD's article, else the question's id). The judge was
trained on 0 to 2; what is chosen or fitted here is chosen or fitted on 3, tune; 4, final, is read with --final only,
which also writes research/results/judge.json. Nothing was trained on Cranfield: all its questions count.

* rerank: the 20 best of the encoder, and of encoder and BM25 together, in the order of the judge and in the order of
  both (min-max, one weight for all sets). Natural Questions and TriviaQA under two labels: `silver`, which their files
  give and which are incomplete, and `strings`, any known passage or candidate that holds an answer.
* evaluator: the protocol of `research.pools`, and with --candidates that of the dev questions of real text. What the
  judge's score and its shipped calibration are is a logistic regression on its logit, of the candidate where it is
  highest, each set weighing the same.
* speed: 20 pairs that were not read before. With --torch, a Python that has torch and transformers
  (research/requirements.txt), the float model beside it; --run is what research.train_judge wrote.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks.machine import RESEARCH, keep, kept, tell
from research.judge.evaluator import evaluator
from research.judge.readings import Data, Logits
from research.judge.rerank import rerank
from research.judge.speed import speed
from thresher.models.cross_encoders import BUNDLED_JUDGE, BundledJudge


def main() -> None:
    """The section that is named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("section", nargs="?", choices=("rerank", "evaluator", "speed", "all"), default="all")
    parser.add_argument("--final", action="store_true", help="also the final fifth; writes results/judge.json")
    parser.add_argument("--folder", type=Path, default=BUNDLED_JUDGE, help="the weights")
    parser.add_argument("--untitled", action="store_true", help="the judge reads texts without their titles")
    parser.add_argument("--candidates", type=Path, help="what research.train.candidates wrote: papers and manuals too")
    parser.add_argument("--torch", help="a Python with torch and transformers")
    parser.add_argument("--run", type=Path, help="what research.train_judge wrote, with judge.pt; goes with --torch")
    parser.add_argument("--data", type=Path, help="what research.training_data wrote; default: the folder of --run")
    parser.add_argument("--repetitions", type=int, default=15)
    options = parser.parse_args()
    if options.torch and options.run is None:
        parser.error("--torch needs --run")
    tell()
    judge = BundledJudge(options.folder)
    name = judge.name + (", untitled" if options.untitled else "")
    print(f"judge {name}")
    results: dict[str, Any] = {}
    if options.section in ("rerank", "evaluator", "all"):
        data, logits = Data(), Logits(judge, titled=not options.untitled)
        if options.section != "evaluator":
            results["rerank"] = rerank(data, logits, final=options.final)
        if options.section != "rerank":
            results["evaluator"] = evaluator(data, logits, final=options.final, candidates_of=options.candidates)
    if options.section in ("speed", "all"):
        results["speed"] = speed(judge, options.folder, options)
    if options.final:
        before = kept("judge", folder=RESEARCH)
        others = ("rerank", "evaluator", "speed") if before.get("judge") == name else ()
        same = {section: before[section] for section in others if section in before}
        keep("judge", {**same, "judge": name, **results}, folder=RESEARCH)


if __name__ == "__main__":
    main()
