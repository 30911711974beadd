"""Trains the bundled judge further on labelled questions, with checkpoints for resuming.

Each step reads some questions, each with a relevant passage and some irrelevant ones, and unlabelled pairs. Losses:
cross-entropy over the passages of a question, binary cross-entropy of each, and for unlabelled pairs the distance from
the original judge's logits (distillation, Hinton et al. 2015), against forgetting. Steps are planned from the seed: an
interrupted run ends with the same weights as an uninterrupted one.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.errors import ModelError
from thresher_training.export import floats_of
from thresher_training.labels import Group, Passage
from thresher_training.network import Judge, mean, mixed, optimiser, rate
from thresher_training.tokens import Pair, Reader, padded

MAX_TOKENS = 192
"""Question, title and passage; passages have about 150 tokens."""
QUESTIONS, NEGATIVES, KEPT = 6, 3, 8
"""Of a step: questions, irrelevant passages of each, unlabelled pairs."""
RATES = (4e-5, 4e-5, 2e-4)
"""Learning rates of matrices, of weights without decay, and of the heads; lower than in the judge's own training."""
BINARY_WEIGHT, KEEP_WEIGHT = 0.6, 0.1
"""The first as in the judge's own training; distances of logits are squared, and 3 is a large one."""
TITLED = 0.8
"""Share of questions whose passages have their titles."""
CHECKPOINT_STEPS = 20
LARGEST_GRADIENT = 1.0
WORDS = "body.embeddings.word_embeddings.weight"
"""Half of the weights; frozen, so not in the checkpoint."""


@dataclass(frozen=True, slots=True)
class Run:
    """A training run in a folder: base judge, groups, epochs."""

    folder: Path
    base: Path
    """Folder of the base judge."""
    groups: Sequence[Group]
    epochs: int
    seed: int

    @property
    def config(self) -> dict[str, Any]:
        """The config.json of the judge."""
        config: dict[str, Any] = json.loads((self.base / "config.json").read_text(encoding="utf-8"))
        return config

    def reader(self) -> Reader:
        """The tokenizer of questions and passages."""
        return Reader(self.base, max_tokens=MAX_TOKENS)

    def plan(self) -> list[list[Group]]:
        """The questions of each step; every epoch has each question once."""
        draw = random.Random(self.seed)
        labelled = [group for group in self.groups if group.relevant or group.irrelevant]
        steps: list[list[Group]] = []
        for _ in range(self.epochs):
            order = draw.sample(labelled, len(labelled))
            steps += [order[at : at + QUESTIONS] for at in range(0, len(order), QUESTIONS)]
        return steps

    def trained(self, progress: Callable[[int], None]) -> Judge:
        """The judge after the last step, resumed from the last checkpoint; `progress` receives steps done."""
        self.folder.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(self.seed)
        weights = floats_of(self.base / "onnx/model.onnx")
        judge, before = Judge(self.config), Judge(self.config).eval()
        judge.load_state_dict(weights)
        before.load_state_dict(weights)
        judge.train()
        reader, plan, optimise = self.reader(), self.plan(), optimiser(judge, RATES)
        done = _resumed(self.folder / "checkpoint.pt", judge, optimise)
        progress(done)
        for step in range(done, len(plan)):
            draw = random.Random(self.seed * 1_000_003 + step)
            for group, share in zip(optimise.param_groups, RATES, strict=True):
                group["lr"] = share * rate(step, len(plan))
            losses = _losses(judge, before, reader, plan[step], _unlabelled(self.groups, draw), draw)
            torch.stack(list(losses.values())).sum().backward()
            nn.utils.clip_grad_norm_(judge.parameters(), LARGEST_GRADIENT)
            optimise.step()
            optimise.zero_grad()
            with (self.folder / "log.jsonl").open("a", encoding="utf-8") as log:
                rounded = {name: round(float(loss), 4) for name, loss in losses.items()}
                log.write(json.dumps({"step": step + 1, "of": len(plan), **rounded}) + "\n")
            if (step + 1) % CHECKPOINT_STEPS == 0 or step + 1 == len(plan):
                _keep(self.folder / "checkpoint.pt", judge, optimise, step + 1)
            progress(1)
        judge.eval()
        return judge

    def sample(self) -> list[Pair]:
        """Pairs of training questions for sampling activations."""
        reader, draw = self.reader(), random.Random(self.seed)
        chosen = draw.sample(list(self.groups), min(60, len(self.groups)))
        return [
            _pair(reader, group.question, passage, draw, titled=True)
            for group in chosen
            for passage in (*group.relevant[:1], *group.irrelevant[:1])
        ]


