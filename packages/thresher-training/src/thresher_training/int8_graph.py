"""An int8 BERT as an ONNX graph: quantisation of weights, and measures against large activations.

The graph is written node by node instead of being traced and fused, for three measured reasons (ONNX Runtime 1.31, one
AVX-512 core, 192 tokens): the fused SkipLayerNormalization takes 374 us where Sum and LayerNormalization take 60; a
bias inside the integer product is free where BiasGelu costs 40 us; a traced graph changes with every exporter version,
while this one has the same bytes on every run.

Quantised are the word embeddings (8 bits, one scale per row) and all 36 weight matrices, symmetrically, one scale per
output, to 7 bits in int8: CPUs without VNNI add pairs of u8 x s8 products in 16 saturating bits, where 2 x 255 x 63
fits and 2 x 255 x 127 does not. Activations are quantised at run time (DynamicQuantizeLinear), one scale per tensor,
that is per text if texts are encoded one by one. Attention, softmax, GELU and normalisation stay in float. Two measures
keep a few large activations from spoiling the scale of all others:

* Smoothing, after SmoothQuant (Xiao et al. 2022, equation 3): channels with large values are divided by a factor, and
  the weights that read them multiplied by it; each channel is also centred, which the biases absorb. Departs from the
  paper: only channels above the median are divided, and the weights do not affect the factor.
* Rows: activations of the feed-forward pair are divided by the largest value of their token, and the product is
  multiplied by it. The large values are in one or two tokens of a text, which factors per channel miss.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

OPSET = 17  # the first with LayerNormalization
IR_VERSION = 8  # of opset 17, so that old runtimes load the file

ROW_FLOOR = 0.01  # GELU is always above -0.17: a row with a smaller maximum has no information

Weights = Mapping[str, NDArray[np.float32]]

# --- the graph --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Quantisation:
    """How the model becomes integers; `bits` counts the sign, `smooth` and `rows` are explained above."""

    bits: int = 7
    per_channel: bool = True
    smooth: bool = True
    rows: bool = True

    @property
    def largest(self) -> int:
        """The largest magnitude of a quantised weight: 63 for 7 bits, 127 for 8."""
        return int(2 ** (self.bits - 1) - 1)

    def __call__(self, weight: NDArray[np.float32], *, axis: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        """Integers of the same shape, and scales: one for each index of the other axis, or one. The product sums over
        `axis`.
        """
        scale = np.abs(weight).max(axis=axis if self.per_channel else None, keepdims=True) / self.largest
        scale = np.maximum(scale, np.finfo(np.float32).tiny)
        integers = np.clip(np.rint(weight / scale), -self.largest, self.largest)
        return integers.astype(np.int8), scale.astype(np.float32)


@dataclass(slots=True)
class Graph:
    """Nodes and constants of an ONNX graph, in order of addition."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)

    def node(self, kind: str, *inputs: str, output: str, count: int = 1, domain: str = "", **attributes: Any) -> str:
        """Add a node; returns the name of its (first) output."""
        outputs = [output] if count == 1 else [f"{output}.{number}" for number in range(count)]
        self.nodes.append(helper.make_node(kind, list(inputs), outputs, name=output, domain=domain, **attributes))
        return outputs[0]

    def constant(self, name: str, values: NDArray[Any]) -> str:
        """Add an initializer; returns its name."""
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name


def layers(
    graph: Graph,
    weights: Weights,
    config: Mapping[str, Any],
    quantise: Quantisation,
    hidden: str,
    near: NDArray[np.float32] | None = None,
) -> None:
    """All layers, from the embeddings to `last_hidden_state`.

    `near` (1, heads, most tokens, most tokens) is added to the attention of every layer.
    """
    read = [graph.node("Cast", "attention_mask", output="mask", to=TensorProto.INT32)]
    if near is not None:
        first, axes = graph.constant("near.first", np.array([0, 0])), graph.constant("near.axes", np.array([2, 3]))
        size = graph.node("Concat", "embed.length", "embed.length", output="near.size", axis=0)
        read.append(graph.node("Slice", graph.constant("near.all", near), first, size, axes, output="near"))
    for number in range(config["num_hidden_layers"]):
        last = number == config["num_hidden_layers"] - 1
        hidden = layer(graph, weights, config, quantise, number, hidden, read, "last_hidden_state" if last else None)


