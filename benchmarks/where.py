"""Where the time goes: processor seconds of each step, from file to committed row and from question to answer.

    python -m benchmarks.where [--abstracts 200] [--papers 2] [--questions 20] [--write]

Three tables, each of a process of its own: `thresher index` over abstracts (SciFact) and over papers (PDF), and
questions with `corrective` to those papers. A step has what its own code takes, without the steps inside it; a PDF is
read in another process, whose seconds are named apart. The last lines hold the tokens that the networks read against
what the products of their weights would take alone at the rate of integer products measured here (needs `onnx`).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.machine import DATA, ROOT, describe
from benchmarks.seeds.rows import Provenance
from benchmarks.stale import footing

PAGE = ROOT / "docs" / "results" / "where.md"
MEASURE = "import sys, json; from benchmarks.where import measured; print(json.dumps(measured(*json.load(sys.stdin))))"
OPERATIONS = 2 * 6 * 12 * 384**2
"""Of a token in the weights of either network: six layers, each twelve squares of its width."""

INDEXING = {
    "cutting": ["thresher.chunking.hierarchical:HierarchicalChunker.__call__"],
    "tokens": ["thresher.models.encoders:BundledEncoder._cut"],
    "encoder": ["thresher.models.encoders:BundledEncoder.encode"],
    "words": ["thresher.stores.lance:chunk_terms"],
    "store": [
        f"thresher.indexing.store:DocumentStore.{name}"
        for name in ("append", "apply", "record_files", "complete", "maintain", "create_tables")
    ],
}
ASKING = {
    "encoder": ["thresher.models.encoders:BundledEncoder.encode_query"],
    "search": [f"thresher.stores.lance:LanceChunkTable.{name}" for name in ("nearest", "matching", "vectors")],
    "documents": ["thresher.indexing.store:DocumentStore.documents"],
    "judge's network": ["thresher.models.cross_encoders:BundledJudge._each"],
    "answer without it": ["thresher.answering.answerer:Answerer.__call__"],
}


class Clock:
    """Processor seconds by step; a step within another one is taken out of it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._within: list[float] = []

    def around(self, step: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """The call, timed. All steps run in one thread, whatever threads they use themselves."""

        def timed(*given: Any, **named: Any) -> Any:
            began = time.process_time()
            self._within.append(0.0)
            try:
                return call(*given, **named)
            finally:
                taken = time.process_time() - began
                self.seconds[step] += taken - self._within.pop()
                if self._within:
                    self._within[-1] += taken

        return timed

    def watch(self, steps: dict[str, list[str]]) -> None:
        """Put the clock around functions, given as module:name or module:class.name."""
        for step, places in steps.items():
            for place in places:
                module, _, path = place.partition(":")
                *owner, name = path.split(".")
                holder = __import__(module, fromlist=["_"])
                for one in owner:
                    holder = getattr(holder, one)
                setattr(holder, name, self.around(step, getattr(holder, name)))


def measured(task: str, home: str, given: list[str]) -> dict[str, Any]:
    """The steps of one task in this process, and the tokens that its networks read."""
    import thresher
    from thresher.models.running import WeightsFolder

    clock, read = Clock(), Counter[str]()
    opened: Any = WeightsFolder._opened

    class Counting:
        def __init__(self, session: Any) -> None:
            self._session = session

        def __getattr__(self, name: str) -> Any:
            return getattr(self._session, name)

        def run(self, outputs: Any, inputs: Any) -> Any:
            read["texts"] += 1
            read["tokens"] += inputs["input_ids"].size
            return self._session.run(outputs, inputs)

    def counted(self: Any) -> Any:
        loaded = opened(self)
        return loaded._replace(session=Counting(loaded.session))

    setattr(WeightsFolder, "_opened", counted)  # noqa: B010
    with thresher.open(home, "papers" if task == "questions" else task) as collection:
        if task == "questions":
            collection.ask("Is it warm?")
        clock.watch(ASKING if task == "questions" else INDEXING)
        read.clear()
        wall, began = time.perf_counter(), time.process_time()
        if task == "questions":
            for question in given:
                collection.ask(question)
            count = len(given)
        else:
            report = collection.add(*given)
            count = report.added
        total, wall = time.process_time() - began, time.perf_counter() - wall
    children = os.times().children_user + os.times().children_system
    steps = {**clock.seconds, "the rest": total - sum(clock.seconds.values())}
    if children > 0.1:
        steps["reading, in its process"] = children
    return {"task": task, "count": count, "steps": steps, "wall": wall, **read}


def rate() -> float | None:
    """Integer products a second of one core, as ONNX Runtime runs them; None without `onnx`."""
    try:
        import onnx
    except ImportError:
        return None
    import numpy as np
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.default_rng(0)
    weights = numpy_helper.from_array(random.integers(-63, 63, (384, 1536)).astype(np.int8), "weights")
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["rows", "weights"], ["product"])],
        "product",
        [helper.make_tensor_value_info("rows", TensorProto.UINT8, [128, 384])],
        [helper.make_tensor_value_info("product", TensorProto.INT32, [128, 1536])],
        [weights],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(onnx.ModelProto.SerializeToString(model), options)
    rows = {"rows": random.integers(0, 255, (128, 384)).astype(np.uint8)}
    taken = []
    for _ in range(200):
        began = time.process_time()
        session.run(None, rows)
        taken.append(time.process_time() - began)
    return 2 * 128 * 384 * 1536 / sorted(taken)[len(taken) // 2]


def table(found: dict[str, Any], products: float | None) -> str:
    """One task as Markdown."""
    total, one = sum(found["steps"].values()), found["count"]
    names = {"questions": "a question", "papers": "a paper", "abstracts": "an abstract"}
    of = names[found["task"]]
    lines = [f"## {one} {found['task']}", "", f"| step | ms of CPU, {of} | share |", "|---|---|---|"]
    for step, seconds in sorted(found["steps"].items(), key=lambda each: -each[1]):
        lines.append(f"| {step} | {1000 * seconds / one:.1f} | {seconds / total:.0%} |")
    lines.append(f"| all | {1000 * total / one:.1f} | |")
    told = f"The networks read {found['tokens'] / one:.0f} tokens in {found['texts'] / one:.1f} texts"
    if products:
        least = found["tokens"] * OPERATIONS / products
        told += f"; the products of their weights alone would take {1000 * least / one:.1f} ms"
        told += f" at {products / 1e9:.0f} billion operations a second and core"
    return "\n".join([*lines, "", f"{told}. Wall time {1000 * found['wall'] / one:.0f} ms.", ""])


def main() -> None:
    """Measure each task in a process of its own and print."""
    from benchmarks.quality.sets import papers

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--abstracts", type=int, default=200)
    parser.add_argument("--papers", type=int, default=2)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--write", action="store_true", help="write docs/results/where.md")
    options = parser.parse_args()
    asked = papers()
    with TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus.jsonl"
        rows = (DATA / "scifact" / "corpus.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        corpus.write_text("".join(rows[: options.abstracts]), encoding="utf-8")
        files = [str(path) for path in asked.sources["papers"][: options.papers]]
        questions = [one.question for one in asked.questions][: options.questions]
        found = []
        for task, given in {"abstracts": [str(corpus)], "papers": files, "questions": questions}.items():
            order = json.dumps([task, str(Path(folder) / "home"), given])
            done = subprocess.run(
                [sys.executable, "-c", MEASURE], input=order, capture_output=True, text=True, check=True
            )
            found.append(json.loads(done.stdout.splitlines()[-1]))
    products = rate()
    told = "\n".join(table(each, products) for each in found)
    print(told)
    if options.write:
        machine = ", ".join(f"{key} {value}" for key, value in describe().items())
        made, command = Provenance.now(), f"python -m benchmarks.where {' '.join(sys.argv[1:])}"
        below = footing(made.commit, made.date, command, ("src/thresher", "benchmarks/where.py"))
        PAGE.write_text(f"# Where the time goes\n\n{machine}.\n\n{told}\n{below}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
