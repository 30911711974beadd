"""Trains the judge further, from the weights that are bundled; the same command starts a run and takes it up again.

    python -m research.training_data --out DATA
    nice -n 15 python -m research.train --data DATA --out RUN --steps 2000 --threads 2
    python -m research.export_judge --data DATA --run RUN/mean-1000.pt --target FOLDER
    python -m research.train.measure --candidates CANDIDATES FOLDER

A step reads eight questions, half of them replay (`research.train.groups`), each with up to five texts, titles in
front. Losses as in `research.train_judge`: listwise, binary, span. The rate rises over the first steps and stays;
what is kept is a running mean of the weights, `mean-N.pt`, in half precision and without what does not change.
Whatever is drawn follows from the step's number, so that a run that was cut off loses no more than the minutes since
its last checkpoint.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from research.export_encoder import PROJECT
from research.train.groups import Group, streams
from research.train_judge import BINARY_WEIGHT, POSITIVE_WEIGHT, SPAN_WEIGHT, TITLED, as_typed, drawn, save
from thresher_training.export import floats_of
from thresher_training.losses import mean, span_loss
from thresher_training.network import Judge, optimiser
from thresher_training.tokens import Pair, Reader, padded

SEED = 35
BUNDLED = PROJECT / "src/thresher/models/weights/thresher-judge-int8"
MAX_TOKENS = 160
"""Of question, title and text: chunks of the engine are shorter, most of them."""
SLOTS = {"replay": 4, "mined": 2, "reader": 2}
"""Questions of a step from each stream."""
TEXTS = {"replay": 4, "mined": 5, "reader": 4}
"""Texts of a question."""
RATES = (2e-5, 2e-5, 1e-4)
"""Of matrices, of what is not decayed, and of the heads. At 6e-5 without replay a trial got worse on manuals."""
FROZEN = 2
"""Layers from below that stay as they are, with the embeddings: a third less to compute of a step's way back."""
WARM_UP = 50
AVERAGED = 0.99
PIECES = 3
"""Passes of a step: texts of like lengths are read together."""
CHECKPOINT_SECONDS, KEPT_STEPS, LOGGED_STEPS = 300, 50, 10

Step = list[tuple[str, Group]]


def planned(material: dict[str, list[Group]]) -> Iterator[Step]:
    """Steps without an end."""
    endless = {name: shuffled(groups, random.Random(f"{SEED} {name}")) for name, groups in material.items()}
    while True:
        yield [(name, next(endless[name])) for name, number in SLOTS.items() for _ in range(number)]


def shuffled(groups: Sequence[Group], draw: random.Random) -> Iterator[Group]:
    """Every group once, then again in another order."""
    while True:
        yield from draw.sample(groups, len(groups))


