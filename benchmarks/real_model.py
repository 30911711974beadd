"""What a chat model does to answers: none, a real small one, and models that lie, on the same questions.

    .venv/bin/python -m benchmarks.real_model                          every recipe and model, hours
    .venv/bin/python -m benchmarks.real_model --recipe corrective --recipe hybrid --model offline --model smollm2
    .venv/bin/python -m benchmarks.real_model --show                   the tables of what there is

The questions come from five sets, as many of each, chosen by hash: PopQA and Natural Questions over their passages and
others, SQuAD 2.0 over its paragraphs, questions to papers, and the questions of `benchmarks/questions`. The real model
is SmolLM2-135M-Instruct behind llama.cpp on this machine (thresher_testing.real_model); `finder` knows the gold answers
and copies the sentence of the evidence that holds one: what a model can gain that reads without fault; the others are
those of thresher.testing.fakes. All are behind HTTP. An answer is right that holds a gold answer, or is marked right by
the rules of its set; to a question without an answer a refusal is. Evidence holds when what was handed on has a gold
answer in it. Rows are kept in benchmarks/.cache/real_model, and what was stopped goes on.

The rule that is held against the numbers: with any model, answers are not significantly worse than without one, and
the evidence of `corrective` is not significantly worse than that of `hybrid`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import thresher
from benchmarks.evidence import RECIPES
from benchmarks.machine import CACHE, keep, rows, tell
from benchmarks.questions import documents, rules
from benchmarks.questions.ask import handed_on
from thresher.answer import Answer
from thresher.answering.checked_answer import NOT_FOUND
from thresher.collection import Collection
from thresher_evals.metrics.answers import match_norm
from thresher_evals.stats import Comparison, paired_difference, proportion_interval
from thresher_testing.liars import LIARS, always_yes
from thresher_testing.llm_server import ScriptedServer
from thresher_testing.real_model import RealModel

OFFLINE, REAL, FINDER = "offline", "smollm2", "finder"
MODELS = (OFFLINE, REAL, FINDER, *(liar.__name__ for liar in LIARS))
EACH = 20
"""Questions of a set: a hundred in all."""
OTHERS = 500
"""Passages of a collection besides those that its questions name."""
PATIENCE_SECONDS = 600
"""For a reply of the real model: it has one thread, and a busy machine takes long to read a prompt."""
MOST_TOKENS = 200
"""Of a reply: five sentences. The real model repeats itself until it is stopped, which costs most of its time."""
FOLDER = CACHE / "real_model"
EVIDENCE = re.compile(r'<evidence number="(\d+)"[^>]*>\n?(.*?)\n?</evidence>', re.DOTALL)
"""A numbered piece in a prompt, as the generator writes it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the collection it is put to, and what makes an answer right."""

    set: str
    id: str
    collection: str
    question: str
    answers: tuple[str, ...]
    """Gold answers; empty for a question without one."""
    rule: rules.Question | None = None
    """For the questions of benchmarks/questions: their own rules."""

    def right(self, answer: Answer) -> bool:
        """Whether an answer, or a refusal, is right."""
        if self.rule is not None:
            marked = rules.marked(self.rule, answer.text, abstained=answer.abstained, reason=answer.reason or "")
            refused_rightly = marked.mark is rules.Mark.REFUSED and not self.rule.answerable
            return marked.mark is rules.Mark.RIGHT or refused_rightly
        if not self.answers:
            return answer.abstained
        return not answer.abstained and bool(match_norm(answer.text, self.answers))

    def held(self, answer: Answer) -> bool | None:
        """Whether the evidence that was handed on holds a gold answer; None for a question without one."""
        texts = handed_on(answer)
        if self.rule is not None:
            return rules.holds(self.rule, texts) if self.rule.answerable else None
        return any(match_norm(text, self.answers) for text in texts) if self.answers else None

    def said(self, text: str) -> bool:
        """Whether a text has a gold answer, or all that a rule expects."""
        if self.rule is not None:
            return self.rule.answerable and all(rules.stated(text, self.rule.expected))
        return bool(match_norm(text, self.answers))


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one question with one recipe and one model."""

    set: str
    id: str
    recipe: str
    model: str
    question: str
    answer: str
    abstained: bool
    reason: str
    verdict: str
    right: bool
    held: bool | None
    answered_by: str
    sentences: list[tuple[str, float, str, str]]
    """What the model wrote, shown or removed: state, support, sentence, reason."""
    calls: int
    tokens: int
    seconds: float
    cpu_seconds: float
    """Of this process, the real model's server included."""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What it is of."""
        return self.set, self.id, self.recipe, self.model


# --- questions and collections ----------------------------------------------------------------------------------------


def questions(each: int) -> list[Asked]:
    """As many of every set, one of each in turn: a run that was stopped has asked of all of them."""
    chosen = [sorted(one, key=by_hash)[:each] for one in (popqa(), nq(), squad(), papers(), own())]
    return [asked for turn in zip(*chosen, strict=True) for asked in turn]


def by_hash(asked: Asked) -> str:
    """An order that has nothing to do with what is asked."""
    return hashlib.sha1(f"real:{asked.set}:{asked.id}".encode()).hexdigest()


def popqa() -> list[Asked]:
    """Questions for a property of a subject."""
    return [
        Asked("PopQA", row["id"], "popqa", row["question"], tuple(row["answers"]))
        for row in rows("wikipedia/popqa.jsonl")
    ]


def nq() -> list[Asked]:
    """Natural Questions that a retrieved passage answers."""
    return [
        Asked("NQ", row["id"], "nq", row["question"], tuple(row["answers"]))
        for row in rows("wikipedia/nq.jsonl")
        if row["silver_ids"]
    ]


def squad() -> list[Asked]:
    """SQuAD 2.0, those without an answer too."""
    return [
        Asked("SQuAD", row["id"], "squad", row["question"], tuple(text for _, text in row["answers"] or ()))
        for row in rows("squad/answered.jsonl")
    ]


def papers() -> list[Asked]:
    """Questions to papers that the question set has as well."""
    here = {Path(source).name for source in documents.sources("papers")}
    file = Path(__file__).parents[1] / "packages/thresher-evals/src/thresher_evals/datasets/papers.jsonl"
    every = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [
        Asked("papers", row["id"], "papers", row["question"], tuple(row["answers"]))
        for row in every
        if not row["answerable"] or any(gold["source"] in here for gold in row["gold"])
    ]


def own() -> list[Asked]:
    """The questions of benchmarks/questions to office files, papers and look-alikes."""
    return [Asked("own", one.id, one.collection, one.question, (), one) for one in rules.load()]


def index(chosen: Sequence[Asked], recipes: Sequence[str]) -> None:
    """Make the collections that the questions are put to, where they are not there yet."""
    for name in dict.fromkeys(asked.collection for asked in chosen):
        if name in documents.COLLECTIONS:
            sources = documents.sources(name)
        else:
            sources = [corpus(name, [asked.id for asked in chosen if asked.collection == name])]
        with thresher.open(home=FOLDER / "home", collection=name) as collection:
            collection.add(*sources, recipe=recipes)


def corpus(name: str, ids: Sequence[str]) -> Path:
    """A file of the passages that some questions name and of others."""
    chosen = hashlib.sha1(" ".join(sorted(ids)).encode()).hexdigest()[:8]
    file = FOLDER / name / f"corpus-{chosen}.jsonl"
    if not file.exists():
        found = list(squad_passages(ids) if name == "squad" else wikipedia_passages(name, ids))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in found), encoding="utf-8")
    return file


def wikipedia_passages(name: str, ids: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Passages of the pool of PopQA and Natural Questions."""
    fields = ("gold_ids", "silver_ids", "retrieved_ids")
    asked = [row for row in rows(f"wikipedia/{name}.jsonl") if row["id"] in set(ids)]
    named = {id_ for row in asked for field in fields for id_ in row.get(field, ())}
    every = rows("wikipedia/corpus.jsonl")
    every.sort(key=lambda row: (row["_id"] not in named, hashlib.sha1(f"{name}:{row['_id']}".encode()).hexdigest()))
    yield from every[: len(named) + OTHERS]


