"""What a chat model is worth as a judge: by log-probability, by grades, by our wording of CRAG's; how good it must be.

    .venv/bin/python -m benchmarks.model_judge                     all of it; a quarter of an hour for the real model
    .venv/bin/python -m benchmarks.model_judge --model oracle80    one model
    .venv/bin/python -m benchmarks.model_judge --show              the tables of what there is

Questions of PopQA, Natural Questions and SQuAD 2.0, chosen by hash, each with the ten chunks that `corrective` finds
and judges in a collection of their passages and others. A chunk is evidence when it holds a gold answer. Three ways
of asking, over the same HTTP: P(yes) against P(no) of one token a chunk; grades of 0 to 3 for all chunks in one call;
the score from 0 to 1 that CRAG asks of its evaluator, in our own words, a call a chunk. The real model is
SmolLM2-135M-Instruct behind llama.cpp (thresher_testing.real_model), asked about an eighth of the questions. An oracle
of accuracy a knows the labels, and is right about a share a of the chunks, chosen by hash. Rows are kept in
benchmarks/.cache/model_judge, and what was stopped goes on.

How good a model must be: among the questions our judge is unsure of, the weight of an oracle is measured on four fifths
as `thresher calibrate` does it, and the verdicts are counted on the others, for accuracies from 50 to 100 %, 100 draws
each.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from functools import partial
from statistics import fmean, median, quantiles
from time import perf_counter
from typing import Any

import thresher
from benchmarks.machine import BENCHMARKS, CACHE, keep, tell
from benchmarks.real_model import Asked, by_hash, corpus, line, nq, popqa, squad
from benchmarks.studies.study import parts_of
from thresher import recipes
from thresher.judging.calibration import SHIPPED
from thresher.judging.fitting import Opinion, weighed
from thresher.judging.llm_scorers import GRADES, LikelihoodRelevance, LLMRelevance
from thresher.models.chat import ChatModel
from thresher.models.usage import Meter
from thresher.protocols import Scorer
from thresher.text.injection import fenced
from thresher.types import UNIT as UNIT_SCALE
from thresher.types import Chunk, Hit, Query, Score
from thresher_evals.metrics.answers import match_norm
from thresher_evals.report.blocks import Figure
from thresher_evals.report.plots import Line, lines, render
from thresher_evals.stats import Forecast, auroc_interval
from thresher_testing.llm_server import Reply, ScriptedServer
from thresher_testing.real_model import RealModel

REAL = "smollm2"
ORACLES = {"oracle60": 0.60, "oracle80": 0.80, "oracle95": 0.95}
MODELS = (REAL, *ORACLES)
WAYS = ("log-probability", "grades", "published prompt")
"""The third is our wording of the published purpose; stored rows have it under this name."""
EACH = 100
"""Questions of a set."""
READ_BY_THE_REAL_MODEL = 12
"""Of a set: it reads some 290 tokens a second."""
PATIENCE_SECONDS = 600
ASKED_ABOUT = 3
"""Chunks of an unsure question, the best ones: as `calibrate` asks."""
ACCURACIES = tuple(round(0.5 + 0.05 * step, 2) for step in range(11))
DRAWS = 100
FITTED_ON = 0.8
"""Of the unsure questions of a draw the weight is measured on; the verdicts are counted on the others."""
FOLDER = CACHE / "model_judge"
FIGURE = BENCHMARKS.parent / "docs" / "assets" / "model-judge.svg"


@dataclass(frozen=True, slots=True)
class Judged:
    """A question with its chunks, whether each is evidence, and the trained judge's probability of each."""

    set: str
    id: str
    question: str
    titles: list[str]
    texts: list[str]
    labels: list[bool]
    trained: list[float]

    @property
    def hits(self) -> list[Hit]:
        """The chunks as a judge is given them."""
        return [
            Hit(Chunk(str(at), "d", f"{at}", title, 0, len(text), text), Score(0.5, UNIT_SCALE), at)
            for at, (title, text) in enumerate(zip(self.titles, self.texts, strict=True), start=1)
        ]


@dataclass(frozen=True, slots=True)
class Row:
    """What one model, asked in one way, made of the chunks of one question."""

    model: str
    way: str
    set: str
    id: str
    scores: list[float | None]
    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float


