"""How fast the judge is, beside fastembed and the float model."""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import ROOT
from thresher.models.cross_encoders import BundledJudge
from thresher.models.fastembed_models import FastembedCrossEncoder
from thresher.models.onnx import usable_cores

PAIRS, PAIR_TOKENS, QUESTION_TOKENS = 20, 150, 12
PAUSE = 0.3  # seconds between measurements: threads of other libraries go on spinning for a while

BESIDE = """
import json, pathlib, sys, time
data, run, threads = sys.argv[1:]
import torch, transformers
sys.path.insert(0, "src")
from research.export_encoder import download
from thresher_training.network import Judge
torch.set_num_threads(int(threads))
original = download(pathlib.Path(data))
judge = Judge(json.loads((original / "config.json").read_text())).eval()
weights = pathlib.Path(run) / "judge.pt"
if weights.exists():
    judge.load_state_dict(torch.load(weights, map_location="cpu"))
tokenizer = transformers.AutoTokenizer.from_pretrained(original)
def plain(question, texts):
    batch = tokenizer([question] * len(texts), texts, padding=True, truncation=True, return_tensors="pt")
    return judge(batch["input_ids"], batch["token_type_ids"], batch["attention_mask"])[0][:, 0].tolist()
calls = {"torch": plain}
try:
    from sentence_transformers import CrossEncoder
except ImportError:
    pass
else:
    other = CrossEncoder(str(original), num_labels=1, device="cpu")
    calls["sentence-transformers"] = lambda question, texts: other.predict([(question, text) for text in texts])
print(json.dumps(list(calls)), flush=True)
with torch.inference_mode():
    for line in sys.stdin:
        name, question, texts = json.loads(line)
        start = time.perf_counter()
        calls[name](question, texts)
        print(time.perf_counter() - start, flush=True)
"""


class Beside:
    """The float model in another Python, asked one repetition at a time."""

    def __init__(self, python: str, data: Path, run: Path) -> None:
        command = [python, "-c", BESIDE, str(data), str(run), str(usable_cores())]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        self.names: list[str] = json.loads(self._answer())

    def __call__(self, name: str, question: str, texts: Sequence[str]) -> float:
        """Seconds of one repetition."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([name, question, texts]) + "\n")
        self._process.stdin.flush()
        return float(self._answer())

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the other Python ended with {self._process.wait()}")
        return line

    def close(self) -> None:
        """End the other Python."""
        self._process.communicate()


def speed(judge: BundledJudge, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Seconds for 20 unread pairs, beside others; the order turns, ratios are taken within a round."""
    fastembed = FastembedCrossEncoder(str(folder))
    calls: dict[str, Callable[[str, Sequence[str]], float]] = {
        "bundled": lambda question, texts: timed(lambda: judge(question, texts)),
        "fastembed": lambda question, texts: timed(lambda: fastembed(question, texts)),
    }
    beside = None
    if options.torch:
        beside = Beside(options.torch, options.data or options.run.parent, options.run)
        for name in beside.names:
            calls[name] = partial(beside, name)
    draw = np.random.default_rng(0)
    words = single_tokens(folder)
    question, texts = unread(draw, words)
    agree = [abs(a.value - b.value) for a, b in zip(judge(question, texts), fastembed(question, texts), strict=True)]
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    names = list(calls)
    for turn in range(-2, options.repetitions):  # two to warm up
        shift = turn % len(names)
        for name in names[shift:] + names[:shift]:
            time.sleep(PAUSE)
            passed = calls[name](*unread(draw, words))
            if turn >= 0:
                seconds[name].append(passed)
    if beside is not None:
        beside.close()
    print(f"{PAIRS} unread pairs of {PAIR_TOKENS} tokens, {usable_cores()} cores, {options.repetitions} repetitions")
    print(f"largest difference of a logit to fastembed's: {max(agree):.4f}")
    results: dict[str, Any] = {"pairs": PAIRS, "tokens": PAIR_TOKENS, "cores": usable_cores(), "largest": max(agree)}
    for name, values in seconds.items():
        p50 = statistics.median(values)
        times = [other / own for other, own in zip(values, seconds["bundled"], strict=True)]
        spread = {"median": statistics.median(times), "lowest": min(times), "highest": max(times)}
        results[name] = {"p50_ms": 1000 * p50, "pairs_per_second": PAIRS / p50, "times_bundled": spread}
        print(
            f"{name:<22} p50 {1000 * p50:7.1f} ms ({1000 * min(values):.1f} to {1000 * max(values):.1f})  "
            f"{PAIRS / p50:6.1f} pairs/s  {spread['median']:.2f} times bundled's seconds "
            f"({spread['lowest']:.2f} to {spread['highest']:.2f})"
        )
    return results


def timed(call: Callable[[], object]) -> float:
    """Seconds one call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def single_tokens(folder: Path) -> list[str]:
    """Words of the vocabulary, each of which is one token."""
    vocabulary = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    return sorted(word for word in vocabulary if word.isascii() and word.isalpha() and word.islower() and len(word) > 3)


def unread(draw: np.random.Generator, words: Sequence[str]) -> tuple[str, list[str]]:
    """A question and texts that nobody has read, each pair of `PAIR_TOKENS` tokens with its three marks."""
    question = " ".join(draw.choice(words, QUESTION_TOKENS))
    return question, [" ".join(draw.choice(words, PAIR_TOKENS - 3 - QUESTION_TOKENS)) for _ in range(PAIRS)]