def squad_passages(ids: Sequence[str]) -> Iterator[dict[str, Any]]:
    """All paragraphs of the articles that the questions are to."""
    every = rows("squad/answered.jsonl")
    titles = {row["title"] for row in every if row["id"] in set(ids)}
    paragraphs = {row["context"]: row["title"] for row in every if row["title"] in titles}
    for number, (text, title) in enumerate(paragraphs.items()):
        yield {"_id": f"p{number}", "title": title.replace("_", " "), "text": text}


# --- asking -----------------------------------------------------------------------------------------------------------


def served(model: str, chosen: Sequence[Asked]) -> AbstractContextManager[Any]:
    """The server of a model; nothing for none."""
    if model == OFFLINE:
        return nullcontext()
    if model == REAL:
        return RealModel()
    if model == FINDER:
        return ScriptedServer(lambda body: lie(partial(found, {one.question: one for one in chosen}), body["messages"]))
    liar = next(one for one in LIARS if one.__name__ == model)
    return ScriptedServer(lambda body: lie(liar, body["messages"]))


def found(known: Mapping[str, Asked], system: str, user: str) -> str:
    """The first sentence of the evidence that holds a gold answer; whatever else is asked is affirmed."""
    pieces = EVIDENCE.findall(user)
    if not pieces:
        return always_yes(system, user)
    asked = known.get(user.rpartition("Question: ")[2].strip())
    for number, text in pieces:
        for sentence in re.split(r"(?<=[.!?])\s+|\n", text):
            if asked is not None and asked.said(sentence):
                return f"{sentence} [{number}]"
    return NOT_FOUND


