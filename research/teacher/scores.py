"""What the teacher, or any judge, says of the candidates of a pack's questions without labels.

    python -m research.teacher.scores --teacher teacher --run run/teacher/mean-5000.pt --pack pack.npz --out scores.npy

Writes (questions, candidates) logits of relevance as half floats, of the best window of each text; NaN for no text.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from research.teacher.network import teacher
from research.train.batches import Pack, Tokens, part_of
from research.train.tune import read_all, windows
from thresher_training.network import Judge


@torch.no_grad()
def scored(judge: Judge, tokens: Tokens, pack: Pack) -> NDArray[np.float16]:
    """The logit of each candidate of the part `unlabelled`."""
    part = part_of(pack, "unlabelled")
    of, nth = np.nonzero(part["texts"][:, :, 1] >= 0)
    titles, texts = part["texts"][of, nth].T
    layout, back = windows(part["question"][of, 0], titles, texts, pack["ends"])
    best = np.full(len(of), -np.inf, np.float32)
    np.maximum.at(best, back, read_all(judge.eval(), tokens, layout, spans=False)[0][:, 0])
    found = np.full(part["texts"].shape[:2], np.nan, np.float16)
    found[of, nth] = best
    return found


def main() -> None:
    """Write the scores."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--teacher", type=Path, required=True, help="what research.teacher.weights wrote")
    parser.add_argument("--run", type=Path, required=True, help="a mean of weights of research.train")
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    judge = teacher(arguments.teacher)
    judge.load_state_dict(torch.load(arguments.run, map_location="cpu"), strict=False)  # words stay as they were
    with np.load(arguments.pack) as file:
        pack = dict(file)
    np.save(arguments.out, scored(judge.to(device), Tokens(pack, device), pack))


if __name__ == "__main__":
    main()
