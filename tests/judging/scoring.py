"""A chat model that scores the chunks it is shown, and scorers that give what they are told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from thresher.testing.fakes import ScriptedModel
from thresher.types import NO_NOTES, UNIT, Hit, Notes, Query, Scale, Score, Scores

CHUNK = re.compile(r'<chunk number="\d+">\n(.*?)\n</chunk>', re.DOTALL)
TEXT = re.compile(r"<text>(.*?)</text>", re.DOTALL)

ASKED = Query(question="Who built the tower?", search="tower builder")


def shown(user: str) -> list[str]:
    """The texts of the chunks in a prompt."""
    return [TEXT.search(chunk)[1] for chunk in CHUNK.findall(user)]  # type: ignore[index]


def scoring(score: Callable[[str], float] = lambda text: 0.5, *, name: str = "scripted") -> ScriptedModel:
    """A model that gives each text the score of a function."""
    return ScriptedModel(lambda system, user: json.dumps({"scores": [score(text) for text in shown(user)]}), name)


def failing(error: Exception) -> ScriptedModel:
    def fail(system: str, user: str) -> str:
        raise error

    return ScriptedModel(fail)


def scores(*values: float | None, scale: Scale = UNIT) -> tuple[Score | None, ...]:
    return tuple(None if value is None else Score(value, scale) for value in values)


def values(scored: Sequence[Score | None]) -> list[float | None]:
    return [None if score is None else score.value for score in scored]


@dataclass
class Given:
    """A scorer whose scores are given by chunk id."""

    by_id: Mapping[str, float | None]
    name: str = "relevance"
    scale: Scale = UNIT
    notes: Notes = NO_NOTES
    failed: tuple[int, ...] | None = None
    asked: list[str] = field(default_factory=list)

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
        self.asked += [hit.chunk.id for hit in hits]
        given = scores(*(self.by_id[hit.chunk.id] for hit in hits), scale=self.scale)
        return Scores(given, self.notes, failed=self.failed)