def lie(liar: Callable[[str, str], str], messages: Sequence[Mapping[str, Any]]) -> str:
    """The liar's reply to what the server was sent."""
    return liar(str(messages[0]["content"]), "\n".join(str(one["content"]) for one in messages[1:]))


def ask_all(chosen: Sequence[Asked], recipe: str, model: str, collections: Mapping[str, Collection]) -> None:
    """The rows that are not there yet, each kept as soon as it is."""
    file = FOLDER / "rows" / f"{recipe}-{model}.jsonl"
    there = {row.key for row in read(file)}
    left = [asked for asked in chosen if (asked.set, asked.id, recipe, model) not in there]
    if not left:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    with served(model, chosen) as server, file.open("a", encoding="utf-8") as out:
        settings: dict[str, Any] = {"llm.timeout_seconds": PATIENCE_SECONDS, "llm.max_tokens": MOST_TOKENS}
        if server is not None:
            settings |= {"llm.base_url": server.base_url, "llm.model": model}
        for asked in left:
            started = perf_counter(), process_time()
            answer = collections[asked.collection].ask(asked.question, recipe=recipe, settings=settings)
            took = perf_counter() - started[0], process_time() - started[1]
            out.write(json.dumps(asdict(row_of(asked, model, answer, *took)), ensure_ascii=False) + "\n")
            out.flush()
    print(f"{recipe} {model}: {len(left)} questions", flush=True)


def row_of(asked: Asked, model: str, answer: Answer, seconds: float, cpu_seconds: float) -> Row:
    """What is kept of an answer."""
    usage = answer.usage
    return Row(
        asked.set,
        asked.id,
        answer.recipe,
        model,
        asked.question,
        answer.text,
        answer.abstained,
        answer.reason or "",
        str(answer.verdict or ""),
        asked.right(answer),
        asked.held(answer),
        answer.answered_by or "",
        [(str(one.state), one.support, one.text, one.reason) for one in (*answer.sentences, *answer.removed)],
        usage.llm_calls,
        usage.prompt_tokens + usage.completion_tokens,
        round(seconds, 3),
        round(cpu_seconds, 3),
    )


def read(file: Path) -> list[Row]:
    """The rows of a file, none where it is not there; a last line that was cut off does not count."""
    lines = file.read_text(encoding="utf-8").split("\n")[:-1] if file.exists() else []
    return [Row(**json.loads(line)) for line in lines]


# --- what came of it --------------------------------------------------------------------------------------------------


