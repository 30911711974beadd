"""Trains the one network that judges, reads and checks: relevance of a text, place of the answer, support of a claim.

    .venv/bin/python -m research.training_data --out training
    .venv/bin/python -m research.reader_data --groups training --out training/reader.jsonl
    .venv/bin/python -m research.checker_data --out training/checker.jsonl
    python -m research.train_model --data training --out training/model --steps 3000
    python -m research.export_judge --run training/model --data training --rows training/reader.jsonl

Runs on a CPU or a GPU. It starts from the weights of an exported model, taken back to floats. A step reads texts of
one of three kinds, drawn by the seed:

* groups: texts of a question, one of which answers (`research.train_judge`: listwise, and binary where labels are
  certain, and the span);
* rows: a question with one passage (`span`: minus the logarithm of the probability of the answer's places;
  `answers`: binary cross-entropy);
* claims: cross-entropy over supported, contradicted and neither, and minus the logarithm of 1 - p(supported) where
  nobody said which of the last two.

Batches hold like lengths and are planned from the seed, so that an interrupted run resumes where its last checkpoint
stands and ends with the same weights. What is kept is a running mean of the weights.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from research.export_encoder import PROJECT, download
from research.train_checker import (
    BY_PEOPLE,
    CLAIM_TOKENS,
    OF_THE_CLAIM,
    answered,
    batches,
    pair_of,
    support_loss,
    train,
    write,
)
from research.train_checker import tuned as tuned_claims
from research.train_judge import (
    GROUP,
    MADE_GROUP,
    PAIRS,
    REPEATED,
    SENTENCES,
    TUNE_GROUPS,
    group_losses,
    read,
    tuned,
)
from thresher_training.export import floats_of
from thresher_training.losses import span_loss
from thresher_training.network import Judge, mixed
from thresher_training.tokens import Reader, padded

SEED = 37
STARTED_FROM = PROJECT / "src/thresher/models/weights/thresher-checker-int8/onnx/model.onnx"
SHARES = {"groups": 0.2, "rows": 0.5, "claims": 0.3}
"""Share of the steps that read texts of each kind."""
ROWS_A_STEP, CLAIMS_A_STEP = 36, 32
TUNE_CLAIMS, TUNE_ROWS = 1_500, 1_200
"""Claims and rows that are kept back to follow the training on."""
GROUPS_WEIGHT, SPAN_WEIGHT, ANSWERS_WEIGHT, SUPPORT_WEIGHT = 1.0, 1.0, 1.0, 1.5
RATES = (1.5e-4, 1.5e-4, 3e-4)
"""Learning rates of matrices, of what is not decayed, and of the heads."""
TUNE_STEPS = 500
AVERAGED = 0.998
"""Of the weights that are kept, a running mean over some 500 steps."""

Losses = dict[str, Tensor]
Step = tuple[str, list[dict[str, Any]]]


def grouped(groups: Sequence[dict[str, Any]], draw: random.Random) -> Iterator[list[dict[str, Any]]]:
    """The groups of each step, of one kind, each set as often in an epoch as the judge's training saw it."""
    while True:
        kinds: dict[str, list[dict[str, Any]]] = {"passage": [], "sentence": [], "made": []}
        for group in groups:
            often = REPEATED.get(group["set"], 1) * (SENTENCES if group["kind"] == "sentence" else 1)
            kind = "made" if group["set"] == "made" else group["kind"]
            kinds[kind] += [group] * (int(often) + (draw.random() < often % 1))
        steps: list[list[dict[str, Any]]] = []
        for kind, chosen in kinds.items():
            draw.shuffle(chosen)
            size = PAIRS // (MADE_GROUP if kind == "made" else GROUP[kind])
            steps += [chosen[at : at + size] for at in range(0, len(chosen), size)]
        draw.shuffle(steps)
        yield from steps


def planned(material: dict[str, Sequence[dict[str, Any]]], steps: int) -> Iterator[Step]:
    """The steps of a run, their kinds drawn by the seed."""
    sources = {
        "groups": grouped(material["groups"], random.Random(SEED)),
        "rows": batches(material["rows"], ROWS_A_STEP, random.Random(SEED + 1)),
        "claims": batches(material["claims"], CLAIMS_A_STEP, random.Random(SEED + 2)),
    }
    draw = random.Random(SEED + 3)
    for _ in range(steps):
        (kind,) = draw.choices(list(SHARES), list(SHARES.values()))
        yield kind, next(sources[kind])


# --- losses -----------------------------------------------------------------------------------------------------------


