"""The baseline of the gate: what the bundled judge alone makes of what `corrective` retrieves. No rule, no table.

Each candidate is read whole and in windows of some eighty words; the mean of both orders. The best window is shown, its
best sentence marked, and the best windows of the next two follow. Nothing here was fitted.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import exp
from typing import Any, NamedTuple

from thresher.collection import Collection
from thresher.models.cross_encoders import BundledJudge
from thresher.parts.chunking import sentence_spans
from thresher.pipeline import keep_all
from thresher.recipes import derive

CANDIDATES, WORDS, SHOWN = 12, 80, 3
WHOLE, WINDOW = 0.25, 0.75
"""Weights of the two readings."""
REFUSED_BELOW, SURE_FROM = 0.0, 3.0  # logits


class Read(NamedTuple):
    """A candidate: the mean logit of its readings as a whole and in its best window, that window, the title."""

    score: float
    window: str
    title: str


def windows(text: str) -> Iterator[str]:
    """Whole sentences of a text, some eighty words together."""
    begin, words = 0, 0
    for start, end in sentence_spans(text):
        more = len(text[start:end].split())
        if words and words + more > WORDS:
            yield text[begin:start]
            begin, words = start, 0
        words += more
    yield text[begin:]


class Plain:
    """The baseline with its recipe and its judge."""

    def __init__(self) -> None:
        self.recipe, self.judge = derive("corrective", judge=keep_all), BundledJudge()

    def __call__(self, collection: Collection, question: str) -> dict[str, Any]:
        """What `benchmarks.quality.asking.outcome` says of an answer."""
        hits = collection.search(question, recipe=self.recipe, limit=CANDIDATES).hits
        read = [_read(self.judge, question, hit.chunk.text, hit.chunk.title) for hit in hits]
        best = max((one.score for one in read), default=REFUSED_BELOW - 1)
        state = "refused" if best < REFUSED_BELOW else "answered" if best >= SURE_FROM else "doubtful"
        shown = sorted(read, key=lambda one: -one.score)[: 0 if state == "refused" else SHOWN]
        return {
            "state": state,
            "abstained": state == "refused",
            "certainty": 1 / (1 + exp(-best)),
            "shown": [_marked(self.judge, question, one) if one is shown[0] else one.window for one in shown],
            "found": [[one.score, hit.chunk.text] for one, hit in zip(read, hits, strict=True)],
        }


def _read(judge: BundledJudge, question: str, text: str, title: str) -> Read:
    parts = [one for one in windows(text) if one.strip()] or [text]
    whole, *others = judge.read(question, [text, *parts], [title] * (1 + len(parts)))
    at = max(range(len(parts)), key=lambda at: others[at].relevance)
    return Read(WHOLE * whole.relevance + WINDOW * others[at].relevance, parts[at].strip(), title)


def _marked(judge: BundledJudge, question: str, best: Read) -> str:
    """The window with its best sentence in bold."""
    text = best.window.replace("**", "")
    spans = [span for span in sentence_spans(text) if text[slice(*span)].strip()]
    read = judge.read(question, [text[slice(*span)] for span in spans], [best.title] * len(spans))
    start, end = max(zip(read, spans, strict=True), key=lambda one: one[0].relevance)[1]
    return f"{text[:start]}**{text[start:end].strip()}**{text[end:]}"
