"""Trains the bundled reader: the judge's layers taken further on questions with a passage, until they say where the
answer stands, whether there is one, and whether a text supports a claim.

    python -m research.reader_data --groups training --out training/reader.jsonl
    python -m research.train_reader --rows training/reader.jsonl --out training/reader     # a CPU or a GPU
    python -m research.export_judge --run training/reader --data training --target TARGET

The shapes are those of research.train_judge; the weights it starts from are the exported judge's, taken back to
floats. Losses: of the span, minus the logarithm of the probability of its places, where the passage answers; of
relevance and support, binary cross-entropy. Batches are planned from the seed by like lengths, so that an interrupted
run resumes where its last checkpoint stands and ends with the same weights.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from research.export_encoder import PROJECT, download
from research.train_judge import as_typed, read, save
from thresher.training.export import floats_of
from thresher.training.losses import span_loss
from thresher.training.network import Judge, mixed, optimiser, rate
from thresher.training.tokens import Pair, Reader, padded

SEED = 29
STARTED_FROM = PROJECT / "src/thresher/models/weights/thresher-judge-int8/onnx/model.onnx"
ROWS_A_STEP = 36
BUCKET = 60
"""Steps whose rows are sorted by length together."""
TITLED = 0.75
SPAN_WEIGHT, ANSWERS_WEIGHT, SUPPORT_WEIGHT = 1.0, 1.0, 0.7
BY_PEOPLE = 1.5
"""Weight of whether there is an answer where people judged that there is none."""
RATES = (1.5e-4, 1.5e-4, 5e-4)
"""Learning rates of matrices, of what is not decayed, and of the heads: more than the judge's, which had fewer rows."""
CHECKPOINT_STEPS = 100


def planned(rows: Sequence[dict[str, Any]], steps: int) -> list[list[int]]:
    """The rows of each step: of a shuffled epoch, like lengths together, the steps shuffled again; round and round."""
    draw = random.Random(SEED)
    plan: list[list[int]] = []
    while len(plan) < steps:
        order = draw.sample(range(len(rows)), len(rows))
        for at in range(0, len(order), ROWS_A_STEP * BUCKET):
            bucket = sorted(order[at : at + ROWS_A_STEP * BUCKET], key=lambda row: len(rows[row]["text"]))
            of_bucket = [bucket[first : first + ROWS_A_STEP] for first in range(0, len(bucket), ROWS_A_STEP)]
            draw.shuffle(of_bucket)
            plan += of_bucket
    return plan[:steps]


def pair_of(reader: Reader, row: dict[str, Any], draw: random.Random) -> Pair:
    """A row as tokens."""
    question = row["claim"] if "claim" in row else as_typed(row["question"], draw)
    passage = {"title": row["title"], "text": row["text"], "spans": row.get("spans", ())}
    return reader.pair(question, passage, draw, titled=draw.random() < TITLED)


def answered(row: dict[str, Any], pair: Pair) -> bool:
    """Whether what was read of a row answers: with a known place, only if the place was read."""
    return bool(pair.spans) if row["spans"] else row["answers"]


def losses(judge: Judge, reader: Reader, rows: Sequence[dict[str, Any]], draw: random.Random) -> dict[str, Tensor]:
    """Span, answers and support of one step."""
    pairs = [pair_of(reader, row, draw) for row in rows]
    device = judge.device
    batch = padded(pairs).to(device)
    with mixed(device):
        verdicts, spans = judge(batch.ids, batch.types, batch.mask)
    asked = [at for at, row in enumerate(rows) if "claim" not in row]
    claims = [at for at, row in enumerate(rows) if "claim" in row]
    found: dict[str, Tensor] = {}
    if places := [span_loss(spans[at], batch.body[at], pairs[at].spans) for at in asked if pairs[at].spans]:
        found["span"] = SPAN_WEIGHT * torch.stack(places).mean()
    if asked:
        targets = torch.tensor([float(answered(rows[at], pairs[at])) for at in asked], device=device)
        by_people = [BY_PEOPLE if rows[at]["source"] == "squad_train_slices" else 1.0 for at in asked]
        each = functional.binary_cross_entropy_with_logits(verdicts[asked, 0], targets, reduction="none")
        found["answers"] = ANSWERS_WEIGHT * (each * torch.tensor(by_people, device=device)).mean()
    if claims:
        labels = torch.tensor([rows[at]["label"] for at in claims], device=device)
        found["support"] = SUPPORT_WEIGHT * functional.binary_cross_entropy_with_logits(verdicts[claims, 1], labels)
    return found


def main() -> None:
    """Train from the last checkpoint to the end."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=Path, required=True, help="what research.reader_data wrote")
    parser.add_argument("--out", type=Path, required=True, help="checkpoint, log and model; an unfinished run resumes")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--threads", type=int, default=2, help="on a CPU")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(SEED)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    original = download(arguments.rows.parent)
    reader, rows = Reader(original), read(arguments.rows)
    plan = planned(rows, arguments.steps)
    judge = Judge(json.loads((original / "config.json").read_text(encoding="utf-8")))
    judge.load_state_dict(floats_of(STARTED_FROM))
    judge.to(device).train()
    optimise = optimiser(judge, RATES)
    checkpoint, log = arguments.out / "checkpoint.pt", arguments.out / "log.jsonl"
    done = 0
    if checkpoint.exists():
        state = torch.load(checkpoint, map_location=device)
        judge.load_state_dict(state["judge"])
        optimise.load_state_dict(state["optimiser"])
        torch.set_rng_state(state["random"])
        done = state["step"]
    seen: dict[str, list[float]] = {}
    since = time.monotonic()
    for step in range(done, len(plan)):
        for group, share in zip(optimise.param_groups, RATES, strict=True):
            group["lr"] = share * rate(step, len(plan))
        found = losses(judge, reader, [rows[at] for at in plan[step]], random.Random(SEED * 1_000_003 + step))
        torch.stack(list(found.values())).sum().backward()
        nn.utils.clip_grad_norm_(judge.parameters(), 1.0)
        optimise.step()
        optimise.zero_grad()
        for name, value in found.items():
            seen.setdefault(name, []).append(float(value))
        if (step + 1) % 25 == 0 or step + 1 == len(plan):
            means = {name: round(sum(values) / len(values), 4) for name, values in seen.items()}
            told = {"step": step + 1, "of": len(plan), "seconds": round(time.monotonic() - since, 1), **means}
            with log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(told) + "\n")
            print(json.dumps(told), flush=True)
            seen = {}
        if (step + 1) % CHECKPOINT_STEPS == 0 or step + 1 == len(plan):
            state = {"judge": judge.state_dict(), "optimiser": optimise.state_dict(), "step": step + 1}
            save(checkpoint, {**state, "random": torch.get_rng_state()})
    torch.save(judge.state_dict(), arguments.out / "judge.pt")


if __name__ == "__main__":
    main()
