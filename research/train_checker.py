"""Trains the bundled checker: the reader taken further on claims with a text, until it says whether the text supports
them, and on questions with a passage beside, so that one network can judge, read and check.

    python -m research.reader_data --groups training --out training/reader.jsonl
    python -m research.checker_data --out training/checker.jsonl
    python -m research.train_checker --rows training/reader.jsonl --claims training/checker.jsonl --out training/checker
    python -m research.export_judge --run training/checker --data training --rows training/reader.jsonl

Runs on a CPU or a GPU. The weights it starts from are an exported model's, taken back to floats. Losses: of the span,
minus the logarithm of the probability of its places, where the passage answers; of relevance, binary cross-entropy; of
a claim, cross-entropy over supported, contradicted and neither, and minus the logarithm of 1 - p(supported) where
nobody said which of the last two. Batches are planned from the seed by like lengths, so that an interrupted run
resumes where its last checkpoint stands and ends with the same weights.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from research.export_encoder import PROJECT, download
from research.train_judge import as_typed, read, save
from thresher_training.export import floats_of
from thresher_training.losses import LABELS, span_loss, support_loss
from thresher_training.network import Judge, mixed, optimiser, rate
from thresher_training.tokens import Pair, Reader, padded

SEED = 29
STARTED_FROM = PROJECT / "src/thresher/models/weights/thresher-judge-int8/onnx/model.onnx"
ROWS_A_STEP = 36
CLAIMS_A_STEP = 56
CLAIM_STEPS = 0.65
"""Share of the steps that read claims."""
CLAIM_TOKENS, OF_THE_CLAIM = 256, 96
"""Tokens of a claim with its text, and of the claim alone: what is made wrong may stand at its end."""
TUNE_CLAIMS = 1_500
"""Claims that are kept back to follow the training on."""
BUCKET = 60
"""Steps whose rows are sorted by length together."""
TITLED = 0.75
SPAN_WEIGHT, ANSWERS_WEIGHT, SUPPORT_WEIGHT = 1.0, 1.0, 1.5
BY_PEOPLE = 1.5
"""Weight of whether there is an answer where people judged that there is none."""
RATES = (1.5e-4, 1.5e-4, 5e-4)
"""Learning rates of matrices, of what is not decayed, and of the heads: more than the judge's, which had fewer rows."""
CHECKPOINT_STEPS, TUNE_STEPS = 100, 300
AVERAGED = 0.998
"""Of the weights that are kept, a running mean over some 500 steps."""

Losses = dict[str, Tensor]
Chosen = TypeVar("Chosen")
"""What is read in one step."""


def batches(rows: Sequence[dict[str, Any]], size: int, draw: random.Random) -> Iterator[list[dict[str, Any]]]:
    """The rows of each step: of a shuffled epoch, like lengths together, the steps shuffled again; round and round."""
    while True:
        order = draw.sample(rows, len(rows))
        for at in range(0, len(order), size * BUCKET):
            bucket = sorted(order[at : at + size * BUCKET], key=lambda row: len(row["text"]))
            of_bucket = [bucket[first : first + size] for first in range(0, len(bucket), size)]
            yield from draw.sample(of_bucket, len(of_bucket))


def planned(
    rows: Sequence[dict[str, Any]], claims: Sequence[dict[str, Any]], steps: int
) -> Iterator[list[dict[str, Any]]]:
    """Steps of questions and steps of claims, mixed by the seed."""
    questions = batches(rows, ROWS_A_STEP, random.Random(SEED))
    checked = batches(claims, CLAIMS_A_STEP, random.Random(SEED + 1))
    draw = random.Random(SEED + 2)
    for _ in range(steps):
        yield next(checked if draw.random() < CLAIM_STEPS else questions)


def pair_of(reader: Reader, row: dict[str, Any], draw: random.Random) -> Pair:
    """A row as tokens."""
    question = row["claim"] if "claim" in row else as_typed(row["question"], draw)
    passage = {"title": row["title"], "text": row["text"], "spans": row.get("spans", ())}
    return reader.pair(question, passage, draw, titled=draw.random() < TITLED)


def answered(row: dict[str, Any], pair: Pair) -> bool:
    """Whether what was read of a row answers: with a known place, only if the place was read."""
    return bool(pair.spans) if row["spans"] else row["answers"]


def losses(judge: Callable[..., Any], reader: Reader, rows: Sequence[dict[str, Any]], draw: random.Random) -> Losses:
    """Span and answers of a step of questions, or support of a step of claims."""
    pairs = [pair_of(reader, row, draw) for row in rows]
    batch = padded(pairs)
    with mixed(batch.ids.device):
        verdicts, spans = judge(batch.ids, batch.types, batch.mask)
    if "claim" in rows[0]:
        return {"support": SUPPORT_WEIGHT * support_loss(verdicts[:, 1:], labels_of(rows)).mean()}
    found: Losses = {}
    if places := [span_loss(spans[at], batch.body[at], pair.spans) for at, pair in enumerate(pairs) if pair.spans]:
        found["span"] = SPAN_WEIGHT * torch.stack(places).mean()
    targets = torch.tensor([float(answered(row, pair)) for row, pair in zip(rows, pairs, strict=True)])
    by_people = torch.tensor([BY_PEOPLE if row["source"] == "squad_train_slices" else 1.0 for row in rows])
    each = functional.binary_cross_entropy_with_logits(verdicts[:, 0], targets, reduction="none")
    found["answers"] = ANSWERS_WEIGHT * (each * by_people).mean()
    return found


