"""Trains the judge further: relevance, places of answers, and support of claims, with one network.

    python -m research.training_data --out DATA && python -m research.checker_data --out DATA/checker.jsonl
    python -m research.train.pack --data DATA --claims DATA/checker.jsonl --candidates CANDIDATES --out PACK.npz
    python -m research.train --pack PACK.npz --out RUN --steps 50000 --seconds 490
    python -m research.export_judge --data DATA --run RUN/mean-N.pt --target FOLDER
    python -m research.train.measure --candidates CANDIDATES FOLDER

A step reads some questions with up to `TEXTS` texts each, and some claims; the checker reads claims alone, from the
judge's weights:

    python -m research.train.pack --claims DATA/checker.jsonl --out CLAIMS.npz
    python -m research.train --pack CLAIMS.npz --out RUN --questions 0 --steps 8000

With `--grouped SHARE` so much of the claims are contrasts of each other (`research.claim_contrasts`), whole groups of
them, and the supported ones of a group have to be above the others.

With `--contrast N` it reads N pairs of a question and the same with a word exchanged (`research.contrasts`): the text
has to be more relevant to the one that it answers, by `MARGIN`, and relevant to it alone.

Losses: listwise over the texts of a question, binary where the labels are certain, minus the logarithm of the
probability of all known places of the answer together (Clark and Gardner 2018); of a claim, cross-entropy over
supported, contradicted and neither, or minus the logarithm of 1 - p(supported) where nobody said which of the last two.
What is kept is a running mean of the weights, `mean-N.pt`, in half precision and without the word vectors, which stay
as they are. The log has the losses and what the tune part says. Whatever is drawn follows from the step's number: the
same command takes a run up again from its last checkpoint.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from research.teacher.network import teacher
from research.train.batches import (
    CLAIM_TOKENS,
    MAX_TOKENS,
    QUESTION_TOKENS,
    SUPPORTED,
    Claims,
    Contrasts,
    Groups,
    Layout,
    Taught,
    Tokens,
)
from research.train.tune import PAIRS, Measured, tuned, without_doubtful
from thresher_training.export import floats_of
from thresher_training.network import Judge, optimiser, rate, support_loss

SEED = 35
BUNDLED = Path(__file__).parents[2] / "src/thresher/models/weights/thresher-judge-int8"
QUESTIONS, TEXTS, CLAIMS = 64, 8, 96
"""Of a step, of a question, and of a step again."""
SHARES = {"replay": 0.25, "mined": 0.3, "related": 0.15, "reader": 0.3}
"""Of the questions of a step, from each stream."""
RATE, HEADS = 1.5e-4, 5.0
"""Of matrices and of what is not decayed; the heads learn so many times faster."""
POSITIVE_WEIGHT = 2.5
"""Of the binary loss: there are four or six negatives to a positive."""
BINARY_WEIGHT, SPAN_WEIGHT, SUPPORT_WEIGHT = 1.0, 0.5, 1.0
TAUGHT_WEIGHT, MARGIN_WEIGHT, TEMPERATURE = 1.0, 0.05, 2.0
"""Of what a teacher says; its logits are divided by the last."""
CONTRAST_WEIGHT, MARGIN = 1.0, 4.0
"""Of the order of a pair, and by how much the right question has to be above the other, in logits."""
RANKED_WEIGHT = 0.5
"""Of the order within a group of claims."""
ABSENT = -1e4
"""The logit where a question has fewer texts."""
AVERAGED = 0.998
PIECES = 4
"""Passes of a step: rows of like lengths are read together."""
CHECKPOINT_SECONDS, LOGGED_STEPS = 300, 50


def save(path: Path, state: dict[str, Any]) -> None:
    """Written beside and moved over, so that a kill leaves the old one or the new one."""
    torch.save(state, path.with_suffix(".part"))
    path.with_suffix(".part").replace(path)


def read(judge: nn.Module, tokens: Tokens, layout: Layout) -> tuple[Tensor, list[tuple[NDArray[Any], Tensor]]]:
    """Verdicts of each row (rows, 3); of each pass the rows that it read, and the spans' logits of their texts."""
    order = np.argsort(layout.lengths, kind="stable")
    verdicts: list[Tensor] = []
    spans: list[tuple[NDArray[Any], Tensor]] = []
    for part in np.array_split(order, PIECES):
        batch = tokens.batch(layout, part)
        with tokens.precision():
            judged, places = judge(batch.ids, batch.types, batch.mask)
        verdicts.append(judged)
        spans.append((part, places.masked_fill(~batch.body[..., None], -1e4)))
    return torch.cat(verdicts)[torch.as_tensor(np.argsort(order), device=tokens.device)], spans


