"""What the teacher says of the candidates of a pack's questions without labels, and of the claims that are trained on.

    python -m research.teacher.scores --teacher teacher --run run/teacher/mean-5000.pt --pack pack.npz --out scores.npz

Writes half floats: `candidates` (questions, candidates), logits of relevance of the best window of each text, NaN for
no text; `claims` (claims, 2), support and denial.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from research.teacher.network import teacher
from research.train.batches import CLAIM_TOKENS, Claims, Pack, Tokens, part_of
from research.train.tune import best_of, read_all, windows
from thresher_training.network import Judge


@torch.no_grad()
def scored(judge: Judge, tokens: Tokens, pack: Pack) -> NDArray[np.float16]:
    """The logit of each candidate of the part `unlabelled`."""
    part = part_of(pack, "unlabelled")
    of, nth = np.nonzero(part["texts"][:, :, 1] >= 0)
    titles, texts = part["texts"][of, nth].T
    layout, back = windows(part["question"][of, 0], titles, texts, pack["ends"])
    found = np.full(part["texts"].shape[:2], np.nan, np.float16)
    found[of, nth] = best_of(read_all(judge.eval(), tokens, layout, spans=False)[0], back)
    return found


@torch.no_grad()
def of_claims(judge: Judge, tokens: Tokens, claims: Claims) -> NDArray[np.float16]:
    """Logits of support and denial of each claim."""
    every = np.arange(len(claims.rows))
    layout = claims.at(every, np.ones(len(every), bool)).layout(CLAIM_TOKENS)
    return read_all(judge.eval(), tokens, layout, spans=False)[0][:, 1:].astype(np.float16)


def main() -> None:
    """Write the scores."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--teacher", type=Path, required=True, help="what research.teacher.weights wrote")
    parser.add_argument("--run", type=Path, required=True, help="a mean of weights of research.train")
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    judge = teacher(arguments.teacher, arguments.run).to(device)
    with np.load(arguments.pack) as file:
        pack = dict(file)
    tokens = Tokens(pack, device)
    said = of_claims(judge, tokens, Claims(pack, tune=False))
    written = arguments.out.with_suffix(".part.npz")
    np.savez(written, candidates=scored(judge, tokens, pack), claims=said)
    written.replace(arguments.out)


if __name__ == "__main__":
    main()