# --- one step ---------------------------------------------------------------------------------------------------------


def _losses(
    judge: Judge,
    before: Judge,
    reader: Reader,
    groups: Sequence[Group],
    unlabelled: Sequence[tuple[str, Passage]],
    draw: random.Random,
) -> dict[str, Tensor]:
    pairs: list[Pair] = []
    sizes: list[int] = []
    for group in groups:
        wrong = draw.sample(group.irrelevant, min(NEGATIVES, len(group.irrelevant)))
        right = [draw.choice(group.relevant)] if group.relevant else []
        passages, titled = [*right, *wrong], draw.random() < TITLED
        sizes.append(len(passages))
        pairs += [_pair(reader, group.question, passage, draw, titled=titled) for passage in passages]
    labelled = len(pairs)
    pairs += [_pair(reader, question, passage, draw, titled=True) for question, passage in unlabelled]
    batch = padded(pairs)
    with mixed(judge.device):
        verdicts, spans = judge(batch.ids, batch.types, batch.mask)
        with torch.no_grad():
            usual, places = before(batch.ids, batch.types, batch.mask)
    ranking, binary = [], []
    for group, own in zip(groups, verdicts[:labelled, 0].split(sizes), strict=True):
        targets = torch.zeros_like(own)
        targets[0] = float(bool(group.relevant))
        positive_weight = torch.tensor(float(max(1, len(own) - 1)))
        if group.relevant:
            ranking.append(-functional.log_softmax(own, dim=0)[0])
        binary.append(
            functional.binary_cross_entropy_with_logits(own, targets, pos_weight=positive_weight, reduction="mean")
        )
    zero = verdicts.sum() * 0
    kept = (verdicts[labelled:] - usual[labelled:]).pow(2).mean() if unlabelled else zero
    inside = batch.body[:, :, None]
    elsewhere = (((spans - places).pow(2) * inside).sum() / (2 * inside.sum())) + (
        verdicts[:labelled, 1] - usual[:labelled, 1]
    ).pow(2).mean()
    return {
        "ranking": mean(ranking, zero),
        "binary": BINARY_WEIGHT * mean(binary, zero),
        "kept": KEEP_WEIGHT * kept,
        "other heads": KEEP_WEIGHT * elsewhere,
    }


def _unlabelled(groups: Sequence[Group], draw: random.Random) -> list[tuple[str, Passage]]:
    """Questions with unlabelled passages: retrieved for them, or for another question."""
    chosen = []
    for group in draw.sample(list(groups), min(KEPT, len(groups))):
        near = group.others or draw.choice(groups).others
        if near:
            chosen.append((group.question, draw.choice(near)))
    return chosen


def _pair(reader: Reader, question: str, passage: Passage, draw: random.Random, *, titled: bool) -> Pair:
    return reader.pair(question, {"title": passage.title, "text": passage.text, "spans": ()}, draw, titled=titled)


# --- the checkpoint ---------------------------------------------------------------------------------------------------


def _keep(file: Path, judge: Judge, optimise: torch.optim.Optimizer, done: int) -> None:
    weights = {name: value for name, value in judge.state_dict().items() if name != WORDS}
    state = {"judge": weights, "optimiser": optimise.state_dict(), "random": torch.get_rng_state(), "step": done}
    content = io.BytesIO()
    torch.save(state, content)  # saving straight to a file raises RuntimeError on a full disk
    beside = file.with_suffix(".part")
    try:
        beside.write_bytes(content.getbuffer())
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)


def _resumed(file: Path, judge: Judge, optimise: torch.optim.Optimizer) -> int:
    """Steps done before; 0 without a checkpoint. Raises ModelError for a damaged one."""
    if not file.exists():
        return 0
    try:
        state = torch.load(file)
        judge.load_state_dict({**state["judge"], WORDS: judge.state_dict()[WORDS]})
        optimise.load_state_dict(state["optimiser"])
        torch.set_rng_state(state["random"])
        return int(state["step"])
    except Exception as error:  # unpickling may raise anything
        raise ModelError("is damaged", subject=str(file), next_step="remove it, and the run begins anew") from error
