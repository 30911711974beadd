"""Writes the trained judge as an int8 ONNX graph, checked against the float model.

    python tools/export_judge.py --run training/run --data training     # tools/requirements.txt

The graph is made of the same parts as the encoder's (tools/export_encoder.py says how it is quantised and why), with
token types and three heads, which stay in float. Its outputs are `logits` (texts, 1), which is what fastembed's
cross-encoders give, `support` (texts, 1) and `spans` (texts, tokens, 2). `--scale` and `--shift` are what turns the
head's number into a calibrated logit (benchmarks/judge.py fits them); they are folded into the head's weights.
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
import onnx
import onnxruntime
import tokenizers
import torch
from export_encoder import (
    PROJECT,
    Graph,
    Quantisation,
    Weights,
    download,
    embeddings,
    layers,
    model_of,
    sha256,
    smoothed,
    write_json,
)
from numpy.typing import NDArray
from train_judge import Judge, Pair, Reader, padded, read

TARGET = PROJECT / "src/thresher/models/weights/thresher-judge-int8"
MAX_TOKENS = 256
SAMPLE_GROUPS = 60
"""Groups of the training data that show the smoothing what activations are like."""
CHECKED_GROUPS = 150
"""Groups of the tune data on which both models are compared."""
LEAST_CORRELATION = 0.99

README = """# thresher-judge, int8

A cross-encoder with three heads: does the text answer the question (`logits`), where (`spans`), and does it support the
claim (`support`). Input: `[CLS] question [SEP] title text [SEP]`, at most {max_tokens} tokens.

