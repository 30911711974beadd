"""The reader that needs no chat model: it answers with the words that answer, and shows the sentence they stand in.

Every piece of evidence is read together with the question. Places that say the same in other pieces are counted
together (Karpukhin et al. 2020 take the best passage's best span alone; adding up what agrees was better on the
questions for choosing, benchmarks/reader.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from thresher.generation.commands import is_command
from thresher.generation.extractive import NO_EVIDENCE, abstention, cite
from thresher.generation.support import Spans, sentence_around
from thresher.protocols import Generator, PairReader
from thresher.types import PROBABILITY, Draft, Evidence, Query, Reading, Score

WINDOW_WORDS = 90
"""Longer pieces are read by whole sentences of about so many words together. SQuAD's tuning questions: F1 0.52 by three
sentences and 0.45 by paragraphs; PopQA's long tail: 0.54 by 90 words and 0.52 by three sentences."""

GAP = 1_000
"""Characters between two sentences that are read together; what lies between them was dropped."""

EDGES = " \t\n.,;:!?\"'“”‘’()[]"
"""Around an answer; inside one they belong to it."""

WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an answer stands in a piece of evidence; offsets are in the piece."""

    piece: Evidence
    start: int
    end: int
    relevance: float
    """Probability that the piece answers the question."""
    certainty: float
    """Of this place among all places of the piece."""

    @property
    def text(self) -> str:
        """The answer, on one line."""
        return " ".join(self.piece.text[self.start : self.end].split())

    @property
    def worth(self) -> float:
        """Both together."""
        return self.relevance * self.certainty


@dataclass(slots=True)
class Window:
    """What is read at once: sentences of a document as far apart as they stand there, so that offsets agree."""

    start: int
    """Of the text, in the document."""
    text: str = ""
    parts: list[tuple[int, Evidence]] = field(default_factory=list)
    """Where each sentence begins in the text, and the piece it is from."""

    @property
    def title(self) -> str:
        """Of the document."""
        return self.parts[0][1].hit.chunk.title

    def add(self, piece: Evidence, begin: int, sentence: str) -> None:
        """A sentence that begins at that place of the document."""
        at = begin - self.start
        self.text = self.text.ljust(at) + sentence
        self.parts.append((at, piece))

    def place(self, reading: Reading) -> Place:
        """The place that was read, in the piece it begins in, without marks that are no part of an answer."""
        text = self.text[reading.start : reading.end]
        start = reading.start + len(text) - len(text.lstrip(EDGES))
        piece = next(piece for at, piece in reversed(self.parts) if at <= start)
        first = self.start + start - piece.start
        last = self.start + reading.end - (len(text) - len(text.rstrip(EDGES))) - piece.start
        last = max(first, min(last, len(piece.text)))
        return Place(piece, first, last, reading.probability, reading.certainty)


@dataclass(frozen=True, slots=True)
class SpanReader:
    """Answers with the best place of the evidence; abstains when nothing answers the question.

    Where the best place is uncertain, which is what questions look like whose answer is no name, number or phrase, the
    answer is what `quote` makes of the pieces that answer.
    """

    reader: PairReader
    spans: Spans
    min_relevance: float
    """Probability that the best piece must have."""
    min_certainty: float
    """Of the best place, below which sentences are quoted instead."""
    quote: Generator

    def __call__(self, query: Query, evidence: Sequence[Evidence]) -> Draft:
        """The answer with a citation of the sentence it stands in."""
        places = self._places(query.question, evidence)
        if not places:
            return abstention(NO_EVIDENCE, {"reader": "spans", "model": self.reader.name})
        best = max(place.relevance for place in places)
        detail = {"reader": "spans", "model": self.reader.name, "relevance": best, "min_relevance": self.min_relevance}
        if best < self.min_relevance:
            return abstention(
                f"The best passage answers the question with a probability of {best:.2f}, "
                f"and {self.min_relevance:.2f} is asked for.",
                detail,
            )
        chosen = self._chosen(query.question, places)
        if chosen is None or chosen.certainty < self.min_certainty:
            answering = [place.piece for place in places if place.relevance >= self.min_relevance]
            quoted = self.quote(query, answering)
            return Draft(quoted.text, quoted.citations, quoted.abstained, quoted.reason, {**detail, **quoted.detail})
        score = Score(chosen.relevance, PROBABILITY)
        sentence = sentence_around(chosen.piece, chosen.start, chosen.end, self.spans, score)
        return Draft(f"{chosen.text} [1]", (cite(1, sentence),), detail={**detail, "certainty": chosen.certainty})

    def _places(self, question: str, evidence: Sequence[Evidence]) -> list[Place]:
        windows = self._windows(evidence)
        titles = [window.title for window in windows]
        readings = self.reader.read(
            question,
            [window.text for window in windows],
            ["" if is_command(title) else title for title in titles],
        )
        return [window.place(reading) for window, reading in zip(windows, readings, strict=True)]

    def _windows(self, evidence: Sequence[Evidence]) -> list[Window]:
        """Sentences that follow each other in a document, whichever pieces they are from, so many words at once.

        "It must be replaced after 4,000 hours" says what only with the sentence before it. What orders the reader
        about is left out.
        """
        windows: list[Window] = []
        words, last, behind = 0, "", -1
        for piece in sorted(evidence, key=lambda piece: (piece.hit.chunk.document_id, piece.start)):
            for start, end in self.spans(piece.text):
                sentence = piece.text[start:end]
                begin, document = piece.start + start, piece.hit.chunk.document_id
                if is_command(sentence):
                    continue
                follows = document == last and 0 <= begin - behind <= GAP and words < WINDOW_WORDS
                if not follows:
                    windows.append(Window(begin))
                    words = 0
                windows[-1].add(piece, begin, sentence)
                words += len(sentence.split())
                last, behind = document, piece.start + end
        return windows

    def _chosen(self, question: str, places: Sequence[Place]) -> Place | None:
        """The best place of the answer that the pieces agree on most; None where nothing but the question is said."""
        asked = set(_words(question))
        sums: dict[str, float] = {}
        for place in places:
            if not asked.issuperset(_words(place.text)):
                key = " ".join(_words(place.text))
                sums[key] = sums.get(key, 0.0) + place.worth
        if not sums:
            return None
        answer = max(sums, key=lambda key: sums[key])
        return max((place for place in places if " ".join(_words(place.text)) == answer), key=lambda one: one.worth)


def _words(text: str) -> list[str]:
    return WORD.findall(text.casefold())
