"""Evidence made by hand, and readers that read as a script says."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from thresher.answering.answerer import Answerer
from thresher.answering.second_reader import CONTROLS
from thresher.answering.sentences import SentenceFinder
from thresher.answering.spans import Confidence, Row, SpanFinder
from thresher.testing.fakes import OverlapCrossEncoder
from thresher.text.terms import index_terms, rarity_from
from thresher.types import COSINE, Chunk, Document, Evidence, Hit, Reading, Score


def piece(text: str, *, title: str = "Notes", document: str = "d1", start: int = 0) -> Evidence:
    chunk = Chunk(f"c-{document}-{start}", document, f"{document}.txt", title, start, start + len(text), text)
    return Evidence(Hit(chunk, Score(0.5, COSINE), 1), start, start + len(text), text)


def document(text: str, name: str = "d1", **given: object) -> Document:
    return Document(name, f"{name}.txt", "Notes", text, "text", **given)  # type: ignore[arg-type]


READ_RIGHTLY = tuple(CONTROLS.values())


def verdicts(*each: tuple[str, str], controls: Sequence[str] = READ_RIGHTLY) -> str:
    """A second reader's reply: verdict and words of each sentence, and what it says of the controls."""
    every = [*each, *((verdict, "") for verdict in controls)]
    fields: dict[str, str] = {}
    for at, (verdict, words) in enumerate(every, start=1):
        fields |= {f"verdict_{at}": verdict, f"words_{at}": words}
    return json.dumps(fields)


def rarity(question: str) -> Mapping[str, float]:
    """All terms are equally rare."""
    return rarity_from(dict.fromkeys(index_terms(question), 1), 10)


class Overlapping:
    """As relevant as texts share words with the question; the answer is what the script says, if it is there."""

    name = "overlapping"

    def __init__(self, *answers: str, certainty: float = 0.1) -> None:
        self._answers, self._certainty = answers, certainty

    def read(self, question: str, texts: Sequence[str], titles: Sequence[str] | None = None) -> list[Reading]:
        scores = OverlapCrossEncoder()(question, texts)
        found = []
        for score, text in zip(scores, texts, strict=True):
            answer = next((one for one in self._answers if one in text), "")
            at = text.find(answer) if answer else 0
            end = at + len(answer) if answer else len(text)
            found.append(Reading(10 * score.value - 2, 0.0, at, end, self._certainty if answer else 0.01))
        return found


CONFIDENCE = Confidence(
    sentence=Row(0.0, 1000, 500, {"least": 1.0, "held": 0.5}),
    answer=Row(0.0, 1000, 500, {"least": 1.0}),
    span=Row(4.0, 1000, 500, {"place": 2.0}),
    cell=Row(2.0, 1000, 800),
)


def answerer(
    *documents: Document,
    reader: Overlapping | None = None,
    abstain: float = 0.0,
    hedge: float = 0.0,
    rivals: bool = False,
) -> Answerer:
    read = reader or Overlapping()
    spans = SpanFinder(read, rarity, CONFIDENCE.span)
    known = {one.id: one for one in documents}
    sentences = SentenceFinder(read, CONFIDENCE.sentence)
    return Answerer(
        spans, sentences, read, lambda ids: {i: known[i] for i in ids if i in known}, CONFIDENCE, abstain, hedge, rivals
    )