* Started from all-MiniLM-L6-v2 (Apache-2.0; the package's other weights folder names its origin) and trained by
  `tools/train_judge.py` on the data that docs/models.md lists; the licences of the data are in NOTICE.
* Licence: Apache-2.0; its text is in ../all-MiniLM-L6-v2-int8/LICENSE.
* Loadable with `fastembed.rerank.cross_encoder.TextCrossEncoder(..., specific_model_path=...)`.

sha256:

    {hashes}
"""


def build(weights: Weights, heads: Weights, config: Mapping[str, Any], quantise: Quantisation) -> onnx.ModelProto:
    """input_ids, attention_mask and token_type_ids (texts, tokens) to logits, support and spans."""
    graph = Graph()
    layers(graph, weights, config, quantise, embeddings(graph, weights, config, typed=True))
    hidden, axis = "last_hidden_state", graph.constant("pool.axis", np.array([1], np.int64))
    mask = graph.node("Cast", "attention_mask", output="pool.mask", to=onnx.TensorProto.FLOAT)
    mask = graph.node("Unsqueeze", mask, graph.constant("pool.last", np.array([2], np.int64)), output="pool.weights")
    kept = graph.node("Mul", hidden, mask, output="pool.kept")
    total = graph.node("ReduceSum", kept, axis, output="pool.total", keepdims=0)
    count = graph.node("ReduceSum", mask, axis, output="pool.count", keepdims=0)
    mean = graph.node("Div", total, count, output="pool.mean")
    cls = graph.node("Gather", hidden, graph.constant("pool.first", np.array([0], np.int64)), output="pool.row", axis=1)
    first = graph.node("Squeeze", cls, axis, output="pool.cls")
    both = graph.node("Concat", first, mean, output="pool.both", axis=1)
    pooled = graph.node("Tanh", linear(graph, heads, "pool", both), output="pool.tanh")
    for row, output in enumerate(("logits", "support")):
        part = {f"{output}.{kind}": heads[f"verdicts.{kind}"][row : row + 1] for kind in ("weight", "bias")}
        linear(graph, part, output, pooled, output=output)
    linear(graph, heads, "spans", hidden, output="spans")
    shapes = {"logits": ["batch", 1], "support": ["batch", 1], "spans": ["batch", "tokens", 2]}
    return model_of(graph, "thresher-judge", ("input_ids", "attention_mask", "token_type_ids"), shapes)


def linear(graph: Graph, heads: Weights, name: str, source: str, *, output: str | None = None) -> str:
    """`source @ weight + bias`, in float."""
    weight = graph.constant(f"{name}.matrix", np.ascontiguousarray(heads[f"{name}.weight"].T))
    product = graph.node("MatMul", source, weight, output=f"{name}.product")
    offset = graph.constant(f"{name}.offset", heads[f"{name}.bias"])
    return graph.node("Add", product, offset, output=output or f"{name}.sum")


@torch.no_grad()
def activations(judge: Judge, pairs: Sequence[Pair]) -> dict[str, NDArray[np.float32]]:
    """What every matrix product of the layers reads, (n_tokens, width) by its name."""
    seen: dict[str, list[NDArray[np.float32]]] = {}

    def remember(name: str) -> Any:
        return lambda _module, inputs, _output: seen.setdefault(name, []).append(inputs[0][0].numpy())

    hooks = [
        module.register_forward_hook(remember(name))
        for name, module in judge.body.named_modules()
        if isinstance(module, torch.nn.Linear) and name.startswith("encoder")
    ]
    for pair in pairs:
        batch = padded([pair])
        judge(batch.ids, batch.types, batch.mask)
    for hook in hooks:
        hook.remove()
    return {name: np.concatenate(parts) for name, parts in seen.items()}


def pairs_of(groups: Sequence[Mapping[str, Any]], reader: Reader, *, each: int) -> list[Pair]:
    """The first texts of each group, as the judge reads them."""
    draw = random.Random(0)
    return [
        reader.pair(group["question"], text, draw, titled=True)
        for group in groups
        for text in [*group["positives"][:1], *group["negatives"][: each - 1]]
    ]


@torch.no_grad()
def check(path: Path, judge: Judge, pairs: Sequence[Pair], scale: float, shift: float) -> list[str]:
    """Compares the exported model with the float one, pair by pair; returns what is not good enough."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    wanted, found, spans = [], [], []
    for pair in pairs:
        batch = padded([pair])
        verdicts, places = judge(batch.ids, batch.types, batch.mask)
        inputs = {"input_ids": batch.ids, "attention_mask": batch.mask, "token_type_ids": batch.types}
        logits, support, quick = session.run(None, {name: values.numpy() for name, values in inputs.items()})
        wanted.append([float(verdicts[0, 0]) * scale + shift, float(verdicts[0, 1])])
        found.append([float(logits[0, 0]), float(support[0, 0])])
        body = batch.types[0].bool().numpy()
        spans.append(places[0].numpy()[body].argmax(0).tolist() == quick[0][body].argmax(0).tolist())
    correlations = [float(np.corrcoef(np.array(wanted)[:, at], np.array(found)[:, at])[0, 1]) for at in (0, 1)]
    gaps = np.abs(np.array(wanted) - np.array(found)).mean(axis=0)
    print(f"{len(pairs)} pairs: correlation of relevance {correlations[0]:.4f}, of support {correlations[1]:.4f}")
    print(f"mean difference of the logits {gaps[0]:.3f}, {gaps[1]:.3f}; same best begin and end {np.mean(spans):.3f}")
    low = [value for value in correlations if value < LEAST_CORRELATION]
    return [f"correlation {value:.4f} is below {LEAST_CORRELATION}" for value in low]


def write(target: Path, original: Path, model: bytes) -> None:
    """Everything fastembed and the package read."""
    (target / "onnx").mkdir(parents=True, exist_ok=True)
    (target / "onnx/model.onnx").write_bytes(model)
    tokenizer = json.loads((original / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["truncation"] = tokenizer["padding"] = None
    text = json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":"))
    (target / "tokenizer.json").write_text(text + "\n", encoding="utf-8")
    settings = json.loads((original / "tokenizer_config.json").read_text(encoding="utf-8"))
    settings["model_max_length"] = MAX_TOKENS
    write_json(target / "tokenizer_config.json", settings)
    for name in ("config.json", "special_tokens_map.json"):
        write_json(target / name, json.loads((original / name).read_text(encoding="utf-8")))
    names = ("onnx/model.onnx", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "config.json")
    hashes = "\n    ".join(f"{sha256(target / name)}  {name}" for name in names)
    (target / "README.md").write_text(README.format(max_tokens=MAX_TOKENS, hashes=hashes), encoding="utf-8")


def main() -> int:
    """Exit code: 0 when the exported model is as good as it must be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="what tools/training_data.py wrote")
    parser.add_argument("--run", type=Path, required=True, help="what tools/train_judge.py wrote")
    parser.add_argument("--target", type=Path, default=TARGET, help="the folder to write")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--shift", type=float, default=0.0)
    arguments = parser.parse_args()
    original = download(arguments.data)
    config = json.loads((original / "config.json").read_text(encoding="utf-8"))
    tokenizer = tokenizers.Tokenizer.from_file(str(original / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    reader = Reader(tokenizer)
    judge = Judge(original).eval()
    judge.load_state_dict(torch.load(arguments.run / "judge.pt", map_location="cpu"))
    heads = {n: v.detach().numpy().copy() for n, v in judge.named_parameters() if not n.startswith("body")}
    heads["verdicts.weight"][0] *= arguments.scale
    heads["verdicts.bias"][0] = heads["verdicts.bias"][0] * arguments.scale + arguments.shift
    weights: Weights = {name: values.detach().numpy() for name, values in judge.body.named_parameters()}
    groups = random.Random(0).sample(read(arguments.data / "groups.jsonl"), SAMPLE_GROUPS)
    weights = smoothed(weights, activations(judge, pairs_of(groups, reader, each=2)), config["num_hidden_layers"])
    model = build(weights, heads, config, Quantisation())
    onnx.checker.check_model(model)
    write(arguments.target, original, model.SerializeToString(deterministic=True))
    path = arguments.target / "onnx/model.onnx"
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, sha256 {sha256(path)}")
    checked = random.Random(1).sample(read(arguments.data / "tune.jsonl"), CHECKED_GROUPS)
    failures = check(path, judge, pairs_of(checked, reader, each=3), arguments.scale, arguments.shift)
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
