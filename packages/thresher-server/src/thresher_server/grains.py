"""The state of every chunk of a question so far, sent with each step that touches some."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from thresher.file_names import file_name
from thresher.judging.kdm import ABSOLUTE
from thresher.links import Links
from thresher.types import PROBABILITY, Correction, Decision, Judged, Judgement, Refined, Score, Step

COMPARED = ABSOLUTE
"""The score compared with the bounds where a hit has it, instead of the judge's own."""


class Grains:
    """The state of each chunk so far, in the order of retrieval."""

    def __init__(self, public_url: str, collection: str, other: str = "") -> None:
        self._links = Links(public_url, collection, other)
        self._chunks: dict[str, dict[str, Any]] = {}

    def after(self, step: Step) -> dict[str, Any]:
        """`chunks` after a step that touched some, with `thresholds` after `decide`; empty for other steps."""
        match step.value:
            case Judged() | Refined() | Correction():
                self._judged(step.value.judgements, step.name)
                return {"chunks": self.now}
            case Decision():
                self._decided(step)
                return {"chunks": self.now, "thresholds": _thresholds(step)}
        return {}

    @property
    def now(self) -> list[dict[str, Any]]:
        """The state of every chunk."""
        return [dict(chunk) for chunk in self._chunks.values()]

    def _judged(self, judgements: Iterable[Judgement], slot: str) -> None:
        for judgement in judgements:
            told = self._chunks.setdefault(judgement.hit.chunk.id, self._placed(judgement))
            told["kept"] = judgement.keep
            told["reason"] = judgement.reason or told["reason"]
            score = judgement.hit.scores.get(COMPARED) or judgement.score
            if slot != "refine" and score is not None:
                told |= {**_scored(score), "judged": slot in ("judge", "correct")}

    def _decided(self, step: Step) -> None:
        """Mark what the verdict drops, as `thresher.pipeline.select` does."""
        if step.detail.get("verdict") != "incorrect":
            return
        for chunk in self._chunks.values():
            if chunk["kept"]:
                chunk |= {"kept": False, "reason": "the verdict is incorrect"}

    def _placed(self, judgement: Judgement) -> dict[str, Any]:
        hit = judgement.hit
        chunk = hit.chunk
        return {
            "id": chunk.id,
            "label": chunk.label,
            "source": file_name(chunk.source),
            "title": chunk.title,
            "page": chunk.page,
            "start": chunk.start,
            "end": chunk.end,
            "url": self._links.hit(hit).url,
            "origin": str(hit.origin),
            **_scored(hit.score),
            "probability": None,
            "kept": judgement.keep,
            "reason": judgement.reason,
        }


def _scored(score: Score) -> dict[str, Any]:
    told: dict[str, Any] = {"score": score.value, "scale": str(score.scale)}
    return {**told, "probability": score.value} if score.scale == PROBABILITY else told


def _thresholds(step: Step) -> dict[str, float] | None:
    lower, upper = step.detail.get("lower"), step.detail.get("upper")
    return None if lower is None or upper is None else {"lower": float(lower), "upper": float(upper)}
