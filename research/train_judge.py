"""Trains the bundled judge: one small cross-encoder that says whether a text answers a question, where, and whether a
text supports a claim.

    .venv/bin/python -m research.training_data --out training
    python -m research.train_judge --data training --out training/run       # research/requirements.txt; a CPU or a GPU

Started from all-MiniLM-L6-v2 and read as "[CLS] question [SEP] title text [SEP]". Three heads share the layers:

* relevance: one logit. Loss: cross-entropy over the texts of a question (listwise), plus binary cross-entropy where
  somebody checked the labels, which makes the logit mean the same from one question to the next.
* span: a logit for begin and one for end of each token of the text. Loss: minus the logarithm of the probability of
  all known places of the answer together (Clark and Gardner 2018, the marginal objective), over texts that answer.
  Whether there is an answer at all is the relevance's business.
* support: one logit, whether the text supports the claim rather than denies it.

Batches are planned beforehand from the seed, so an interrupted run resumes where its last checkpoint stands and ends
with the same weights. `log.jsonl` keeps the losses and what the tune groups say.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor, nn
from torch.nn import functional

from research.export_encoder import download
from thresher_training.network import Judge, mean, mixed, optimiser, rate, span_loss
from thresher_training.tokens import Pair, Reader, padded

SEED = 11
GROUP = {"passage": 4, "sentence": 6}
"""Texts of a question in one step, the positive among them."""
MADE_GROUP = 3
PAIRS = 30
"""Texts in one step, about."""
LEARNING_RATE = 6e-5
HEAD_LEARNING_RATE = 5e-4
BINARY_WEIGHT, SPAN_WEIGHT, SUPPORT_WEIGHT = 0.6, 0.25, 0.5
POSITIVE_WEIGHT = 2.5
"""Of the binary loss: there are four or six negatives to a positive."""
MADE_WEIGHT = 0.5
PLAIN_QUESTION = 0.3
"""Share of questions that are read in lower case without their question mark, as people type them."""
TITLED = 0.8
REPEATED = {"popqa": 2, "nq": 2, "triviaqa": 2, "popqa-longtail": 1, "asqa": 0.5, "squad-questions": 0.5, "made": 0.25}
"""How often a group of a set is seen in an epoch, where not once."""
SENTENCES, CLAIMS = 0.5, 0.4
"""Share of the sentence groups and of the claims that an epoch sees."""
CHECKPOINT_STEPS = 100
TUNE_GROUPS = 240


# --- the plan ---------------------------------------------------------------------------------------------------------


def plan(groups: Sequence[dict[str, Any]], claims: Sequence[dict[str, Any]], epochs: int) -> list[list[int]]:
    """Steps of the whole run: positions of groups, or of claims below zero; like lengths together."""
    draw = random.Random(SEED)
    steps: list[list[int]] = []
    for epoch in range(epochs):
        chosen: dict[str, list[int]] = {"passage": [], "sentence": [], "made": []}
        for position, group in enumerate(groups):
            often = REPEATED.get(group["set"], 1) * (SENTENCES if group["kind"] == "sentence" else 1)
            if group["set"] == "made" and epoch:
                often /= 2
            times = int(often) + (draw.random() < often % 1)
            kind = "made" if group["set"] == "made" else group["kind"]
            chosen[kind] += [position] * times
        sizes = {kind: PAIRS // size for kind, size in (*GROUP.items(), ("made", MADE_GROUP))}
        of_epoch = []
        for kind, positions in chosen.items():
            draw.shuffle(positions)
            of_epoch += list(sliced(positions, sizes[kind]))
        numbered = draw.sample([-1 - number for number in range(len(claims))], int(CLAIMS * len(claims)))
        of_epoch += list(sliced(numbered, PAIRS))
        draw.shuffle(of_epoch)
        steps += of_epoch
    return steps


def sliced(values: Sequence[int], size: int) -> Iterator[list[int]]:
    """The values in lists of a size."""
    for start in range(0, len(values), size):
        yield list(values[start : start + size])


def drawn(group: dict[str, Any], draw: random.Random, size: int) -> tuple[list[dict[str, Any]], bool]:
    """The texts of a group for one step, the one that answers first; and whether there is one."""
    first = [draw.choice(group["positives"])] if group["positives"] else []
    near = group["near"][:1]
    negatives = group["negatives"]
    wanted = size - len(first) - len(near)
    hard = negatives[: 3 * wanted]
    share = min(len(hard), max(1, round(wanted * 0.75)))
    chosen = draw.sample(hard, share)
    rest = [one for one in negatives if one not in chosen]
    chosen += draw.sample(rest, min(len(rest), wanted - share))
    return [*first, *near, *chosen], bool(first)


def as_typed(question: str, draw: random.Random) -> str:
    """The question, sometimes as people type it."""
    return question.lower().rstrip(" ?") if draw.random() < PLAIN_QUESTION else question


# --- losses -----------------------------------------------------------------------------------------------------------


@dataclass
class Losses:
    """The parts of a step's loss."""

    listwise: Tensor
    binary: Tensor
    span: Tensor
    support: Tensor

    @property
    def total(self) -> Tensor:
        """Weighted sum."""
        return self.listwise + BINARY_WEIGHT * self.binary + SPAN_WEIGHT * self.span + SUPPORT_WEIGHT * self.support