# --- questions with their chunks --------------------------------------------------------------------------------------


def questions(each: int) -> list[Judged]:
    """As many of every set, judged by our judge; kept once they are made."""
    file = FOLDER / f"questions-{each}.jsonl"
    if not file.exists():
        made = [one for asked in (popqa(), nq(), squad()) for one in judged(sorted(asked, key=by_hash)[:each])]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in made), encoding="utf-8")
    return [Judged(**json.loads(one)) for one in file.read_text(encoding="utf-8").splitlines()]


def judged(chosen: Sequence[Asked]) -> Iterator[Judged]:
    """What `corrective` retrieves for the questions of a set, and what its judge makes of it."""
    name = chosen[0].collection
    with thresher.open(FOLDER / "home", collection=f"{name}-{len(chosen)}") as collection:
        collection.add(corpus(name, [asked.id for asked in chosen]), recipe="corrective")
        recipe = recipes.get("corrective")
        pipeline = recipe.pipeline(recipe.configured({}), parts_of(collection, FOLDER / "home"))
        for asked in chosen:
            query = Query(asked.question, asked.question, 10)
            found = [one for one in pipeline.judge(query, pipeline.retrieve(query).kept).judgements if one.score]
            yield Judged(
                asked.set,
                asked.id,
                asked.question,
                [one.hit.chunk.title for one in found],
                [one.hit.chunk.text for one in found],
                [bool(asked.answers) and bool(match_norm(one.hit.chunk.text, asked.answers)) for one in found],
                [one.score.value for one in found if one.score],
            )


# --- asking -----------------------------------------------------------------------------------------------------------


def scorer(way: str, model: ChatModel) -> Scorer:
    """One of the three ways of asking."""
    graded = LLMRelevance(model, prompt=GRADES)
    match way:
        case "log-probability":
            return LikelihoodRelevance(model, graded, workers=1)
        case "grades":
            return graded
        case _:
            return LLMRelevance(model, batch=1, workers=1)


def believes(accuracy: float, question: str, text: str, label: bool, draw: int = 0) -> bool:
    """What an oracle thinks of a chunk: the truth, for that share of the chunks; the same whenever it is asked."""
    found = hashlib.sha1(f"{draw}:{question}:{text}".encode()).digest()
    return label is (int.from_bytes(found[:6]) / 2**48 < accuracy)


def oracle(accuracy: float, known: Mapping[tuple[str, str], bool], body: Mapping[str, Any]) -> Reply:
    """An oracle's reply in the form that it is asked for."""
    system, user = (str(one["content"]) for one in body["messages"])
    question = re.search(r"<query>(.*?)</query>", user, re.DOTALL)[1]  # type: ignore[index]
    texts = re.findall(r"<text>(.*?)</text>", user, re.DOTALL)
    says = [believes(accuracy, question, text, known[question, text]) for text in texts]
    if body.get("logprobs"):
        sure = accuracy if says[0] else 1 - accuracy
        return Reply(
            "yes" if says[0] else "no",
            likely={word: share for word, share in (("yes", sure), ("no", 1 - sure)) if share},
        )
    if system.startswith(GRADES.system[:40]):
        return Reply(json.dumps({str(at): 3 if one else 0 for at, one in enumerate(says, start=1)}))
    return Reply(json.dumps({"scores": [1.0 if one else 0.0 for one in says]}))


def served(model: str, asked: Sequence[Judged]) -> AbstractContextManager[Any]:
    """The server of a model."""
    if model == REAL:
        return RealModel(slots=1)
    known = {
        (fenced(one.question), fenced(text)): label
        for one in asked
        for text, label in zip(one.texts, one.labels, strict=True)
    }
    return ScriptedServer(partial(oracle, ORACLES[model], known), logprobs=True)