def question_losses(
    judge: nn.Module, tokens: Tokens, groups: Groups, draw: np.random.Generator, questions: int, texts: int
) -> dict[str, Tensor]:
    """Listwise, binary and span loss of a step's questions."""
    rows = groups.draw(draw, questions, texts, joined=groups.joined)
    device = tokens.device
    layout = rows.layout(QUESTION_TOKENS)
    verdicts, spans = read(judge, tokens, layout)
    scores = torch.full((questions * texts,), ABSENT, device=device)
    scores[torch.as_tensor(rows.slot, device=device)] = verdicts[:, 0]
    scores = scores.view(questions, texts)
    answered = torch.as_tensor(rows.answered, device=device)
    listwise = -(functional.log_softmax(scores, dim=1)[:, 0] * answered).sum() / answered.sum().clamp(min=1)
    targets = torch.as_tensor(rows.right, dtype=torch.float32, device=device)
    weight = torch.as_tensor(rows.weight, dtype=torch.float32, device=device)
    each = functional.binary_cross_entropy_with_logits(
        verdicts[:, 0], targets, reduction="none", pos_weight=torch.tensor(POSITIVE_WEIGHT, device=device)
    )
    found = {"listwise": listwise, "binary": BINARY_WEIGHT * (each * weight).sum() / weight.sum()}
    found["span"] = SPAN_WEIGHT * place_loss(layout, spans)
    return found


def place_loss(layout: Layout, spans: list[tuple[NDArray[Any], Tensor]]) -> Tensor:
    """Minus the logarithm of the probability of all known places together, in the mean of the rows that have some."""
    total, count = torch.stack([logits.sum() * 0 for _, logits in spans]).sum(), 0
    for part, logits in spans:
        known = layout.spans[part]  # (rows, places, 2), -1 where there is none
        if not (number := int((known[:, :, 0] >= 0).any(axis=1).sum())):
            continue
        places = torch.as_tensor(known, device=logits.device).long()
        there, at = places[:, :, 0] >= 0, places.clamp(min=0)
        shares = functional.log_softmax(logits.float(), dim=1)
        joint = shares[..., 0].gather(1, at[:, :, 0]) + shares[..., 1].gather(1, at[:, :, 1])
        joint = torch.logsumexp(joint.masked_fill(~there, -1e4), dim=1)
        total, count = total - joint[there.any(dim=1)].sum(), count + number
    return total / max(count, 1)


def contrast_loss(
    judge: nn.Module, tokens: Tokens, contrasts: Contrasts, draw: np.random.Generator, number: int
) -> dict[str, Tensor]:
    """Of pairs of a question and the same with a word exchanged, over one text: order, each alone, the place."""
    layout = contrasts.draw(draw, number).layout(QUESTION_TOKENS)
    verdicts, spans = read(judge, tokens, layout)
    right, exchanged = verdicts[:number, 0], verdicts[number:, 0]
    each = functional.softplus(-right).mean() + functional.softplus(exchanged).mean()
    return {
        "contrast": CONTRAST_WEIGHT * functional.softplus(MARGIN - (right - exchanged)).mean(),
        "contrast binary": CONTRAST_WEIGHT * each / 2,
        "contrast span": SPAN_WEIGHT * place_loss(layout, spans),
    }


def taught_loss(
    judge: nn.Module, tokens: Tokens, taught: Taught, draw: np.random.Generator, questions: int
) -> dict[str, Tensor]:
    """Of the candidates of some questions: how far their order and their distances are from the teacher's."""
    rows, said = taught.draw(draw, questions, TEXTS)
    verdicts, _ = read(judge, tokens, rows.layout(QUESTION_TOKENS))
    wanted = torch.as_tensor(said, device=tokens.device)
    there = ~wanted.isnan()
    found = torch.full((wanted.numel(),), ABSENT, device=tokens.device)
    found[torch.as_tensor(rows.slot, device=tokens.device)] = verdicts[:, 0]
    found, wanted = found.view_as(wanted), wanted.masked_fill(~there, ABSENT)
    shares = [functional.log_softmax(one / TEMPERATURE, dim=1) for one in (found, wanted)]
    listwise = functional.kl_div(*shares, reduction="batchmean", log_target=True)
    best = wanted.argmax(dim=1, keepdim=True)
    gaps = [one.gather(1, best) - one for one in (found, wanted)]  # MarginMSE (Hofstätter et al. 2020)
    margin = (gaps[0] - gaps[1]).masked_fill(~there, 0.0).square().sum() / there.sum()
    return {"taught": TAUGHT_WEIGHT * listwise, "margin": MARGIN_WEIGHT * margin}


