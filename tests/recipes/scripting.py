"""A chat model that knows every prompt of the recipes and replies sensibly, for a scripted server."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import thresher
from tests.answering.answering import READ_RIGHTLY, verdicts
from thresher.answering import chat_model as grounded
from thresher.answering import second_reader
from thresher.collection import Collection
from thresher.judging import llm_scorers as relevance
from thresher.question import rewrite
from thresher_methods import stages as looks
from thresher_methods import summaries, thresholds
from thresher_testing.llm_server import ScriptedServer

STAGES = {
    "relevance": relevance.PROMPT.system,
    "grades": relevance.GRADES.system,
    "reflection": looks.REFLECTION.system,
    "critic": looks.CRITIC.system,
    "threshold": thresholds.THRESHOLD.system,
    "rewrite": rewrite.REWRITE,
    "words": "You turn a question into words",
    "likelihood": relevance.ANSWERS,
    "answer": grounded.SYSTEM,
    "alone": grounded.PARAMETRIC_SYSTEM,
    "verify": second_reader.SYSTEM,
    "summary": summaries.SUMMARISE,
}
"""What is asked for, and how the system prompt of it begins."""

_BLOCK = r'<{0} number="\d+"[^>]*>\n?(.*?)\n?</{0}>'
_WORD = re.compile(r"\w{4,}")


def stage(asked: Mapping[str, Any]) -> str:
    """Which prompt this is. Raises ValueError for one that nobody here knows."""
    system = asked["messages"][0]["content"]
    for name, beginning in STAGES.items():
        if system.startswith(beginning):
            return name
    raise ValueError(f"a prompt that is not known: {system[:60]}")


def user_of(asked: Mapping[str, Any]) -> str:
    return str(asked["messages"][1]["content"])


def blocks(kind: str, user: str) -> list[str]:
    """The texts of the chunks, pieces of evidence or sentences in a prompt."""
    return re.findall(_BLOCK.format(kind), user, re.DOTALL)


def overlapping(question: str, text: str) -> float:
    """A score for a text: high where it holds half of the question's longer words."""
    wanted = set(_WORD.findall(question.lower()))
    shared = wanted & set(_WORD.findall(text.lower()))
    return 0.9 if len(shared) * 2 >= len(wanted) else 0.1


def quoting(question: str, pieces: list[str]) -> str:
    """An answer: the piece of evidence that shares most with the question, cited."""
    wanted = set(_WORD.findall(question.lower()))
    best = max(range(len(pieces)), key=lambda at: len(wanted & set(_WORD.findall(pieces[at].lower()))))
    return f"{' '.join(pieces[best].split()).rstrip('.')} [{best + 1}]."


@dataclass
class Judge:
    """The rule of a scripted server. Each reply may be replaced: a function of what the prompt holds, or a text."""

    score: Callable[[str, str], float] = overlapping
    """Of a question and a text: base score, reflection and critic, unless `by_stage` says otherwise."""
    by_stage: Mapping[str, Callable[[str, str], float]] = field(default_factory=dict)
    answer: Callable[[str, list[str]], str] = quoting
    threshold: float = 0.5
    rewriting: Callable[[str], str] = lambda question: f"{question} (in other words)"
    words: str = "search words from the model"
    together: int = 0
    """Most calls that were under way at once."""
    seconds: float = 0.0
    """How long each call is held, so that those made together meet."""
    _now: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, asked: Mapping[str, Any]) -> str:
        with self._lock:
            self._now += 1
            self.together = max(self.together, self._now)
        try:
            if self.seconds:
                threading.Event().wait(self.seconds)
            return self._reply(stage(asked), user_of(asked))
        finally:
            with self._lock:
                self._now -= 1

    def _reply(self, name: str, user: str) -> str:
        match name:
            case "relevance" | "reflection" | "critic":
                score = self.by_stage.get(name, self.score)
                question = re.search(r"<query>(.*?)</query>", user, re.DOTALL)[1]  # type: ignore[index]
                return json.dumps({"scores": [score(question, text) for text in blocks("chunk", user)]})
            case "verify":
                return verdicts(*[(second_reader.NOT_STATED, "")] * (len(blocks("sentence", user)) - len(READ_RIGHTLY)))
            case "grades":
                question = re.search(r"<query>(.*?)</query>", user, re.DOTALL)[1]  # type: ignore[index]
                texts = enumerate(blocks("chunk", user), start=1)
                return json.dumps({str(at): round(3 * self.score(question, text)) for at, text in texts})
            case "threshold":
                return json.dumps({"scores": [self.threshold]})
            case "rewrite":
                return json.dumps({"query": self.rewriting(user.removeprefix("Question: "))})
            case "words":
                return json.dumps({"words": self.words})
            case "answer":
                return self.answer(user.rpartition("Question: ")[2], blocks("evidence", user))
            case "summary":
                return user.partition("<passage>\n")[2][:200]
            case _:
                return "Nobody knows."


@contextmanager
def holding(folder: Path, texts: Mapping[str, str], recipe: str | Sequence[str] = "corrective") -> Iterator[Collection]:
    """A collection of texts by their names."""
    files = [folder / (name if "." in name else f"{name}.txt") for name in texts]
    for file, text in zip(files, texts.values(), strict=True):
        file.write_text(text, encoding="utf-8")
    with thresher.open(folder / "home") as collection:
        collection.add(*files, recipe=recipe)
        yield collection


def using(server: ScriptedServer, **more: Any) -> dict[str, Any]:
    """Settings that use the server's model; others beside it as keywords, dots as double underscores."""
    given = {key.replace("__", "."): value for key, value in more.items()}
    return {"llm.base_url": server.base_url, "llm.model": "scripted", **given}


def stages(server: ScriptedServer) -> list[str]:
    """What the server was asked for, in order, but for log-probabilities, which it refuses."""
    return [name for request in server.asked() if (name := stage(request.body)) != "likelihood"]
