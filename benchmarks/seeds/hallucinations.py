"""ECRAG's figure 10 with a scripted model: it states the answer if the evidence holds it, and else makes one up."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.questions.rules import states
from benchmarks.seeds.answers import run
from benchmarks.seeds.pool import FEW_PASSAGES, FEW_QUESTIONS, few
from benchmarks.seeds.rows import Lines, Measured, Provenance
from benchmarks.speakers.doubles import REFUSAL, marked
from benchmarks.speakers.prompts import Known, asked, other_reply
from benchmarks.speakers.questions import Question
from thresher_testing.llm_server import ScriptedServer

PUBLISHED = {
    "RAG": "rag",
    "CRAG": "crag[judge=local,search.style=question]",
    "ECRAG": "ecrag[search.style=question]",
}
"""Its systems. No prompt but that of the answer goes to the scripted model, which would judge without fault."""

CHECKED = {
    "RAG, checked": "rag[answer.check=strict]",
    "corrective, checked": "corrective[judge=trained,search.style=question,answer.check=strict]",
}
"""The same, where a sentence that the evidence does not support is not shown."""

SETTINGS = (
    "a scripted model that states the answer if a passage of its prompt holds it, and else that of another question; "
    f"PopQA over {FEW_PASSAGES} passages of Wikipedia, the evidence of half of the questions in a second collection, "
    "which stands for the web"
)


def hallucinations() -> Measured:
    """Whether each question is answered, and whether the answer is made up."""
    folder = few()
    questions = asked_about(folder / "popqa.jsonl")
    with ScriptedServer(Inventing(questions)) as server:
        model = ("--set", f"llm.base_url={server.base_url}", "--set", "llm.model=scripted")
        recipes = (*PUBLISHED.values(), *CHECKED.values())
        found = run(
            "hallucinations", recipes, FEW_QUESTIONS, ("match", "abstained"), "--together", *model, folder=folder
        )
    lines: Lines = {
        name: responses(found[recipe]["match"], found[recipe]["abstained"])
        for name, recipe in (*PUBLISHED.items(), *CHECKED.items())
    }
    return Measured("hallucinations", Provenance.now(), SETTINGS, lines)


def responses(match: Sequence[float | None], abstained: Sequence[float | None]) -> dict[str, list[float | None]]:
    """For each question whether it is answered, and of an answer whether it is made up: no right answer is in it."""
    made_up = [None if refused else 1.0 - (right or 0.0) for right, refused in zip(match, abstained, strict=True)]
    return {"answered": [1.0 - (refused or 0.0) for refused in abstained], "made up": made_up}


def asked_about(path: Path) -> list[Question]:
    """The questions of a file with a right sentence, and with a wrong one: the answer of another question."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        Question(
            id=str(row["id"]),
            collection="",
            question=row["question"],
            gold=f"It is {row['answers'][0]}.",
            paraphrase=f"It is {another(row, rows)}.",
            holds=(tuple(row["answers"]),),
        )
        for row in rows
    ]


def another(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """The answer to another question about the same property, that holds none of the right ones; always the same."""
    others = [
        one["answers"][0]
        for one in rows
        if one["property"] == row["property"] and not any(states(one["answers"][0], right) for right in row["answers"])
    ]
    number = int.from_bytes(hashlib.sha1(str(row["id"]).encode()).digest()[:4], "big")
    return str(others[number % len(others)]) if others else "unknown to science"


class Inventing:
    """A rule for `ScriptedServer`: the right sentence with the passage that holds it, else the wrong one."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self._known = Known(questions)

    def __call__(self, body: Any) -> str:
        """The reply to the messages that came."""
        system, *others = (str(message["content"]) for message in body["messages"])
        user = "\n".join(others)
        reply = other_reply(system, user, self._known)
        if reply is not None:
            return reply
        prompt = asked(user)
        question = self._known.find(prompt.question) if prompt else None
        if prompt is None or question is None:
            return REFUSAL
        holding = prompt.holding(question)
        return marked(question.gold, holding) if holding else marked(question.paraphrase, prompt.passages[0])
