"""How the judge alone puts texts in order, on what it is not trained on.

    python -m research.train.measure --candidates CANDIDATES [--share 0.5] [RUN/mean-500.pt ..]

For each file of weights, or the bundled ones where none is named: of the questions to manuals and to papers of which a
candidate holds the answer, for how many such a one is first and among the first three; the area under the curve of
the best score, answerable questions against the others; and how often the text that answers is first in the groups
held back from training. `--share` measures weights between the bundled ones and those of the file.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from research.train.__main__ import BUNDLED, scored, started
from research.train.groups import held_back_groups
from research.train_judge import read
from thresher.training.network import Judge
from thresher.training.tokens import Reader

MAX_TOKENS, QUESTION_TOKENS = 256, 64
"""As at run time; a longer text is read to there."""
PIECES = 4


def measured(judge: Judge, asked: Sequence[Mapping[str, Any]], groups: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The numbers of one set of weights."""
    judge.eval()
    reader = Reader(BUNDLED, max_tokens=MAX_TOKENS, question_tokens=QUESTION_TOKENS)
    found: dict[str, Any] = {}
    for kind in ("manuals", "papers"):
        ranks, best = [], ([], [])  # type: tuple[list[int], tuple[list[float], list[float]]]
        for row in asked:
            if row["kind"] != kind or not row["texts"]:
                continue
            scores = relevance(judge, reader, row["question"], row["texts"])
            best[row["answerable"]].append(float(scores.max()))
            if any(text["holds"] for text in row["texts"]):
                ranks.append(min(at for at, place in enumerate(np.argsort(-scores)) if row["texts"][place]["holds"]))
        found[kind] = {"of": len(ranks), "first": sum(at == 0 for at in ranks), "three": sum(at < 3 for at in ranks)}
        found[kind]["auc"] = round(float(np.mean([[yes > no for no in best[False]] for yes in best[True]])), 3)
    right = 0
    for group in groups:
        texts = [*group["positives"][:1], *group["negatives"]]
        right += int(relevance(judge, reader, group["question"], texts).argmax() == 0)
    return found | {"held back": {"of": len(groups), "first": right}}


@torch.no_grad()
def relevance(judge: Judge, reader: Reader, question: str, texts: Sequence[Mapping[str, Any]]) -> np.ndarray:
    """A score for each text."""
    draw = random.Random(0)
    pairs = [
        reader.pair(
            question, {"title": one["title"], "text": one["text"], "spans": one.get("spans", ())}, draw, titled=True
        )
        for one in texts
    ]
    return np.asarray(scored(judge, pairs, PIECES)[0])


def main() -> None:
    """Print a line for each file of weights."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("weights", type=Path, nargs="*", help="files mean-N.pt")
    parser.add_argument("--candidates", type=Path, required=True, help="what research.train.candidates wrote")
    parser.add_argument("--share", type=float, default=1.0, help="of the way from the bundled weights to these")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    asked, groups = read(arguments.candidates), held_back_groups()
    for file in arguments.weights or [None]:
        numbers = measured(started(file, arguments.share), asked, groups)
        print(json.dumps({"weights": str(file or BUNDLED.name), "share": arguments.share, **numbers}), flush=True)


if __name__ == "__main__":
    main()
