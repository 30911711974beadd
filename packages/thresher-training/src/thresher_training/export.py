"""Writes the judge as the int8 file of the engine, and reads such a file back as floats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import Tensor

from thresher_training.int8_graph import Graph, Quantisation, Weights, embeddings, layers, model_of, smoothed
from thresher_training.network import VERDICTS, Config, Judge
from thresher_training.tokens import Pair, padded


def exported(judge: Judge, config: Config, sample: Sequence[Pair], near: NDArray[np.float32] | None = None) -> bytes:
    """The file of a judge in evaluation mode; `sample` provides activations for smoothing, `near` is as in `layers`."""
    activations = read_by_products(judge.body, lambda: read_all(judge, sample))
    heads = {name: v.detach().numpy() for name, v in judge.named_parameters() if not name.startswith("body")}
    weights: Weights = {name: values.detach().numpy() for name, values in judge.body.named_parameters()}
    weights = smoothed(weights, activations, config["num_hidden_layers"])
    model = build(weights, heads, config, Quantisation(), near)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString(deterministic=True))


@torch.no_grad()
def read_all(judge: Judge, pairs: Sequence[Pair]) -> None:
    """Run the judge on every pair alone."""
    for pair in pairs:
        batch = padded([pair])
        judge(batch.ids, batch.types, batch.mask)


def read_by_products(model: torch.nn.Module, run: Callable[[], object]) -> dict[str, NDArray[np.float32]]:
    """Inputs of every matrix product in a model's layers during `run`, which runs it on one text after the other."""
    seen: dict[str, list[NDArray[np.float32]]] = {}

    def remember(name: str) -> Callable[..., None]:
        return lambda _module, inputs, _output: seen.setdefault(name, []).append(inputs[0][0].numpy())

    hooks = [
        module.register_forward_hook(remember(name))
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear) and name.startswith("encoder")
    ]
    run()
    for hook in hooks:
        hook.remove()
    return {name: np.concatenate(parts) for name, parts in seen.items()}


def build(
    weights: Weights,
    heads: Weights,
    config: Mapping[str, Any],
    quantise: Quantisation,
    near: NDArray[np.float32] | None = None,
) -> onnx.ModelProto:
    """The graph: input_ids, attention_mask and token_type_ids (texts, tokens) to logits, support, denial and spans."""
    graph = Graph()
    layers(graph, weights, config, quantise, embeddings(graph, weights, config, typed=True), near)
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
    for row, output in enumerate(VERDICTS):
        part = {f"{output}.{kind}": heads[f"verdicts.{kind}"][row : row + 1] for kind in ("weight", "bias")}
        linear(graph, part, output, pooled, output=output)
    linear(graph, heads, "spans", hidden, output="spans")
    shapes: dict[str, list[str | int]] = {
        **{name: ["batch", 1] for name in VERDICTS},
        "spans": ["batch", "tokens", 2],
    }
    return model_of(graph, "thresher-judge", ("input_ids", "attention_mask", "token_type_ids"), shapes)


def linear(graph: Graph, heads: Weights, name: str, source: str, *, output: str | None = None) -> str:
    """`source @ weight + bias`, in float."""
    weight = graph.constant(f"{name}.matrix", np.ascontiguousarray(heads[f"{name}.weight"].T))
    product = graph.node("MatMul", source, weight, output=f"{name}.product")
    offset = graph.constant(f"{name}.offset", heads[f"{name}.bias"])
    return graph.node("Add", product, offset, output=output or f"{name}.sum")


# --- back to floats ---------------------------------------------------------------------------------------------------


def floats_of(path: Path) -> dict[str, Tensor]:
    """The weights of an exported judge as floats, with smoothing folded back. Heads missing in the file start at 0."""
    stored = {one.name: torch.tensor(numpy_helper.to_array(one)) for one in onnx.load(path).graph.initializer}
    weights: dict[str, Tensor] = {
        "body.embeddings.word_embeddings.weight": stored["embed.words"].float() * stored["embed.scales"],
        "body.embeddings.position_embeddings.weight": stored["embed.places"],
        "body.embeddings.token_type_embeddings.weight": stored["embed.types"],
    }
    factors = {name.removesuffix(".factors"): one for name, one in stored.items() if name.endswith(".factors")}
    for name, one in stored.items():
        if name.endswith("LayerNorm.gain") or name.endswith("LayerNorm.bias"):
            norm, _, part = name.rpartition(".")
            kind = "weight" if part == "gain" else "bias"
            weights[f"body.{norm}.{kind}"] = one * factors.get(norm, torch.tensor(1.0))
        elif name.endswith(".integers"):
            product = name.removesuffix(".integers")
            before = factors.get(read_by(product))
            weight = one.float().T * stored[f"{product}.scale"].reshape(-1, 1)
            weights[f"body.{product}.weight"] = weight if before is None else weight / before
            weights[f"body.{product}.bias"] = stored.get(f"{product}.offset", stored[f"{product}.bias"])
    width = stored["logits.matrix"].shape[0]
    weights |= {"pool.weight": stored["pool.matrix"].T, "pool.bias": stored["pool.offset"]}
    weights |= {"spans.weight": stored["spans.matrix"].T, "spans.bias": stored["spans.offset"]}
    weights["verdicts.weight"] = torch.cat([stored.get(f"{name}.matrix", torch.zeros(width, 1)).T for name in VERDICTS])
    weights["verdicts.bias"] = torch.cat(
        [stored.get(f"{name}.offset", torch.zeros(1)).reshape(-1) for name in VERDICTS]
    )
    return {name: one.contiguous() for name, one in weights.items()}


def read_by(product: str) -> str:
    """The normalisation whose output is a product's input."""
    layer, _, part = product.removeprefix("encoder.layer.").partition(".")
    if part.startswith("attention.self"):
        return f"encoder.layer.{int(layer) - 1}.output.LayerNorm" if int(layer) else "embeddings.LayerNorm"
    return f"encoder.layer.{layer}.attention.output.LayerNorm" if part == "intermediate.dense" else ""