def results() -> dict[str, Any]:
    """Every recipe with every model, and the rule."""
    found = [row for file in sorted((FOLDER / "rows").glob("*.jsonl")) for row in read(file)]
    cells: dict[tuple[str, str], dict[tuple[str, str], Row]] = {}
    for row in found:
        cells.setdefault((row.recipe, row.model), {})[row.set, row.id] = row
    order = [(recipe, model) for recipe in RECIPES for model in MODELS if (recipe, model) in cells]
    table = {f"{recipe} {model}": summary(list(cells[recipe, model].values())) for recipe, model in order}
    rule = {}
    for recipe, model in order:
        if model != OFFLINE and (recipe, OFFLINE) in cells:
            after = cells[recipe, model]
            rule[f"{recipe} {model}"] = {
                "right, against offline": told(cells[recipe, OFFLINE], after, "right"),
                "evidence, against hybrid": told(cells.get(("hybrid", OFFLINE), {}), after, "held"),
            }
    return {"table": table, "rule": rule}


def summary(found: Sequence[Row]) -> dict[str, Any]:
    """The numbers of one recipe with one model."""
    held = [float(row.held) for row in found if row.held is not None]
    return {
        "n": len(found),
        "right": asdict(proportion_interval([float(row.right) for row in found])),
        "refused": round(sum(row.abstained for row in found) / len(found), 3),
        "evidence": asdict(proportion_interval(held)),
        "by the model": round(sum(row.answered_by == "model" for row in found) / len(found), 3),
        "calls": round(sum(row.calls for row in found) / len(found), 1),
        "tokens": round(sum(row.tokens for row in found) / len(found)),
        "seconds": round(median(row.seconds for row in found), 2),
        "CPU seconds": round(median(row.cpu_seconds for row in found), 2),
    }


def told(before: Mapping[Any, Row], after: Mapping[Any, Row], field: str) -> dict[str, Any]:
    """The paired difference of a yes-or-no field on the questions that both have."""
    shared = [key for key in before if key in after and getattr(before[key], field) is not None]
    pairs = [(float(getattr(before[key], field)), float(getattr(after[key], field))) for key in shared]
    found = paired_difference([one for one, _ in pairs], [other for _, other in pairs]) if pairs else Comparison()
    counted = {name: getattr(found, name) for name in ("n", "difference", "low", "high", "p", "better", "worse")}
    return {**counted, "holds": found.direction >= 0}


def show(found: Mapping[str, Any]) -> None:
    """Two tables in Markdown."""
    heads = ("recipe, model", "n", "right", "refused", "evidence holds", "by the model")
    print(line(*heads, "calls", "tokens", "seconds", "CPU seconds"), "|---" * 10 + "|", sep="\n")
    for name, cell in found["table"].items():
        right, held = (
            f"{one['value']:.2f} [{one['low']:.2f}, {one['high']:.2f}]" for one in (cell["right"], cell["evidence"])
        )
        shares = (f"{cell['refused']:.2f}", held, f"{cell['by the model']:.2f}")
        cost = (f"{cell['calls']:.1f}", cell["tokens"], f"{cell['seconds']:.2f}", f"{cell['CPU seconds']:.2f}")
        print(line(name, cell["n"], right, *shares, *cost))
    print(
        line("recipe, model", "measured", "n", "difference", "better, worse", "p", "holds"), "|---" * 7 + "|", sep="\n"
    )
    for name, each in found["rule"].items():
        for what, one in each.items():
            if one["n"]:
                interval = f"{one['difference']:+.3f} [{one['low']:+.3f}, {one['high']:+.3f}]"
                signs, holds = f"{one['better']}, {one['worse']}", "yes" if one["holds"] else "NO"
                print(line(name, what, one["n"], interval, signs, f"{one['p']:.2f}", holds))


def line(*cells: object) -> str:
    """A row of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """Ask what is left, and show and keep what there is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipe", action="append", choices=RECIPES, help="default: all")
    parser.add_argument("--model", action="append", choices=MODELS, help="default: all")
    parser.add_argument("--each", type=int, default=EACH, help="questions of each set")
    parser.add_argument("--show", action="store_true", help="ask nothing")
    given = parser.parse_args()
    tell()
    if not given.show:
        chosen = questions(given.each)
        recipes = given.recipe or list(RECIPES)
        index(chosen, recipes)
        with ExitStack() as opened:
            names = dict.fromkeys(asked.collection for asked in chosen)
            collections = {
                name: opened.enter_context(thresher.open(FOLDER / "home", collection=name)) for name in names
            }
            for model in given.model or MODELS:
                for recipe in recipes:
                    ask_all(chosen, recipe, model, collections)
    found = results()
    keep("real_model", found)
    show(found)


if __name__ == "__main__":
    main()