def group_losses(judge: Judge, reader: Reader, groups: Sequence[dict[str, Any]], draw: random.Random) -> Losses:
    """Relevance and spans of one step."""
    pairs: list[Pair] = []
    layout = []
    for group in groups:
        texts, answered = drawn(group, draw, MADE_GROUP if group["set"] == "made" else GROUP[group["kind"]])
        question, titled = as_typed(group["question"], draw), draw.random() < TITLED
        layout.append((len(pairs), len(texts), answered, group))
        pairs += [reader.pair(question, text, draw, titled=titled) for text in texts]
    device = judge.device
    batch = padded(pairs).to(device)
    with mixed(device):
        verdicts, spans = judge(batch.ids, batch.types, batch.mask)
    relevance = verdicts[:, 0]
    zero = relevance.sum() * 0
    listwise, binary, span = [], [], []
    for start, size, answered, group in layout:
        weight = MADE_WEIGHT if group["set"] == "made" else 1.0
        own = relevance[start : start + size]
        if answered:
            listwise.append(weight * -functional.log_softmax(own, dim=0)[0])
            if pairs[start].spans:
                span.append(weight * span_loss(spans[start], batch.body[start], pairs[start].spans))
        targets = torch.zeros_like(own)
        targets[0] = float(answered)
        each = functional.binary_cross_entropy_with_logits(
            own, targets, reduction="none", pos_weight=torch.tensor(POSITIVE_WEIGHT, device=device)
        )
        # Nobody checked the first text of an uncertain group: it is better than the others, and no more is known.
        binary.append(weight * (each if group["certain"] else each[1:]).mean())
    return Losses(mean(listwise, zero), mean(binary, zero), mean(span, zero), zero)


def claim_losses(judge: Judge, reader: Reader, claims: Sequence[dict[str, Any]], draw: random.Random) -> Losses:
    """Support of one step."""
    pairs = [reader.pair(c["claim"], {**c, "spans": []}, draw, titled=draw.random() < TITLED) for c in claims]
    device = judge.device
    batch = padded(pairs).to(device)
    with mixed(device):
        verdicts, spans = judge(batch.ids, batch.types, batch.mask)
    targets = torch.tensor([float(claim["label"]) for claim in claims], device=device)
    zero = spans.sum() * 0 + verdicts[:, 0].sum() * 0
    return Losses(zero, zero, zero, functional.binary_cross_entropy_with_logits(verdicts[:, 1], targets))


# --- the tune groups --------------------------------------------------------------------------------------------------


@torch.no_grad()
def tuned(judge: Judge, reader: Reader, groups: Sequence[dict[str, Any]]) -> dict[str, float]:
    """By set and kind: how often the text that answers comes first of ten, and how often the span is right."""
    judge.eval()
    device = judge.device
    first: dict[str, list[float]] = {}
    exact: dict[str, list[float]] = {}
    for group in groups:
        if not group["positives"]:
            continue
        draw = random.Random(group["question"])
        texts = [group["positives"][0], *group["negatives"][:9]]
        pairs = [reader.pair(group["question"], text, draw, titled=True) for text in texts]
        batch = padded(pairs).to(device)
        with mixed(device):
            verdicts, spans = judge(batch.ids, batch.types, batch.mask)
        name = f"{group['set']} {group['kind']}"
        first.setdefault(f"first {name}", []).append(float(verdicts[:, 0].argmax() == 0))
        if pairs[0].spans:
            scores = functional.log_softmax(spans[0].masked_fill(~batch.body[0][:, None], -1e4), dim=0)
            joint = scores[:, None, 0] + scores[None, :, 1]
            near = torch.ones_like(joint).triu().tril(20).bool()
            best = int(joint.masked_fill(~near, -1e9).argmax())
            place = divmod(best, joint.shape[1])
            exact.setdefault(f"span {name}", []).append(float(place in pairs[0].spans))
    judge.train()
    return {name: round(sum(values) / len(values), 4) for name, values in (first | exact).items()}