def ask_all(asked: Sequence[Judged], model: str) -> None:
    """The rows of a model that are not there yet, each kept as soon as it is."""
    file = FOLDER / "rows" / f"{model}.jsonl"
    there = {(row.way, row.set, row.id) for row in read(model)}
    left = [(one, way) for one in asked for way in WAYS if (way, one.set, one.id) not in there]
    if not left:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    with served(model, asked) as server, file.open("a", encoding="utf-8") as out:
        for one, way in left:
            meter = Meter()
            judge = scorer(way, ChatModel(server.base_url, model, meter, timeout_seconds=PATIENCE_SECONDS))
            started = perf_counter()
            scores = judge(Query(one.question, one.question, 10), one.hits).scores
            row = Row(
                model,
                way,
                one.set,
                one.id,
                [None if score is None else score.value for score in scores],
                meter.usage.llm_calls,
                meter.usage.prompt_tokens,
                meter.usage.completion_tokens,
                round(perf_counter() - started, 3),
            )
            out.write(json.dumps(asdict(row)) + "\n")
            out.flush()
    print(f"{model}: {len(left)} questions", flush=True)


def read(model: str) -> list[Row]:
    """The rows of a model; a last line that was cut off does not count."""
    file = FOLDER / "rows" / f"{model}.jsonl"
    cut = file.read_text(encoding="utf-8").split("\n")[:-1] if file.exists() else []
    return [Row(**json.loads(one)) for one in cut]


# --- what came of it --------------------------------------------------------------------------------------------------


def ways(asked: Sequence[Judged]) -> dict[str, dict[str, Any]]:
    """Each model in each way, and our judge on the chunks that the real model read."""
    every = {(one.set, one.id): one for one in asked}
    found = {}
    for model in MODELS:
        for way in WAYS:
            rows = [row for row in read(model) if row.way == way and (row.set, row.id) in every]
            if rows:
                seen = [every[row.set, row.id] for row in rows]
                found[f"{model}, {way}"] = summary(seen, [row.scores for row in rows]) | {
                    "calls": round(fmean(row.calls for row in rows), 1),
                    "prompt tokens": round(fmean(row.prompt_tokens for row in rows)),
                    "completion tokens": round(fmean(row.completion_tokens for row in rows)),
                    "seconds": round(median(row.seconds for row in rows), 2),
                }
    free = {"calls": 0.0, "prompt tokens": 0, "completion tokens": 0, "seconds": None}
    found["trained judge, all questions"] = summary(asked, [one.trained for one in asked]) | free
    there = {(row.set, row.id) for row in read(REAL)}
    if same := [one for one in asked if (one.set, one.id) in there]:
        found[f"trained judge, questions of {REAL}"] = summary(same, [one.trained for one in same]) | free
    return found


def summary(asked: Sequence[Judged], scores: Sequence[Sequence[float | None]]) -> dict[str, Any]:
    """How well scores tell evidence from other chunks."""
    pairs = [
        (score, label)
        for one, given in zip(asked, scores, strict=True)
        for score, label in zip(given, one.labels, strict=True)
    ]
    told = [Forecast(score, float(label)) for score, label in pairs if score is not None]
    return {
        "questions": len(asked),
        "chunks": len(pairs),
        "unreadable": len(pairs) - len(told),
        "auroc": asdict(auroc_interval(told)),
        "accuracy": round(fmean((one.probability >= 0.5) == bool(one.outcome) for one in told), 3) if told else None,
    }


def helps(asked: Sequence[Judged], draws: int = DRAWS) -> dict[str, Any]:
    """What an oracle of each accuracy changes about the verdicts that our judge is unsure of."""
    usual = SHIPPED["trained"]
    unsure = [one for one in asked if one.trained and usual.lower <= max(one.trained) < usual.upper]
    without, by_accuracy = [], {}
    for accuracy in ACCURACIES:
        errors, counted = [], 0
        for draw in range(draws):
            opinions = [opinion(one, accuracy, draw, usual.lower) for one in unsure]
            random.Random(draw).shuffle(opinions)
            fitted_on = round(FITTED_ON * len(opinions))
            weight = weighed("oracle", opinions[:fitted_on], seed=draw)
            if weight is None:
                continue  # too few of one kind in this draw
            counted += weight.counts
            other = opinions[fitted_on:]
            errors.append(wrong(other, [weight.probability(one.own, one.model) for one in other]))
            without.append(wrong(other, [one.own for one in other]))
        if len(errors) < 2:
            raise SystemExit(f"{len(unsure)} unsure questions are too few")
        by_accuracy[f"{accuracy:.2f}"] = {"counted": round(counted / len(errors), 3), "wrong": spread(errors)}
    return {"unsure": len(unsure), "of": len(asked), "wrong without": spread(without), "accuracy": by_accuracy}


