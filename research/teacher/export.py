"""Writes the teacher, or what was trained from it, as an int8 graph that the engine reads, beside the float network.

    python -m research.teacher.export --teacher teacher [--run run/teacher/mean-N.pt] --pack pack.npz --out FOLDER

Windows of the pack's unlabelled questions show the smoothing what activations are like; others are read by both.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnxruntime
import torch

from research.export_encoder import MAX_TOKENS, sha256, write
from research.export_judge import FILE, WEIGHTS, check
from research.teacher.network import teacher
from research.train.batches import Pack, Tokens, part_of
from research.train.tune import windows
from thresher_training.export import exported
from thresher_training.tokens import Pair

SAMPLE, CHECKED = 24, 100
"""Windows that show activations, and windows that are compared."""
TIMED_TOKENS, TIMES = 190, 20
SEED = 7

README = """# thresher-judge-large, int8

The judge with the body of all-mpnet-base-v2: the same input, outputs and tokenizer as thresher-judge-int8.

* Started from all-mpnet-base-v2 (Apache-2.0 by its README; `research/teacher/weights.py` names the packages and their
  hashes) and trained by `research/train`.
* Licence: Apache-2.0. What it was trained on, and what its origin had seen before, stands in NOTICE.

sha256:

    {hashes}
"""


def pairs_of(pack: Pack) -> Iterator[Pair]:
    """The windows of the questions without labels, in an order that follows from the seed."""
    part = part_of(pack, "unlabelled")
    of, nth = np.nonzero(part["texts"][:, :, 1] >= 0)
    titles, texts = part["texts"][of, nth].T
    layout, _ = windows(part["question"][of, 0], titles, texts, pack["ends"])
    tokens = Tokens(pack, torch.device("cpu"))
    for at in np.random.default_rng(SEED).permutation(len(layout.lengths)):
        batch = tokens.batch(layout, np.array([at]))
        yield Pair(batch.ids[0].tolist(), batch.types[0].tolist(), [])


def milliseconds(path: Path) -> float:
    """Processor time of one window, the median of some, on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    ids = np.arange(1_000, 1_000 + TIMED_TOKENS)[None]
    inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.ones_like(ids)}
    found = []
    for _ in range(TIMES):
        began = time.thread_time()
        session.run(None, inputs)
        found.append(time.thread_time() - began)
    return 1_000 * float(np.median(found))


def main() -> int:
    """Exit code: 0 when the exported model is as good as it must be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--teacher", type=Path, required=True, help="what research.teacher.weights wrote")
    parser.add_argument("--run", type=Path, help="a mean of weights of research.train; without it the heads are chance")
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="the folder to write")
    arguments = parser.parse_args()
    torch.manual_seed(SEED)
    judge = teacher(arguments.teacher, arguments.run).eval()
    with np.load(arguments.pack) as file:
        drawn = pairs_of(dict(file))
        sample = [next(drawn) for _ in range(SAMPLE)]
        checked = [next(drawn) for _ in range(CHECKED)]
    config = json.loads((arguments.teacher / "config.json").read_text(encoding="utf-8"))
    near = judge.body.near(MAX_TOKENS).detach().numpy()
    bundled = WEIGHTS / "thresher-judge-int8"
    with tempfile.TemporaryDirectory() as folder:
        original = shutil.copytree(bundled, folder, ignore=shutil.ignore_patterns("onnx"), dirs_exist_ok=True)
        shutil.copy(arguments.teacher / "config.json", original)
        write(arguments.out, Path(original), exported(judge, config, sample, near), README, file=FILE)
    path = arguments.out / FILE
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, sha256 {sha256(path)}")
    failures = check(path, judge, checked)
    for one in (bundled / FILE, path):
        print(f"{one.parts[-3]}: {milliseconds(one):.1f} ms for {TIMED_TOKENS} tokens")
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