def labels_of(rows: Sequence[dict[str, Any]]) -> Tensor:
    """Of claims, as numbers."""
    return torch.tensor([LABELS[row["label"]] for row in rows])


@torch.no_grad()
def tuned(judge: Judge, reader: Reader, claims: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Loss of the claims kept back, and balanced accuracy of "supported" by kind of source."""
    judge.eval()
    found: dict[str, tuple[list[bool], list[bool]]] = {}
    total = 0.0
    for at in range(0, len(claims), CLAIMS_A_STEP):
        part = claims[at : at + CLAIMS_A_STEP]
        batch = padded([pair_of(reader, row, random.Random(0)) for row in part])
        with mixed(batch.ids.device):
            verdicts, _ = judge(batch.ids, batch.types, batch.mask)
        total += float(support_loss(verdicts[:, 1:], labels_of(part)).sum())
        says = (functional.pad(verdicts[:, 1:], (1, 0)).softmax(dim=1)[:, 1] > 0.5).tolist()
        for row, yes in zip(part, says, strict=True):
            name = row["source"].split(":")[0]
            right = row["label"] == "supported"
            found.setdefault(name, ([], []))[int(right)].append(yes == right)
    judge.train()
    means = {name: [sum(each) / len(each) for each in both if each] for name, both in found.items()}
    return {"loss": round(total / len(claims), 4)} | {n: round(sum(m) / len(m), 3) for n, m in sorted(means.items())}


def main() -> None:
    """Train from the last checkpoint to the end."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=Path, required=True, help="what research.reader_data wrote")
    parser.add_argument("--claims", type=Path, required=True, help="what research.checker_data wrote")
    parser.add_argument("--start", type=Path, default=STARTED_FROM, help="the exported model to start from")
    parser.add_argument("--out", type=Path, required=True, help="checkpoint, log and model; an unfinished run resumes")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(SEED)
    torch.set_default_device("cuda" if torch.cuda.is_available() else "cpu")
    original = download(arguments.rows.parent)
    reader = Reader(original)
    checker = Reader(original, max_tokens=CLAIM_TOKENS, question_tokens=OF_THE_CLAIM)
    rows = [row for row in read(arguments.rows) if "claim" not in row]
    kept_back, claims = (every := read(arguments.claims))[:TUNE_CLAIMS], every[TUNE_CLAIMS:]
    judge = Judge(json.loads((original / "config.json").read_text(encoding="utf-8")))
    judge.load_state_dict(floats_of(arguments.start))
    judge.train()
    mean = torch.optim.swa_utils.AveragedModel(judge, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(AVERAGED))
    train(
        judge,
        mean,
        planned(rows, claims, arguments.steps),
        lambda quick, chosen, draw: losses(quick, checker if "claim" in chosen[0] else reader, chosen, draw),
        lambda: tuned(mean.module, checker, kept_back),
        out=arguments.out,
        steps=arguments.steps,
        seed=SEED,
        rates=RATES,
        tune_steps=TUNE_STEPS,
    )


def train(
    judge: Judge,
    mean: nn.Module,
    plan: Iterable[Chosen],
    losses_of: Callable[[Callable[..., Any], Chosen, random.Random], Losses],
    measured: Callable[[], dict[str, float]],
    *,
    out: Path,
    steps: int,
    seed: int,
    rates: Sequence[float],
    tune_steps: int,
) -> None:
    """Train from the last checkpoint in `out` to the end of the plan, and log losses and what `measured` says.

    `mean` is the running mean of the judge's weights, an AveragedModel; its weights are what is kept.
    """
    optimise = optimiser(judge, rates)
    checkpoint, log = out / "checkpoint.pt", out / "log.jsonl"
    done = 0
    if checkpoint.exists():
        state = torch.load(checkpoint)
        judge.load_state_dict(state["judge"])
        mean.load_state_dict(state["mean"])
        optimise.load_state_dict(state["optimiser"])
        torch.set_rng_state(state["random"])
        done = state["step"]
    seen: dict[str, list[float]] = {}
    quick = torch.compile(judge, dynamic=True)
    since = time.monotonic()
    for step, chosen in enumerate(plan):
        if step < done:
            continue
        for group, share in zip(optimise.param_groups, rates, strict=True):
            group["lr"] = share * rate(step, steps)
        found = losses_of(quick, chosen, random.Random(seed * 1_000_003 + step))
        torch.stack(list(found.values())).sum().backward()
        nn.utils.clip_grad_norm_(judge.parameters(), 1.0)
        optimise.step()
        optimise.zero_grad()
        mean.update_parameters(judge)
        for name, value in found.items():
            seen.setdefault(name, []).append(float(value.detach()))
        ends = step + 1 == steps
        if (step + 1) % 25 == 0 or ends:
            means = {name: round(sum(values) / len(values), 4) for name, values in seen.items()}
            seconds = round(time.monotonic() - since, 1)
            line: dict[str, Any] = {"step": step + 1, "of": steps, "seconds": seconds, **means}
            if (step + 1) % tune_steps == 0 or ends:
                line["tune"] = measured()
            write(log, line)
            seen = {}
        if (step + 1) % CHECKPOINT_STEPS == 0 or ends:
            state = {"judge": judge.state_dict(), "mean": mean.state_dict(), "optimiser": optimise.state_dict()}
            save(checkpoint, {**state, "step": step + 1, "random": torch.get_rng_state()})
            torch.save(mean.module.state_dict(), out / "judge.pt")


def write(log: Path, line: dict[str, Any]) -> None:
    """A line of the log, printed too."""
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