def opinion(one: Judged, accuracy: float, draw: int, lower: float) -> Opinion:
    """What our judge and an oracle make of a question's best chunks."""
    best = sorted(range(len(one.texts)), key=lambda at: -one.trained[at])[:ASKED_ABOUT]
    says = [
        believes(accuracy, one.question, one.texts[at], one.labels[at], draw) for at in best if one.trained[at] >= lower
    ]
    return Opinion(max(one.trained), accuracy if any(says) else 1 - accuracy, any(one.labels))


def wrong(opinions: Sequence[Opinion], probabilities: Sequence[float]) -> float:
    """The share of the questions whose more probable verdict is not the right one."""
    return fmean((value >= 0.5) is not one.answerable for one, value in zip(opinions, probabilities, strict=True))


def spread(values: Sequence[float]) -> dict[str, float]:
    """The mean, and where 95 % of the draws lie."""
    cuts = quantiles(values, n=40)
    return {"value": round(fmean(values), 4), "low": round(cuts[0], 4), "high": round(cuts[-1], 4)}


def draw(found: Mapping[str, Any]) -> str:
    """The figure of docs/models.md: wrong verdicts by how often the model is right."""
    by_accuracy = found["accuracy"]
    xs = [float(name) for name in by_accuracy]
    told = [by_accuracy[name]["wrong"] for name in by_accuracy]
    alone = found["wrong without"]
    drawn = (
        Line("with the model", xs, *([one[end] for one in told] for end in ("value", "low", "high"))),
        Line("our judge alone", xs, [alone["value"]] * len(xs)),
    )
    paint = partial(lines, drawn=drawn, x="share of chunks the model is right about", y="wrong of the unsure")
    return render(Figure("model-judge", "How good must a model be?", paint, n=found["unsure"]))


def show(found: Mapping[str, Any]) -> None:
    """Two tables in Markdown."""
    heads = ("judge", "questions", "AUROC", "accuracy", "unreadable", "calls", "tokens in", "tokens out", "seconds")
    print(line(*heads), "|---" * len(heads) + "|", sep="\n")
    for name, one in found["ways"].items():
        area = "{value:.2f} [{low:.2f}, {high:.2f}]".format(**one["auroc"])
        seconds = "-" if one["seconds"] is None else f"{one['seconds']:.2f}"
        cost = (one["calls"], one["prompt tokens"], one["completion tokens"], seconds)
        print(line(name, one["questions"], area, f"{one['accuracy']:.2f}", one["unreadable"], *cost))
    needed = found["helps"]
    print(f"\nunsure: {needed['unsure']} of {needed['of']} questions; wrong without a model: {needed['wrong without']}")
    print(line("right about chunks", "draws in which it counts", "wrong verdicts"), "|---" * 3 + "|", sep="\n")
    for name, one in needed["accuracy"].items():
        print(line(name, f"{one['counted']:.2f}", "{value:.3f} [{low:.3f}, {high:.3f}]".format(**one["wrong"])))


def main() -> None:
    """Ask what is left, and show and keep what there is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", action="append", choices=MODELS, help="default: all")
    parser.add_argument("--each", type=int, default=EACH, help="questions of each set")
    parser.add_argument("--show", action="store_true", help="ask nothing")
    given = parser.parse_args()
    tell()
    asked = questions(given.each)
    if not given.show:
        for model in given.model or MODELS:
            per_set = READ_BY_THE_REAL_MODEL if model == REAL else given.each
            ask_all(
                [one for name in dict.fromkeys(one.set for one in asked) for one in first(asked, name, per_set)], model
            )
    found = {"ways": ways(asked), "helps": helps(asked)}
    keep("model_judge", found)
    FIGURE.write_text(draw(found["helps"]) + "\n", encoding="utf-8")
    show(found)


def first(asked: Sequence[Judged], name: str, number: int) -> list[Judged]:
    """The first so many questions of a set."""
    return [one for one in asked if one.set == name][:number]


if __name__ == "__main__":
    main()
