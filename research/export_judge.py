"""Writes the trained judge, or the checker, as an int8 ONNX graph, checked against the float model.

    python -m research.export_judge --run training/run --data training     # research/requirements.txt
    python -m research.export_judge --run CHECKER.pt [CHECKER.pt ..] --data training --claims training/checker.jsonl

The graph is made of the same parts as the encoder's (research.export_encoder says how it is quantised and why), with
token types and three heads, which stay in float. Its outputs are `logits` (texts, 1), which is what fastembed's
cross-encoders give, `support` (texts, 1) and `spans` (texts, tokens, 2).
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import torch
from torch import Tensor

from research.export_encoder import MAX_TOKENS, PROJECT, download, json_lines, sha256, write
from thresher_training.export import exported, floats_of
from thresher_training.network import VERDICTS, Judge
from thresher_training.tokens import Pair, Reader, padded

WEIGHTS = PROJECT / "src/thresher/models/weights"
FILE = "onnx/model.onnx"
"""Where fastembed looks for a cross-encoder's model."""
SAMPLE_GROUPS = 60
"""Groups of the training data that show the smoothing what activations are like."""
CHECKED_GROUPS = 150
"""Groups of the tune data on which both models are compared."""
SAMPLE_CLAIMS, CHECKED_CLAIMS = 120, 450
"""The same of claims; none is held out."""
LEAST_CORRELATION = 0.99

README = f"""# {{name}}, int8

A cross-encoder with its heads: does the text answer the question (`logits`), where (`spans`), does it support the claim
(`support`) or deny it (`denial`; log odds against neither). Input: `[CLS] question [SEP] title text [SEP]`, at most
{MAX_TOKENS} tokens.

* Started from all-MiniLM-L6-v2 (Apache-2.0; the package's other weights folder names its origin) and trained by
  `research/train` on the data that docs/models.md lists; the licences of the data are in NOTICE.
* Licence: Apache-2.0; its text is in ../all-MiniLM-L6-v2-int8/LICENSE.
* Loadable with `fastembed.rerank.cross_encoder.TextCrossEncoder(..., specific_model_path=...)`.

sha256:

    {{hashes}}
"""


def pairs_of(groups: Sequence[Mapping[str, Any]], reader: Reader, *, each: int) -> list[Pair]:
    """The first texts of each group, as the judge reads them."""
    draw = random.Random(0)
    return [
        reader.pair(group["question"], text, draw, titled=True)
        for group in groups
        for text in [*group["positives"][:1], *group["negatives"][: each - 1]]
    ]


def pairs_of_claims(claims: Sequence[Mapping[str, Any]], reader: Reader) -> list[Pair]:
    """Claims with their texts, as the checker reads them."""
    draw = random.Random(0)
    return [reader.pair(one["claim"], {**one, "spans": ()}, draw, titled=True) for one in claims]


def averaged(paths: Sequence[Path], share: float = 1.0) -> dict[str, Tensor]:
    """The mean of the weights of files of research.train; word vectors, which are in none, are the bundled judge's.

    A `share` below 1 goes so far from the bundled judge's weights to that mean (Wortsman et al. 2022, "Robust
    fine-tuning of zero-shot models"): most of what was learnt, and less of what was lost.
    """
    state = floats_of(WEIGHTS / "thresher-judge-int8" / FILE)
    found = [torch.load(path) for path in paths]
    means = {name: torch.stack([one[name].float() for one in found]).mean(dim=0) for name in found[0]}
    return state | {name: torch.lerp(state[name].float(), mean, share) for name, mean in means.items()}


@torch.no_grad()
def check(path: Path, judge: Judge, pairs: Sequence[Pair], heads: Sequence[str]) -> list[str]:
    """Compares the exported model with the float one, pair by pair; returns which of the heads are not good enough."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    wanted, found, spans = [], [], []
    for pair in pairs:
        batch = padded([pair])
        verdicts, places = judge(batch.ids, batch.types, batch.mask)
        inputs = {"input_ids": batch.ids, "attention_mask": batch.mask, "token_type_ids": batch.types}
        *told, quick = session.run([*VERDICTS, "spans"], {name: values.numpy() for name, values in inputs.items()})
        wanted.append([float(verdicts[0, at]) for at in range(len(VERDICTS))])
        found.append([float(each[0, 0]) for each in told])
        body = batch.types[0].bool().numpy()
        spans.append(places[0].numpy()[body].argmax(0).tolist() == quick[0][body].argmax(0).tolist())
    columns = zip(np.array(wanted).T, np.array(found).T, strict=True)
    correlations = np.array([np.corrcoef(*both)[0, 1] for both in columns])
    gaps = np.abs(np.array(wanted) - np.array(found))
    print(f"{len(pairs)} pairs, float and exported model; same best begin and end {np.mean(spans):.3f}")
    for name, correlation, gap in zip(VERDICTS, correlations, gaps.T, strict=True):
        print(
            f"{name}: correlation {correlation:.4f}, difference of the logits {gap.mean():.3f}, at most {gap.max():.3f}"
        )
    told = zip(VERDICTS, correlations, strict=True)
    low = [(name, value) for name, value in told if name in heads and value < LEAST_CORRELATION]
    return [f"{name}: correlation {value:.4f} is below {LEAST_CORRELATION}" for name, value in low]


def main() -> int:
    """Exit code: 0 when the exported model is as good as it must be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="what research.training_data wrote")
    parser.add_argument("--run", type=Path, nargs="+", required=True, help="files of research.train")
    parser.add_argument("--share", type=float, default=1.0, help="how far from the bundled judge to the mean of them")
    parser.add_argument("--claims", type=Path, help="what research.checker_data wrote, for the checker")
    parser.add_argument("--target", type=Path, help="the folder to write")
    arguments = parser.parse_args()
    original = download(arguments.data)
    config = json.loads((original / "config.json").read_text(encoding="utf-8"))
    reader = Reader(original)
    judge = Judge(config).eval()
    judge.load_state_dict(averaged(arguments.run, arguments.share))
    name = "thresher-checker" if arguments.claims else "thresher-judge"
    if arguments.claims:
        pairs = pairs_of_claims([*json_lines(arguments.claims)][: SAMPLE_CLAIMS + CHECKED_CLAIMS], reader)
        sample, checked = pairs[:SAMPLE_CLAIMS], pairs[SAMPLE_CLAIMS:]
    else:
        groups = random.Random(0).sample([*json_lines(arguments.data / "groups.jsonl")], SAMPLE_GROUPS)
        held = random.Random(1).sample([*json_lines(arguments.data / "tune.jsonl")], CHECKED_GROUPS)
        sample, checked = pairs_of(groups, reader, each=2), pairs_of(held, reader, each=3)
    target = arguments.target or WEIGHTS / f"{name}-int8"
    readme = README.replace("{name}", name)
    write(target, original, exported(judge, config, sample), readme, file=FILE)
    path = target / FILE
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, sha256 {sha256(path)}")
    failures = check(path, judge, checked, VERDICTS[1:] if arguments.claims else VERDICTS[:1])
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