def row_losses(
    judge: Callable[..., Any], reader: Reader, rows: Sequence[dict[str, Any]], draw: random.Random
) -> Losses:
    """Span and answers of a step of rows. With a known place, only a text in which it was read answers."""
    pairs = [pair_of(reader, row, draw) for row in rows]
    batch = padded(pairs)
    with mixed(batch.ids.device):
        verdicts, spans = judge(batch.ids, batch.types, batch.mask)
    found: Losses = {}
    if places := [span_loss(spans[at], batch.body[at], pair.spans) for at, pair in enumerate(pairs) if pair.spans]:
        found["span"] = SPAN_WEIGHT * torch.stack(places).mean()
    targets = torch.tensor([float(answered(row, pair)) for row, pair in zip(rows, pairs, strict=True)])
    by_people = torch.tensor([BY_PEOPLE if row["source"] == "squad_train_slices" else 1.0 for row in rows])
    each = functional.binary_cross_entropy_with_logits(verdicts[:, 0], targets, reduction="none")
    found["answers"] = ANSWERS_WEIGHT * (each * by_people).mean()
    return found


def claim_losses(
    judge: Callable[..., Any], reader: Reader, rows: Sequence[dict[str, Any]], draw: random.Random
) -> Losses:
    """Support of a step of claims."""
    batch = padded([pair_of(reader, row, draw) for row in rows])
    with mixed(batch.ids.device):
        verdicts, _ = judge(batch.ids, batch.types, batch.mask)
    return {"support": SUPPORT_WEIGHT * support_loss(verdicts[:, 1:], [row["label"] for row in rows]).mean()}


# --- what is kept back ------------------------------------------------------------------------------------------------


@torch.no_grad()
def tuned_rows(judge: Judge, reader: Reader, rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Losses of the rows kept back."""
    judge.eval()
    sums: dict[str, list[float]] = {}
    for at in range(0, len(rows), ROWS_A_STEP):
        for name, value in row_losses(judge, reader, rows[at : at + ROWS_A_STEP], random.Random(0)).items():
            sums.setdefault(name, []).append(float(value))
    judge.train()
    return {name: round(sum(values) / len(values), 4) for name, values in sums.items()}


# --- the run ----------------------------------------------------------------------------------------------------------


def main() -> None:
    """Train from the last checkpoint to the end."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--data", type=Path, required=True, help="the folder with groups, tune, reader and checker.jsonl"
    )
    parser.add_argument("--start", type=Path, default=STARTED_FROM, help="the exported model to start from")
    parser.add_argument("--out", type=Path, required=True, help="checkpoint, log and model; an unfinished run resumes")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(SEED)
    torch.set_default_device("cuda" if torch.cuda.is_available() else "cpu")
    original = download(arguments.data)
    reader = Reader(original)
    checker = Reader(original, max_tokens=CLAIM_TOKENS, question_tokens=OF_THE_CLAIM)
    rows = [row for row in read(arguments.data / "reader.jsonl") if "claim" not in row]
    claims = read(arguments.data / "checker.jsonl")
    material: dict[str, Sequence[dict[str, Any]]] = {
        "groups": read(arguments.data / "groups.jsonl"),
        "rows": rows[TUNE_ROWS:],
        "claims": claims[TUNE_CLAIMS:],
    }
    kept_back = random.Random(SEED).sample(read(arguments.data / "tune.jsonl"), TUNE_GROUPS)
    judge = Judge(json.loads((original / "config.json").read_text(encoding="utf-8")))
    judge.load_state_dict(floats_of(arguments.start))
    judge.train()
    mean = torch.optim.swa_utils.AveragedModel(judge, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(AVERAGED))

    def measured() -> dict[str, float]:
        """Of the running mean, on what was kept back."""
        now: Judge = mean.module
        found: dict[str, float] = tuned_claims(now, checker, claims[:TUNE_CLAIMS])
        found |= tuned_rows(now, reader, rows[:TUNE_ROWS])
        found |= tuned(now, reader, kept_back)
        return found

    if not (arguments.out / "checkpoint.pt").exists():
        write(arguments.out / "log.jsonl", {"step": 0, "tune": measured()})
    train(
        judge,
        mean,
        planned(material, arguments.steps),
        lambda quick, step, draw: losses_of(*step, judge, quick, (reader, checker), draw),
        measured,
        out=arguments.out,
        steps=arguments.steps,
        seed=SEED,
        rates=RATES,
        tune_steps=TUNE_STEPS,
    )


def losses_of(
    kind: str,
    chosen: list[dict[str, Any]],
    judge: Judge,
    quick: Callable[..., Any],
    readers: tuple[Reader, Reader],
    draw: random.Random,
) -> Losses:
    """The losses of one step."""
    reader, checker = readers
    if kind == "groups":
        return {"groups": GROUPS_WEIGHT * group_losses(judge, reader, chosen, draw).total}
    if kind == "rows":
        return row_losses(quick, reader, chosen, draw)
    return claim_losses(quick, checker, chosen, draw)


if __name__ == "__main__":
    main()