def scored(judge: Judge, pairs: Sequence[Pair]) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
    """Relevance of each pair, and the logits of its span with the tokens that can be chosen."""
    order = sorted(range(len(pairs)), key=lambda at: len(pairs[at].ids))
    size = -(-len(order) // PIECES)
    verdicts: list[Tensor] = []
    spans: list[tuple[Tensor, Tensor]] = []
    for start in range(0, len(order), size):
        batch = padded([pairs[at] for at in order[start : start + size]])
        told, places = judge(batch.ids, batch.types, batch.mask)
        verdicts.append(told[:, 0])
        spans += zip(places, batch.body, strict=True)
    back = sorted(range(len(order)), key=order.__getitem__)
    return torch.cat(verdicts)[back], [spans[at] for at in back]


def losses(judge: Judge, reader: Reader, step: Step, draw: random.Random) -> dict[str, Tensor]:
    """What is minimised, already weighted."""
    pairs: list[Pair] = []
    layout: list[tuple[int, int, bool, Group]] = []
    for stream, group in step:
        texts, answered = drawn(group, draw, TEXTS[stream])
        question, titled = as_typed(group["question"], draw), draw.random() < TITLED
        layout.append((len(pairs), len(texts), answered, group))
        pairs += [reader.pair(question, text, draw, titled=titled) for text in texts]
    relevance, spans = scored(judge, pairs)
    listwise, binary, span = [], [], []
    for start, size, answered, group in layout:
        own = relevance[start : start + size]
        if answered:
            listwise.append(-functional.log_softmax(own, dim=0)[0])
            if pairs[start].spans:
                span.append(span_loss(*spans[start], pairs[start].spans))
        targets = torch.zeros_like(own)
        targets[0] = float(answered)
        weight = torch.tensor(POSITIVE_WEIGHT)
        each = functional.binary_cross_entropy_with_logits(own, targets, reduction="none", pos_weight=weight)
        binary.append((each if group["certain"] else each[1:]).mean())
    zero = relevance.sum() * 0
    found = {"listwise": mean(listwise, zero), "binary": BINARY_WEIGHT * mean(binary, zero)}
    return found | {"span": SPAN_WEIGHT * mean(span, zero)}


def started(weights: Path | None = None, share: float = 1.0) -> Judge:
    """The bundled judge, or a `share` of the way from there to the weights of a file `mean-N.pt`."""
    judge = Judge(json.loads((BUNDLED / "config.json").read_text(encoding="utf-8")))
    state = floats_of(BUNDLED / "onnx/model.onnx")
    if weights:
        for name, value in torch.load(weights).items():
            state[name] = torch.lerp(state[name], value.float(), share)
    judge.load_state_dict(state)
    return judge


def kept(judge: nn.Module, path: Path) -> None:
    """What training changes of the weights, in half precision."""
    save(path, {name: value.detach().half() for name, value in judge.named_parameters() if value.requires_grad})


def main() -> None:
    """Train from the last checkpoint to the end."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="what research.training_data wrote")
    parser.add_argument("--out", type=Path, required=True, help="checkpoint, log and means of weights")
    parser.add_argument("--steps", type=int, required=True, help="of the run; can be more when it is taken up again")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(SEED)
    material = streams(arguments.data)
    print({name: len(groups) for name, groups in material.items()}, flush=True)
    reader, judge = Reader(BUNDLED, max_tokens=MAX_TOKENS), started().train()
    for part in (judge.body.embeddings, *judge.body.encoder["layer"][:FROZEN]):
        part.requires_grad_(False)
    average = AveragedModel(judge, multi_avg_fn=get_ema_multi_avg_fn(AVERAGED))
    optimise = optimiser(judge, RATES)
    checkpoint, log = arguments.out / "checkpoint.pt", arguments.out / "log.jsonl"
    done, texts, seconds = 0, 0, 0.0
    if checkpoint.exists():
        state = torch.load(checkpoint)
        judge.load_state_dict(state["judge"])
        average.load_state_dict(state["average"])
        optimise.load_state_dict(state["optimiser"])
        done, texts, seconds = state["done"]
    seen: dict[str, list[float]] = {}
    began = saved = time.monotonic() - seconds
    for number, step in enumerate(planned(material), 1):
        if number <= done:
            continue
        if number > arguments.steps:
            break
        torch.manual_seed(SEED * 1_000_003 + number)
        for part, rate in zip(optimise.param_groups, RATES, strict=True):
            part["lr"] = rate * min(1.0, number / WARM_UP)
        found = losses(judge, reader, step, random.Random(SEED * 1_000_003 + number))
        torch.stack(list(found.values())).sum().backward()
        nn.utils.clip_grad_norm_(judge.parameters(), 1.0)
        optimise.step()
        optimise.zero_grad()
        average.update_parameters(judge)
        texts += sum(min(TEXTS[name], len(one["negatives"]) + 1) for name, one in step)
        for name, value in found.items():
            seen.setdefault(name, []).append(float(value.detach()))
        now = time.monotonic()
        if number % LOGGED_STEPS == 0:
            means = {name: round(sum(values) / len(values), 4) for name, values in seen.items()}
            line: dict[str, Any] = {"step": number, "texts": texts, "seconds": round(now - began), **means}
            with log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            seen = {}
        if number % KEPT_STEPS == 0:
            kept(average.module, arguments.out / f"mean-{number}.pt")
        if now - saved > CHECKPOINT_SECONDS or number == arguments.steps:
            parts = {"judge": judge, "average": average, "optimiser": optimise}
            states = {name: part.state_dict() for name, part in parts.items()}
            save(checkpoint, states | {"done": (number, texts, now - began)})
            saved = now


if __name__ == "__main__":
    main()
