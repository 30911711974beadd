"""The readers that need no chat model: they answer with words of the evidence, and show the sentence these stand in.

`ChoosingReader` answers questions with options, and hands every other one to `SpanReader`, which answers with the words
that answer; where no place is certain, `ExtractiveReader` quotes sentences.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from thresher.generation.citations import NO_EVIDENCE, abstention, cite, quoted
from thresher.generation.sentence_support import Sentence, SupportJudge, sentence_around
from thresher.protocols import Generator, PairReader, about
from thresher.text.injection import is_command
from thresher.text.sentences import sentence_spans
from thresher.text.terms import term_set
from thresher.types import PROBABILITY, Evidence, Generation, Notes, Query, Reading, Score

# --- sentences --------------------------------------------------------------------------------------------------------


NEAR_BEST = 0.05
"""A further sentence is quoted when its support is this near to the best one's."""


@dataclass(frozen=True, slots=True)
class ExtractiveReader:
    """Quotes at most `max_sentences`; abstains when the best support is below `min_support` (0..1).

    A sentence without a word that the question lacks (a heading, mostly) is near to it and answers nothing.
    """

    support: SupportJudge
    min_support: float
    max_sentences: int = 2
    about: ClassVar[str] = "sentences"

    def __call__(self, query: Query, evidence: Sequence[Evidence]) -> Generation:
        """The quoted sentences with a citation each."""
        question = query.question
        sentences = [
            sentence
            for sentence in self.support(question, evidence)
            if _states(sentence.text, question) and not term_set(sentence.text) <= term_set(question)
        ]
        best = sentences[0].support.value if sentences else 0.0
        notes = Notes(facts={"reader": "extractive", "support": best, "min_support": self.min_support})
        if not sentences:
            return abstention(NO_EVIDENCE, notes)
        if best < self.min_support:
            return abstention(
                f"The best-supported sentence reaches {best:.2f} of 1, and {self.min_support:.2f} is asked for.", notes
            )
        citations = tuple(cite(marker, sentence) for marker, sentence in enumerate(self._chosen(sentences), start=1))
        return Generation(" ".join(map(quoted, citations)), citations, notes=notes)

    def _chosen(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """The best sentence and others nearly as good, none saying what one before it says word for word."""
        chosen: list[Sentence] = []
        for sentence in sentences:
            near = sentence.support.value >= sentences[0].support.value - NEAR_BEST
            if near and not any(_repeats(sentence, other) for other in chosen):
                chosen.append(sentence)
        return chosen[: self.max_sentences]


def _states(text: str, question: str) -> bool:
    """Whether a sentence says anything: one that asks, repeats the question or gives orders to whoever reads it may be
    nearer to the question than any other, and is no answer.
    """
    asks = text.rstrip(" \"'”’)").endswith("?") or _one_line(question).lower() in _one_line(text).lower()
    return not asks and not is_command(text)


def _repeats(one: Sentence, other: Sentence) -> bool:
    same = one.evidence.hit.chunk.document_id == other.evidence.hit.chunk.document_id
    return _one_line(one.text) == _one_line(other.text) or (same and one.start < other.end and other.start < one.end)


def _one_line(text: str) -> str:
    return " ".join(text.split())


# --- the words that answer --------------------------------------------------------------------------------------------


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
        return _one_line(self.piece.text[self.start : self.end])

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

    Every piece of evidence is read together with the question. Places that say the same in other pieces are counted
    together (Karpukhin et al. 2020 take the best passage's best span alone; adding up what agrees was better on the
    questions for choosing, research/reader). Where the best place is uncertain, which is what questions look like whose
    answer is no name, number or phrase, the answer is what `quote` makes of the pieces that answer.
    """

    reader: PairReader
    min_relevance: float
    """Probability that the best piece must have."""
    min_certainty: float
    """Of the best place, below which sentences are quoted instead."""
    quote: Generator
    about: ClassVar[str] = "spans"

    def __call__(self, query: Query, evidence: Sequence[Evidence]) -> Generation:
        """The answer with a citation of the sentence it stands in."""
        notes = Notes(facts={"reader": "spans", "model": self.reader.name})
        places = self._places(query.question, evidence)
        if not places:
            return abstention(NO_EVIDENCE, notes)
        best = max(place.relevance for place in places)
        notes += Notes(facts={"relevance": best, "min_relevance": self.min_relevance})
        if best < self.min_relevance:
            lacking = f"with a probability of {best:.2f}, and {self.min_relevance:.2f} is asked for."
            return abstention(f"The best passage answers the question {lacking}", notes)
        chosen = self._chosen(query.question, places)
        if chosen is None or chosen.certainty < self.min_certainty:
            answering = [place.piece for place in places if place.relevance >= self.min_relevance]
            quoted = self.quote(query, answering)
            return replace(quoted, notes=notes + quoted.notes)
        sentence = sentence_around(chosen.piece, chosen.start, chosen.end, Score(chosen.relevance, PROBABILITY))
        notes += Notes(facts={"certainty": chosen.certainty})
        return Generation(f"{chosen.text} [1]", (cite(1, sentence),), notes=notes)

    def _places(self, question: str, evidence: Sequence[Evidence]) -> list[Place]:
        windows = self._windows(evidence)
        titles = ["" if is_command(window.title) else window.title for window in windows]
        readings = self.reader.read(question, [window.text for window in windows], titles)
        return [window.place(reading) for window, reading in zip(windows, readings, strict=True)]

    def _windows(self, evidence: Sequence[Evidence]) -> list[Window]:
        """Sentences that follow each other in a document, whichever pieces they are from, so many words at once.

        "It must be replaced after 4,000 hours" says what only with the sentence before it. What orders the reader
        about is left out.
        """
        windows: list[Window] = []
        words, last, behind = 0, "", -1
        for piece in sorted(evidence, key=lambda piece: (piece.hit.chunk.document_id, piece.start)):
            for start, end in sentence_spans(piece.text):
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
        answers: dict[str, list[Place]] = {}
        for place in places:
            if not asked.issuperset(words := _words(place.text)):
                answers.setdefault(" ".join(words), []).append(place)
        agreed = max(answers.values(), key=lambda same: sum(place.worth for place in same), default=None)
        return None if agreed is None else max(agreed, key=lambda place: place.worth)


def _words(text: str) -> list[str]:
    return WORD.findall(text.casefold())


# --- questions with options: "(A) ... (B) ...", "A. ... B. ..." or "A: ..." -------------------------------------------


_OPTION = re.compile(r"(?:^|[\s;,])\(?([A-H])[).:](?=\s)")


@dataclass(frozen=True, slots=True)
class Choice:
    """A question with options, as they were lettered."""

    stem: str
    options: tuple[tuple[str, str], ...]
    """Letter and text, at least two."""


def choice_of(question: str) -> Choice | None:
    """The options of a question: letters that follow each other from A on, each with a text behind it."""
    found: list[re.Match[str]] = []
    for match in _OPTION.finditer(question):
        if match[1] == "ABCDEFGH"[len(found)]:
            found.append(match)
        if len(found) == len("ABCDEFGH"):
            break
    if len(found) < 2:
        return None
    ends = [*(match.start() for match in found[1:]), len(question)]
    options = tuple(
        (match[1], question[match.end() : end].strip(" ;,\n")) for match, end in zip(found, ends, strict=True)
    )
    stem = question[: found[0].start()].strip()
    return Choice(stem, options) if stem and all(text for _, text in options) else None


@dataclass(frozen=True, slots=True)
class ChoosingReader:
    """Answers questions with options by the trained judge, and hands every other question on.

    The option is chosen whose question and text together are answered best by any piece, the first of equals. A claim
    is handed on: the head that tells support from denial is no better than the more frequent label
    (`research/reader labels`), and a wrong "True" is worse than a sentence to read.
    """

    reader: PairReader
    min_relevance: float
    """Probability that the best piece must have to be read at all, 0 to 1."""
    otherwise: Generator

    @property
    def about(self) -> str:
        """What every other question is answered by."""
        return about(self.otherwise)

    def __call__(self, query: Query, evidence: Sequence[Evidence]) -> Generation:
        """The option with its letter, with a citation of the sentence that decided."""
        task = choice_of(query.question)
        if task is None:
            return self.otherwise(query, evidence)
        notes = Notes(facts={"reader": "choice"})
        stating = [piece for piece in evidence if not is_command(piece.text)]
        if not stating:
            return abstention(NO_EVIDENCE, notes)
        best = [self._best(f"{task.stem} {text}", stating) for _, text in task.options]
        at = max(range(len(best)), key=lambda number: (best[number][1].relevance, -number))
        (letter, text), (piece, reading) = task.options[at], best[at]
        probability = reading.probability
        letters = [letter for letter, _ in task.options]
        options = dict(zip(letters, (round(found.relevance, 3) for _, found in best), strict=True))
        notes += Notes(facts={"options": options, "relevance": probability, "min_relevance": self.min_relevance})
        if probability < self.min_relevance:
            lacking = f"with a probability of {probability:.2f}, and {self.min_relevance:.2f} is asked for."
            return abstention(f"The best passage speaks of it {lacking}", notes)
        sentence = sentence_around(piece, reading.start, reading.end, Score(probability, PROBABILITY))
        return Generation(f"({letter}) {text} [1]", (cite(1, sentence),), notes=notes)

    def _best(self, question: str, evidence: Sequence[Evidence]) -> tuple[Evidence, Reading]:
        titles = [piece.hit.chunk.title for piece in evidence]
        readings = self.reader.read(question, [piece.text for piece in evidence], titles)
        return max(zip(evidence, readings, strict=True), key=lambda pair: pair[1].relevance)