# --- the run ----------------------------------------------------------------------------------------------------------


def read(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSON Lines file."""
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def started(original: Path, config: dict[str, Any]) -> Judge:
    """The layers of all-MiniLM-L6-v2 under new heads."""
    judge = Judge(config)
    body = transformers.BertModel.from_pretrained(original, add_pooling_layer=False)
    judge.body.load_state_dict(body.state_dict())
    return judge


def save(path: Path, state: dict[str, Any]) -> None:
    """Written beside and moved over, so that a kill leaves the old one or the new one."""
    torch.save(state, path.with_suffix(".part"))
    path.with_suffix(".part").replace(path)


def main() -> None:
    """Train from the last checkpoint to the end."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="what research.training_data wrote")
    parser.add_argument("--out", type=Path, required=True, help="checkpoint, log and model; an unfinished run resumes")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--steps", type=int, help="end after so many; the learning rate falls to there")
    parser.add_argument("--threads", type=int, default=2, help="on a CPU")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(SEED)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    original = download(arguments.data)
    reader = Reader(original)
    groups, claims = read(arguments.data / "groups.jsonl"), read(arguments.data / "claims.jsonl")
    tune = random.Random(SEED).sample(read(arguments.data / "tune.jsonl"), TUNE_GROUPS)
    steps = plan(groups, claims, arguments.epochs)[: arguments.steps]
    config = json.loads((original / "config.json").read_text(encoding="utf-8"))
    judge = started(original, config).to(device).train()
    optimise = optimiser(judge, (LEARNING_RATE, LEARNING_RATE, HEAD_LEARNING_RATE))
    shares = [group["lr"] for group in optimise.param_groups]
    checkpoint, log = arguments.out / "checkpoint.pt", arguments.out / "log.jsonl"
    done = 0
    if checkpoint.exists():
        state = torch.load(checkpoint, map_location=device)
        judge.load_state_dict(state["judge"])
        optimise.load_state_dict(state["optimiser"])
        torch.set_rng_state(state["random"])
        done = state["step"]
    sums: dict[str, float] = {}
    pairs_seen, since = 0, time.monotonic()
    for step in range(done, len(steps)):
        draw = random.Random(SEED * 1_000_003 + step)
        chosen = steps[step]
        if chosen[0] < 0:
            losses = claim_losses(judge, reader, [claims[-1 - at] for at in chosen], draw)
        else:
            losses = group_losses(judge, reader, [groups[at] for at in chosen], draw)
        for group, share in zip(optimise.param_groups, shares, strict=True):
            group["lr"] = share * rate(step, len(steps))
        losses.total.backward()
        nn.utils.clip_grad_norm_(judge.parameters(), 1.0)
        optimise.step()
        optimise.zero_grad()
        for name, value in vars(losses).items():
            if float(value) != 0:
                sums[name] = sums.get(name, 0.0) * 0.98 + 0.02 * float(value)
                sums[f"{name}_n"] = sums.get(f"{name}_n", 0.0) * 0.98 + 0.02
        pairs_seen += len(chosen)
        if (step + 1) % 50 == 0 or step + 1 == len(steps):
            row: dict[str, Any] = {"step": step + 1, "of": len(steps), "seconds": round(time.monotonic() - since, 1)}
            row |= {n: round(sums[n] / sums[f"{n}_n"], 4) for n in list(sums) if not n.endswith("_n")}
            if (step + 1) % 600 == 0 or step + 1 == len(steps):
                row["tune"] = tuned(judge, reader, tune)
            with log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(json.dumps(row), flush=True)
        if (step + 1) % CHECKPOINT_STEPS == 0 or step + 1 == len(steps):
            state = {"judge": judge.state_dict(), "optimiser": optimise.state_dict(), "step": step + 1}
            save(checkpoint, {**state, "random": torch.get_rng_state()})
    torch.save(judge.state_dict(), arguments.out / "judge.pt")


if __name__ == "__main__":
    main()