def claim_losses(
    judge: nn.Module, tokens: Tokens, claims: Claims, draw: np.random.Generator, number: int
) -> dict[str, Tensor]:
    """Of support and denial: against the labels, and how far they are from the teacher's."""
    drawn = claims.draw(draw, number)
    labels, said = torch.as_tensor(drawn.labels, device=tokens.device).long(), drawn.said
    verdicts = read(judge, tokens, drawn.rows.layout(CLAIM_TOKENS))[0][:, 1:]
    found = {"support": support_loss(verdicts, labels).mean()}
    if (drawn.group >= 0).any():
        group = torch.as_tensor(drawn.group, device=tokens.device)
        found["order"] = RANKED_WEIGHT * ranked_loss(verdicts, labels == SUPPORTED, group)
    if said is not None:
        wanted = torch.as_tensor(said, device=tokens.device).float()
        shares = [
            functional.log_softmax(functional.pad(one, (1, 0)) / TEMPERATURE, dim=1) for one in (verdicts, wanted)
        ]
        found["taught claims"] = TAUGHT_WEIGHT * functional.kl_div(*shares, reduction="batchmean", log_target=True)
    return found


def ranked_loss(verdicts: Tensor, supported: Tensor, group: Tensor) -> Tensor:
    """Of every supported claim and every other one of its group: softplus of minus the distance of their log odds."""
    odds = verdicts[:, 0] - functional.softplus(verdicts[:, 1])
    pairs = (group[:, None] == group[None]) & (group >= 0)[:, None] & supported[:, None] & ~supported[None]
    each = functional.softplus(odds[None] - odds[:, None])
    return (each * pairs).sum() / pairs.sum().clamp(min=1)


def started(path: Path) -> Judge:
    """A network with the weights of an exported judge."""
    judge = Judge(json.loads((BUNDLED / "config.json").read_text(encoding="utf-8")))
    judge.load_state_dict(floats_of(path))
    return judge