def model_of(
    graph: Graph, name: str, inputs: Sequence[str], outputs: Mapping[str, Sequence[str | int]]
) -> onnx.ModelProto:
    """The graph with its inputs, (batch, tokens) integers, and float outputs of these shapes."""
    of_inputs = [helper.make_tensor_value_info(each, TensorProto.INT64, ["batch", "tokens"]) for each in inputs]
    of_outputs = [helper.make_tensor_value_info(each, TensorProto.FLOAT, shape) for each, shape in outputs.items()]
    body = helper.make_graph(graph.nodes, name, of_inputs, of_outputs, graph.constants)
    domains = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(body, opset_imports=domains, ir_version=IR_VERSION, producer_name="thresher")


def embeddings(graph: Graph, weights: Weights, config: Mapping[str, Any], *, typed: bool = False) -> str:
    """Word (int8, one scale per row) plus position plus token type, if there are types.

    Without `typed` all tokens have type 0.
    """
    rows, scales = Quantisation(bits=8)(weights["embeddings.word_embeddings.weight"], axis=1)
    word = graph.node("Gather", graph.constant("embed.words", rows), "input_ids", output="embed.rows", axis=0)
    scale = graph.node("Gather", graph.constant("embed.scales", scales), "input_ids", output="embed.row_scales", axis=0)
    word = graph.node("Cast", word, output="embed.float", to=TensorProto.FLOAT)
    word = graph.node("Mul", word, scale, output="embed.word")

    shape = graph.node("Shape", "input_ids", output="embed.length", start=1, end=2)
    zero = graph.constant("zero", np.array([0], np.int64))
    positions = weights["embeddings.position_embeddings.weight"]
    types = weights.get("embeddings.token_type_embeddings.weight")
    places = graph.constant("embed.places", positions if typed or types is None else positions + types[0])
    summands = [word, graph.node("Slice", places, zero, shape, zero, output="embed.place")]
    if typed and types is not None:
        table = graph.constant("embed.types", types)
        summands.append(graph.node("Gather", table, "token_type_ids", output="embed.type", axis=0))
    return normalise(graph, weights, config, "embeddings.LayerNorm", summands)


def layer(
    graph: Graph,
    weights: Weights,
    config: Mapping[str, Any],
    quantise: Quantisation,
    number: int,
    hidden: str,
    read: Sequence[str],
    output: str | None,
) -> str:
    """One transformer layer: attention, then the feed-forward pair, each with residual and normalisation.

    `read`: the mask, and what is added to the attention, if anything is.
    """
    source = f"encoder.layer.{number}"
    heads = [f"{source}.attention.self.{part}" for part in ("query", "key", "value")]
    attended = graph.node(
        "MultiHeadAttention",
        *integer_products(graph, weights, quantise, heads, hidden),
        "",  # the bias is in the products
        *read,
        output=f"{source}.attention.context",
        domain="com.microsoft",
        num_heads=config["num_attention_heads"],
    )
    (attended,) = integer_products(graph, weights, quantise, [f"{source}.attention.output.dense"], attended)
    summands = (attended, residual(graph, weights, normalisation_before(number), hidden))
    hidden = normalise(graph, weights, config, f"{source}.attention.output.LayerNorm", summands)

    (inner,) = integer_products(graph, weights, quantise, [f"{source}.intermediate.dense"], hidden)
    inner = graph.node("Gelu", inner, output=f"{source}.intermediate.gelu", domain="com.microsoft")
    product = row_scaled_product if quantise.rows else lone_product
    outer = product(graph, weights, quantise, f"{source}.output.dense", inner)
    summands = (outer, residual(graph, weights, f"{source}.attention.output.LayerNorm", hidden))
    return normalise(graph, weights, config, f"{source}.output.LayerNorm", summands, output)


def normalisation_before(number: int) -> str:
    """Name of the normalisation whose output is a layer's input."""
    return f"encoder.layer.{number - 1}.output.LayerNorm" if number else "embeddings.LayerNorm"


def residual(graph: Graph, weights: Weights, normalisation: str, hidden: str) -> str:
    """`hidden` without the smoothing factors of its normalisation."""
    if f"{normalisation}.factors" not in weights:
        return hidden
    factors = graph.constant(f"{normalisation}.factors", weights[f"{normalisation}.factors"])
    return graph.node("Mul", hidden, factors, output=f"{normalisation}.residual")


def lone_product(graph: Graph, weights: Weights, quantise: Quantisation, name: str, hidden: str) -> str:
    """`hidden @ weight + bias`, with one activation scale for all rows."""
    return integer_products(graph, weights, quantise, [name], hidden)[0]


