"""How conversations are understood: `python -m benchmarks.conversations {tune,test,all,papers} [--model]`.

30 conversations of three turns over documents written for them. A turn is what is typed, its kind, a text that its
answer holds, and, where it cannot stand alone, the question it means. Half of the conversations (by the hash of their
first question) are for tuning, the others are read once. `--model` asks with a scripted chat model that knows what is
meant. `papers` are ten conversations of five turns over papers that nobody wrote for it: the topic is kept where the
answer's first citation is of the paper that is meant.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import thresher
from benchmarks.machine import DATA
from thresher.answer import Answer
from thresher.collection import Collection
from thresher_testing.llm_server import ScriptedServer

HERE = Path(__file__).parent
WHOLE = ("whole", "changed")
COMPARED = ("text", "abstained", "reason", "verdict", "confidence", "certainty")


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation."""

    question: str
    kind: str
    """`whole`, `changed` (whole, on another topic), `elliptical`, `corrected` or `courtesy`."""
    expected: str | None
    """A text that the answer holds; None where the documents have no answer, empty where it is not looked at."""
    meant: str = ""
    """The question in words that stand alone, where it does not."""


def conversations(part: str) -> list[list[Turn]]:
    """Those of a part: `tune`, `test` or `all`."""
    stored = json.loads((HERE / "conversations.json").read_text(encoding="utf-8"))
    every = [[Turn(*turn) for turn in turns] for turns in stored]
    return [turns for turns in every if part in ("all", part_of(turns[0].question))]


def part_of(first: str) -> str:
    """`tune` or `test`, by the first question of a conversation."""
    return "test" if int(hashlib.sha256(first.encode()).hexdigest(), 16) % 2 else "tune"


def asked(collection: Collection, turns: Sequence[Turn], **options: Any) -> Iterator[tuple[Turn, Answer, bool]]:
    """Each turn with its answer, and whether it went as it should."""
    history: list[Answer] = []
    for turn in turns:
        answer = collection.ask(turn.question, history=history, **options)
        if turn.kind in WHOLE:
            alone = collection.ask(turn.question, **options)
            right = answer.standalone is None and all(
                getattr(answer, name) == getattr(alone, name) for name in COMPARED
            )
        elif turn.kind == "courtesy":
            right = not answer.abstained and not answer.citations
        else:
            right = not answer.abstained and (turn.expected or "") in first_citation(answer)
        history.append(answer)
        yield turn, answer, right


def first_citation(answer: Answer) -> str:
    """What the answer says, as far as its first citation reaches."""
    return answer.citations[0].quote if answer.citations else answer.text


def knowing(turns: Sequence[Turn]) -> ScriptedServer:
    """A chat model that puts follow-ups into the words they mean, spoils whole questions, and says nothing else."""
    meant = {turn.question: turn.meant or f"{turn.question.rstrip('?')} of all?" for turn in turns}

    def reply(body: Any) -> str:
        system, user = (message["content"] for message in body["messages"][:2])
        if not system.startswith("You put the last question"):
            return "I do not know."
        last = max((turn for turn in meant if turn in user.rpartition("Last question:")[2]), key=len)
        return json.dumps({"question": meant[last]})

    return ScriptedServer(reply)


def topics_kept(collection: Collection) -> list[tuple[str, Answer, bool]]:
    """Each turn of the conversations over papers, its answer, and whether it is of the paper that is meant."""
    turns: list[tuple[str, Answer, bool]] = []
    for conversation in json.loads((HERE / "papers.json").read_text(encoding="utf-8")):
        history: list[Answer] = []
        for question, paper in conversation:
            history.append(answer := collection.ask(question, history=history))
            cited = Path(answer.citations[0].source).name if answer.citations else ""
            turns.append((question, answer, cited.startswith(paper)))
    return turns


def ask_papers() -> int:
    """Print each turn of the conversations over papers that lost its topic, and how many kept it."""
    with tempfile.TemporaryDirectory() as home, thresher.open(home) as collection:
        collection.add(DATA / "papers")
        turns = topics_kept(collection)
    for question, answer, kept in turns:
        if not kept:
            print(f"{question!r} was {answer.standalone!r}: {first_citation(answer)[:90]!r}")
    print(f"the topic is kept in {sum(kept for *_, kept in turns)} of {len(turns)} turns")
    return 0


def main() -> int:
    """Print each turn that went wrong, and a table of kinds."""
    parser = argparse.ArgumentParser(description="how conversations are understood")
    parser.add_argument("part", choices=("tune", "test", "all", "papers"))
    parser.add_argument("--model", action="store_true", help="ask with a scripted chat model")
    given = parser.parse_args()
    if given.part == "papers":
        return ask_papers()
    right, every = Counter[str](), Counter[str]()
    chosen = conversations(given.part)
    with tempfile.TemporaryDirectory() as home, thresher.open(home) as collection:
        collection.add(HERE / "documents")
        with knowing([turn for turns in chosen for turn in turns]) as server:
            model = {"llm.base_url": server.base_url, "llm.model": "scripted", "answer.by": "reader"}
            for turns in chosen:
                for turn, answer, as_it_should in asked(collection, turns, settings=model if given.model else {}):
                    every[turn.kind] += 1
                    right[turn.kind] += as_it_should
                    if not as_it_should:
                        print(
                            f"{turn.kind}: {turn.question!r} was {answer.standalone!r}: {first_citation(answer)[:90]!r}"
                        )
    for kind, number in sorted(every.items()):
        print(f"{kind:<10} {right[kind]:>3} of {number}")
    return 0 if all(right[kind] == every[kind] for kind in (*WHOLE, "courtesy")) else 1


if __name__ == "__main__":
    sys.exit(main())