def main() -> None:
    """Train from the last checkpoint to the end."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pack", type=Path, required=True, help="what research.train.pack wrote")
    parser.add_argument("--start", type=Path, default=BUNDLED / "onnx/model.onnx", help="an exported judge")
    parser.add_argument("--teacher", type=Path, help="begin with what research.teacher.weights wrote instead")
    parser.add_argument("--taught", type=Path, help="what research.teacher.scores wrote of this pack")
    parser.add_argument("--out", type=Path, required=True, help="checkpoint, log and means of weights")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--shares", default=json.dumps(SHARES), help="of a step's questions, from each stream")
    parser.add_argument("--joined", type=float, default=0.25, help="share of texts that are read with another behind")
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="of a step; 0 trains on claims alone")
    parser.add_argument("--claims", type=int, default=CLAIMS, help="of a step; 0 reads none")
    parser.add_argument("--contrast", type=int, default=0, help="pairs of a step")
    parser.add_argument("--texts", type=int, default=TEXTS, help="of a question at most")
    parser.add_argument("--tokens", type=int, default=MAX_TOKENS, help="of what is read together, in training")
    parser.add_argument("--heads", type=float, default=HEADS, help="the rate of the heads, as a multiple")
    parser.add_argument("--averaged", type=float, default=AVERAGED, help="of the mean of weights, kept in a step")
    parser.add_argument("--bfloat16", action="store_true", help="also without an accelerator")
    parser.add_argument("--threads", type=int, help="of a processor")
    parser.add_argument("--by-people", type=float, help="share of the claims that people wrote; else as they come")
    parser.add_argument("--grouped", type=float, default=0.0, help="share of the claims that are drawn as contrasts")
    parser.add_argument("--support", type=float, default=SUPPORT_WEIGHT, help="weight of the claims")
    parser.add_argument("--tune-every", type=int, default=500)
    parser.add_argument("--tune-at-most", type=int, help="questions of each kind that are measured")
    parser.add_argument("--tune-pairs", type=int, default=PAIRS, help="pairs of each kind and part, likewise")
    parser.add_argument("--tune-claims", type=int, help="claims of each source that are measured")
    parser.add_argument("--tune-kinds", help="a pattern of the kinds that are measured, for a short measurement")
    parser.add_argument("--tune-seconds", type=float, help="measure whenever so many have gone by, as well")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end early, with the rate fallen, by then")
    parser.add_argument("--doubtful-at", type=float, help="share of the run before doubtful mined negatives go")
    parser.add_argument("--log-every", type=int, default=LOGGED_STEPS)
    parser.add_argument("--seed", type=int, default=SEED)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_float32_matmul_precision("high")
    torch.manual_seed(arguments.seed)
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    pack = dict(np.load(arguments.pack))
    tokens = Tokens(pack, device, bfloat16=arguments.bfloat16 or None)
    shares = json.loads(arguments.shares)
    groups = None
    if arguments.questions:
        groups = Groups(pack, "train", shares, joined=arguments.joined, most=arguments.tokens)
    contrasts = Contrasts(pack, most=arguments.tokens) if arguments.contrast else None
    said = np.load(arguments.taught) if arguments.taught else {}
    claims = kept_back = None
    if arguments.claims:
        claims = Claims(
            pack, tune=False, by_people=arguments.by_people, said=said.get("claims"), grouped=arguments.grouped
        )
        kept_back = Claims(pack, tune=True)
    most = (arguments.tune_pairs, arguments.tune_claims)
    measured = Measured(pack, kept_back, arguments.tune_at_most, arguments.tune_kinds, *most)
    taught = Taught(pack, said["candidates"]) if said and arguments.questions else None
    judge = (teacher(arguments.teacher) if arguments.teacher else started(arguments.start)).to(device).train()
    optimise = optimiser(judge, (arguments.rate, arguments.rate, arguments.heads * arguments.rate))
    average = AveragedModel(judge, multi_avg_fn=get_ema_multi_avg_fn(arguments.averaged))
    checkpoint, log = arguments.out / "checkpoint.pt", arguments.out / "log.jsonl"
    done, seconds = 0, 0.0
    if checkpoint.exists():
        state = torch.load(checkpoint, map_location=device)
        judge.load_state_dict(state["judge"])
        average.load_state_dict(state["average"])
        optimise.load_state_dict(state["optimiser"])
        done, seconds = state["done"]
    rates = [part["lr"] for part in optimise.param_groups] if not done else state["rates"]
    seen: dict[str, list[Tensor]] = {}
    began = time.monotonic() - seconds
    saved = last_measured = time.monotonic()

    def note(line: dict[str, Any]) -> None:
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)

    if not done:
        note({"step": 0, "tune": tuned(judge, tokens, measured)})
    for number in range(done + 1, arguments.steps + 1):
        draw = np.random.default_rng([arguments.seed, number])
        # The share of the run that is over, by steps or by the clock, whichever is further.
        over = max((number - 1) / arguments.steps, (time.monotonic() - began) / arguments.seconds)
        if groups and arguments.doubtful_at is not None and over >= arguments.doubtful_at:
            note({"step": number, "doubtful": without_doubtful(average.module, tokens, groups, "mined")})
            arguments.doubtful_at = None
        for part, each in zip(optimise.param_groups, rates, strict=True):
            part["lr"] = each * rate(int(over * 100_000), 100_000)
        found = question_losses(judge, tokens, groups, draw, arguments.questions, arguments.texts) if groups else {}
        if contrasts:
            found |= contrast_loss(judge, tokens, contrasts, draw, arguments.contrast)
        if taught:
            found |= taught_loss(judge, tokens, taught, draw, arguments.questions)
        if claims:
            losses = claim_losses(judge, tokens, claims, draw, arguments.claims)
            found |= {name: arguments.support * value for name, value in losses.items()}
        torch.stack(list(found.values())).sum().backward()
        nn.utils.clip_grad_norm_(judge.parameters(), 1.0)
        optimise.step()
        optimise.zero_grad()
        average.update_parameters(judge)
        for name, value in found.items():
            seen.setdefault(name, []).append(value.detach())
        last = number == arguments.steps or over >= 1
        if number % arguments.log_every == 0 or last:
            means = {name: round(float(torch.stack(values).mean()), 4) for name, values in seen.items()}
            note({"step": number, "seconds": round(time.monotonic() - began, 1), **means})
            seen = {}
        due = arguments.tune_seconds and time.monotonic() - last_measured >= arguments.tune_seconds
        if number % arguments.tune_every == 0 or due or last:
            note({"step": number, "tune": tuned(average.module, tokens, measured)})
            last_measured = time.monotonic()
            changed = {name: one for name, one in average.module.named_parameters() if "word_embeddings" not in name}
            save(
                arguments.out / f"mean-{number}.pt", {name: one.detach().half().cpu() for name, one in changed.items()}
            )
        if time.monotonic() - saved > CHECKPOINT_SECONDS or last:
            parts = {"judge": judge, "average": average, "optimiser": optimise}
            states = {name: part.state_dict() for name, part in parts.items()}
            save(checkpoint, states | {"rates": rates, "done": (number, time.monotonic() - began)})
            saved = time.monotonic()
        if last:
            break


if __name__ == "__main__":
    main()