def row_scaled_product(graph: Graph, weights: Weights, quantise: Quantisation, name: str, hidden: str) -> str:
    """`hidden @ weight + bias`, with each row scaled to a maximum of 1 before and back after."""
    largest = graph.node("ReduceMax", hidden, output=f"{name}.largest", axes=[-1], keepdims=1)
    floor = graph.constant(f"{name}.floor", np.array(ROW_FLOOR, np.float32))
    largest = graph.node("Max", largest, floor, output=f"{name}.divisor")
    scaled = graph.node("Div", hidden, largest, output=f"{name}.scaled")
    unbiased = {**weights, f"{name}.bias": np.zeros_like(weights[f"{name}.bias"])}
    product = lone_product(graph, unbiased, quantise, name, scaled)
    product = graph.node("Mul", product, largest, output=f"{name}.product")
    return graph.node("Add", product, graph.constant(f"{name}.offset", weights[f"{name}.bias"]), output=f"{name}.sum")


def integer_products(
    graph: Graph, weights: Weights, quantise: Quantisation, names: Sequence[str], hidden: str
) -> list[str]:
    """`hidden @ weight + bias` for each name; the activations are quantised once."""
    activation = f"{names[0]}.activation"
    graph.node("DynamicQuantizeLinear", hidden, output=activation, count=3)
    outputs = []
    for name in names:
        integers, scale = quantise(weights[f"{name}.weight"].T, axis=0)
        inputs = [
            f"{activation}.0",
            graph.constant(f"{name}.integers", integers),
            f"{activation}.1",
            graph.constant(f"{name}.scale", scale.reshape(-1) if quantise.per_channel else scale.reshape(())),
            f"{activation}.2",
            "",  # no zero point: the weights are symmetric
            graph.constant(f"{name}.bias", weights[f"{name}.bias"]),
        ]
        outputs.append(graph.node("MatMulIntegerToFloat", *inputs, output=name, domain="com.microsoft"))
    return outputs


def normalise(
    graph: Graph,
    weights: Weights,
    config: Mapping[str, Any],
    name: str,
    summands: Sequence[str],
    output: str | None = None,
) -> str:
    """Layer normalisation of a sum. `Sum`, not `Add`: ONNX Runtime would fuse `Add` into its slower kernel."""
    total = graph.node("Sum", *summands, output=f"{name}.sum")
    gain = graph.constant(f"{name}.gain", weights[f"{name}.weight"])
    bias = graph.constant(f"{name}.bias", weights[f"{name}.bias"])
    epsilon = config["layer_norm_eps"]
    return graph.node("LayerNormalization", total, gain, bias, output=output or name, axis=-1, epsilon=epsilon)


# --- smoothing --------------------------------------------------------------------------------------------------------


def smoothed(weights: Weights, activations: Mapping[str, NDArray[np.float32]], layers: int) -> Weights:
    """Equivalent weights with centred and levelled inputs of products; adds `NAME.factors` for the residuals.

    `activations`: product name to its input on sample texts, (n_tokens, width).
    """
    changed = dict(weights)
    for normalisation, readers, next_product in smoothing_places(layers):
        sample = activations[readers[0]]
        centre = rounded((sample.max(axis=0) + sample.min(axis=0)) / 2)
        spread = np.abs(sample - centre).max(axis=0)
        factors = rounded(np.sqrt(np.maximum(1, spread / np.median(spread))))
        changed[f"{normalisation}.weight"] = changed[f"{normalisation}.weight"] / factors
        changed[f"{normalisation}.bias"] = (changed[f"{normalisation}.bias"] - centre) / factors
        for name in readers:
            changed[f"{name}.bias"] = changed[f"{name}.bias"] + changed[f"{name}.weight"] @ centre
            changed[f"{name}.weight"] = changed[f"{name}.weight"] * factors
        changed[f"{next_product}.bias"] = changed[f"{next_product}.bias"] + centre
        changed[f"{normalisation}.factors"] = factors
    return changed


def smoothing_places(layers: int) -> Iterator[tuple[str, list[str], str]]:
    """Each normalisation with the products that read it, and the product that its output is later added to."""
    for number in range(layers):
        source = f"encoder.layer.{number}"
        heads = [f"{source}.attention.self.{part}" for part in ("query", "key", "value")]
        yield normalisation_before(number), heads, f"{source}.attention.output.dense"
        yield f"{source}.attention.output.LayerNorm", [f"{source}.intermediate.dense"], f"{source}.output.dense"


def rounded(values: NDArray[Any]) -> NDArray[np.float32]:
    """Values in sixteenths: the last bits of another machine's floats do not change the file."""
    return np.asarray(np.rint(values * 16) / 16, np.float32)
