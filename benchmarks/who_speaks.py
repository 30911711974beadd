"""What becomes of what a chat model says: models that speak without fault, and models that lie.

    .venv/bin/python -m benchmarks.who_speaks                              every recipe and double, an hour
    .venv/bin/python -m benchmarks.who_speaks --recipes corrective         every double, some minutes
    .venv/bin/python -m benchmarks.who_speaks --recipes corrective rag --doubles plain number --limit 30
    .venv/bin/python -m benchmarks.who_speaks --show                       the tables of what there is

The questions (benchmarks/speakers/questions.jsonl) are to papers, office files and Debian's Developer's Reference,
which is fetched with apt on the first run; 22 are near misses. A double (benchmarks/speakers/doubles.py) is a scripted
chat model behind a loopback server and knows of the evidence what stands in its prompt. Those without fault answer with
a gold sentence where a passage of the prompt holds the answer, and refuse elsewhere: a mark on such a sentence is a
false one. The liars answer always: what they write is wrong, or the nearest sentence to a question without an answer.

Each collection is indexed once into benchmarks/.cache/who_speaks; rows are kept beside it, for reading. A whole run of
a recipe replaces what results/who_speaks.json has of it; a run with a limit is printed and not kept.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from time import perf_counter, process_time
from typing import Any

import thresher
from benchmarks.machine import keep, kept, tell
from benchmarks.speakers import sources
from benchmarks.speakers.doubles import FAULTLESS, LIARS, NAMES, Double, concerns
from benchmarks.speakers.measuring import Row, counted, row
from benchmarks.speakers.questions import Question, chosen, load
from thresher.collection import Collection
from thresher_testing.llm_server import ScriptedServer

RECIPES = (
    "corrective",
    "rag",
    "hybrid",
    "hybrid-literal",
    "crag",
    "crag-paper",
    "crag-code",
    "ecrag",
    "ecrag-literal",
    "chunkrag",
    "chunkrag-v1",
)
"""All but `no-retrieval`, whose model is shown no evidence."""

FAULTLESS_HEADS = ("written", "shown", "shown marked", "lost", "sentences", "marked", "removed", "called unsupported")
LIAR_HEADS = ("sentences", "wrong shown unmarked", "wrong marked", "wrong removed", "caught")
BESIDES = ("near misses", "near misses answered", "calls", "seconds", "CPU seconds")


def ask_all(
    questions: Sequence[Question],
    recipe: str,
    name: str,
    collections: Mapping[str, Collection],
    settings: Mapping[str, Any],
) -> list[Row]:
    """Every question that concerns a double, asked of one recipe; the rows are kept in the cache."""
    double = Double(name, questions)
    rows = []
    with ScriptedServer(double) as server:
        model = {"llm.base_url": server.base_url, "llm.model": name.replace(" ", "-"), **settings}
        for question in questions:
            if concerns(name, question):
                rows.append(ask(question, recipe, double, collections[question.collection], model))
    file = sources.FOLDER / "rows" / f"{recipe}-{name.replace(' ', '-')}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in rows), encoding="utf-8")
    return rows


def ask(question: Question, recipe: str, double: Double, collection: Collection, settings: Mapping[str, Any]) -> Row:
    """One question."""
    double.begin()
    started = perf_counter(), process_time()
    answer = collection.ask(question.question, recipe=recipe, settings=dict(settings)).to_dict()
    took = {"seconds": perf_counter() - started[0], "cpu_seconds": process_time() - started[1]}
    held = double.prompt is not None and double.prompt.holding(question) is not None
    return row(question, recipe, double.name, double.said, answer, held=held, calls=double.calls, **took)


def measured(
    questions: Sequence[Question], recipe: str, doubles: Sequence[str], settings: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """The numbers of one recipe, by double."""
    names = sorted({one.collection for one in questions})
    sources.index(names, [recipe])
    found = {}
    with ExitStack() as opened:
        collections = {name: opened.enter_context(thresher.open(sources.HOME, collection=name)) for name in names}
        for name in doubles:
            started = perf_counter()
            found[name] = counted(ask_all(questions, recipe, name, collections, settings))
            print(f"{recipe}, {name}: {perf_counter() - started:.0f} s", flush=True)
    return found


# --- tables -----------------------------------------------------------------------------------------------------------


def show(found: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    """Two tables in Markdown: what is said without fault, and lies."""
    for names, heads in ((FAULTLESS, FAULTLESS_HEADS), (LIARS, LIAR_HEADS)):
        print("", line("recipe, double", "questions", "answer in the prompt", *heads, *BESIDES), sep="\n")
        print("|---" * (3 + len(heads) + len(BESIDES)) + "|")
        for recipe, cells in found.items():
            for name in names:
                if name in cells:
                    columns = ("questions", "answer in the prompt", *heads, *BESIDES)
                    print(line(f"{recipe}, {name}", *(cells[name][column] for column in columns)))


def line(*cells: object) -> str:
    """A row of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def setting(text: str) -> tuple[str, Any]:
    """`KEY=VALUE` as a setting; the value as JSON where it is that."""
    key, _, value = text.partition("=")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def main() -> None:
    """Ask, show, and keep what was whole."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipes", nargs="+", choices=RECIPES, default=RECIPES, metavar="RECIPE")
    parser.add_argument("--doubles", nargs="+", choices=NAMES, default=NAMES, metavar="DOUBLE", help=", ".join(NAMES))
    parser.add_argument("--limit", type=int, help="so many answerable questions, and near misses in proportion")
    parser.add_argument("--set", action="append", default=[], type=setting, metavar="KEY=VALUE", help="a setting")
    parser.add_argument("--show", action="store_true", help="ask nothing")
    given = parser.parse_args()
    tell()
    whole = given.limit is None and not given.set and set(given.doubles) == set(NAMES)
    found: dict[str, Any] = kept("who_speaks").get("recipes", {}) if given.show or whole else {}
    if not given.show:
        questions = chosen(load(), given.limit)
        for recipe in given.recipes:
            found[recipe] = measured(questions, recipe, given.doubles, dict(given.set))
            if whole:
                keep("who_speaks", {"recipes": {name: found[name] for name in RECIPES if name in found}})
    show(found)


if __name__ == "__main__":
    main()
