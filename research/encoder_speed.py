"""How fast the bundled encoder is, against what the machine's integer products allow and against fastembed.

    .venv/bin/python -m research.encoder_speed

Rounds of the competitors alternate, so that a busy machine slows all of them; ratios are taken within a round.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime

from thresher.models.encoders import BUNDLED, DIMENSION, BundledEncoder
from thresher.models.fastembed_models import FastembedEncoder
from thresher.models.onnx import usable_cores

TOKENS = 192  # a chunk of 900 characters, the default, has about this many
LAYERS, INNER = 6, 1536  # all-MiniLM-L6-v2's
SHAPES = ((DIMENSION, DIMENSION, 4), (DIMENSION, INNER, 1), (INNER, DIMENSION, 1))  # inputs, outputs, times per layer
TOPICS = "grain chaff field water judge letter river market paper light engine garden winter bridge music forest"
UINT8, INT8, INT32 = 2, 3, 6  # onnx.TensorProto.DataType
QUESTION = "Which proteins are involved in the repair of damaged DNA in human cells?"


def texts(count: int) -> list[str]:
    """Texts of TOKENS tokens each, [CLS] and [SEP] included; every word is one token."""
    generator = np.random.default_rng(0)
    return [" ".join(generator.choice(TOPICS.split(), TOKENS - 2)) for _ in range(count)]


# --- what is possible -------------------------------------------------------------------------------------------------


def operations_per_text(*, attention: bool) -> float:
    """Multiplications and additions of the weight matrices, and of attention if wanted, for one text."""
    weights = sum(2 * TOKENS * inputs * outputs * times for inputs, outputs, times in SHAPES)
    return float(LAYERS * (weights + attention * 2 * 2 * TOKENS * TOKENS * DIMENSION))


class Products:
    """The weight matrices' products of some texts and nothing else, spread over the cores: u8 x s8, one text a call."""

    def __init__(self, count: int, cores: int) -> None:
        self._count = count
        self._pool = ThreadPoolExecutor(cores)
        generator = np.random.default_rng(1)
        self._steps = [
            (
                onnxruntime.InferenceSession(product_model(inputs, outputs), one_thread()),
                generator.integers(0, 256, (TOKENS, inputs), np.uint8),
                LAYERS * times,
            )
            for inputs, outputs, times in SHAPES
        ]

    @property
    def operations(self) -> float:
        """Multiplications and additions of one call of this object."""
        return self._count * operations_per_text(attention=False)

    def __call__(self) -> None:
        """Every product of every text."""
        list(self._pool.map(self._one, range(self._count)))

    def _one(self, _text: int) -> None:
        for session, activations, times in self._steps:
            for _ in range(times):
                session.run(None, {"x": activations})


def one_thread() -> onnxruntime.SessionOptions:
    """Options of a session that runs on the thread that calls it."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return options


def product_model(inputs: int, outputs: int) -> bytes:
    """An ONNX file with one MatMulInteger: x (rows, inputs) uint8 to y (rows, outputs) int32.

    Written as protobuf by hand, so that the benchmark needs no further package; the numbers are onnx.proto's.
    """
    weights = np.random.default_rng(0).integers(-63, 64, (inputs, outputs)).astype(np.int8)
    tensor = number(1, inputs) + number(1, outputs) + number(2, INT8) + block(8, b"w") + block(9, weights.tobytes())
    node = block(1, b"x") + block(1, b"w") + block(2, b"y") + block(4, b"MatMulInteger")
    graph = block(1, node) + block(2, b"g") + block(5, tensor)
    graph += block(11, matrix_description(b"x", UINT8, inputs)) + block(12, matrix_description(b"y", INT32, outputs))
    return number(1, 8) + block(7, graph) + block(8, block(1, b"") + number(2, 17))


def matrix_description(name: bytes, element: int, columns: int) -> bytes:
    """A ValueInfoProto: a matrix with any number of rows."""
    shape = block(1, block(2, b"rows")) + block(1, number(1, columns))
    return block(1, name) + block(2, block(1, number(1, element) + block(2, shape)))


def number(field: int, value: int) -> bytes:
    """A protobuf integer field."""
    return varint(field << 3) + varint(value)


def block(field: int, content: bytes) -> bytes:
    """A protobuf field of bytes, text or a message."""
    return varint(field << 3 | 2) + varint(len(content)) + content


def varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first, the high bit set on all but the last."""
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


# --- what is reached --------------------------------------------------------------------------------------------------


def timed(call: Callable[[], object]) -> float:
    """Seconds one call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def side_by_side(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Seconds of each call, round by round; the order turns so that none is always first."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    names = list(calls)
    for call in calls.values():
        call()
    for turn in range(rounds):
        shift = turn % len(names)
        for name in names[shift:] + names[:shift]:
            seconds[name].append(timed(calls[name]))
    return seconds


def load_milliseconds() -> tuple[float, float]:
    """Of a fresh process: importing the module with its libraries, then loading the weights. Best of five."""
    code = (
        "import time; start = time.perf_counter();"
        "import onnxruntime, tokenizers; from thresher.models.encoders import BundledEncoder;"
        "imported = time.perf_counter(); BundledEncoder().warm_up();"
        "print(1000 * (imported - start), 1000 * (time.perf_counter() - imported))"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(5)]
    figures = [tuple(map(float, run.stdout.split())) for run in runs]
    return min(figure[0] for figure in figures), min(figure[1] for figure in figures)


def spread(values: Sequence[float]) -> str:
    """Median and range, as printed."""
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def processor() -> str:
    """The processor's name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    flags = next((line for line in lines if line.startswith("flags")), "")
    return f"{names[0] if names else platform.machine()}{', VNNI' if 'vnni' in flags else ', no VNNI'}"


def main() -> None:
    """Prints one table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--texts", type=int, default=96, help="texts a round")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    cores = usable_cores()
    versions = f"Python {platform.python_version()}, onnxruntime {onnxruntime.__version__}"
    print(f"machine: {processor()}, {cores} cores; {versions}")

    sample = texts(arguments.texts)
    encoder, other, products = BundledEncoder(), FastembedEncoder(str(BUNDLED)), Products(len(sample), cores)
    other.warm_up()
    seconds = side_by_side(
        {
            "products": products,
            "bundled": lambda: encoder.encode(sample),
            "fastembed": lambda: other.encode(sample),
        },
        arguments.rounds,
    )
    rates = [products.operations / value for value in seconds["products"]]
    possible = [rate / operations_per_text(attention=True) for rate in rates]
    print(f"u8 x s8 products, GOP/s on all cores: {spread([rate / 1e9 for rate in rates])}")
    print(f"texts/s of {TOKENS} tokens that they allow: {spread(possible)}")
    for name in ("bundled", "fastembed"):
        reached = [len(sample) / value for value in seconds[name]]
        fractions = [own / most for own, most in zip(reached, possible, strict=True)]
        print(f"{name}: texts/s {spread(reached)}, of what the products allow {spread(fractions)}")
    ratios = [other / own for own, other in zip(seconds["bundled"], seconds["fastembed"], strict=True)]
    print(f"bundled over fastembed, round by round: {spread(ratios)}")

    query = [1000 * timed(lambda: encoder.encode_query(QUESTION)) for _ in range(300)]
    print(f"query: p50 {np.percentile(query, 50):.2f} ms, p95 {np.percentile(query, 95):.2f} ms")
    imports, loading = load_milliseconds()
    print(f"cold start: {imports:.0f} ms to import onnxruntime and tokenizers, {loading:.0f} ms to load the weights")


if __name__ == "__main__":
    main()
