"""The places of the evidence where an answer may stand, read by the trained model and weighed by what else is known.

The reader's own opinion is one sign of several. It was taught on passages that are mostly about the question's subject;
documents that are alike but for a name, a year or a condition need the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import log

from thresher.generation.candidates import Signs
from thresher.generation.sentence_support import Sentence, sentence_around
from thresher.generation.windows import HOW_MANY, Window, counted, windows_of
from thresher.protocols import PairReader
from thresher.questions.intent import read_intent
from thresher.questions.kinds import Kind
from thresher.text.answer_types import is_of_type
from thresher.text.boilerplate import is_item_number, is_place_number, says_nothing
from thresher.text.entities import are_names, lacking
from thresher.text.numbers import UNITS
from thresher.text.sentences import sentence_spans
from thresher.text.terms import term_set
from thresher.types import PROBABILITY, Evidence, Reading, Score
from thresher.verification.agreement import disagreement, unnamed
from thresher.verification.contradiction import ARTICLES
from thresher.verification.rivals import Said

WORD = re.compile(r"\w+")

LEAST = 1e-4
"""A probability below it is taken for it, so that its logarithm is bounded."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an answer stands in a piece of evidence; offsets are in the piece."""

    piece: Evidence
    start: int
    end: int
    signs: Signs
    certainty: float
    """Probability that it answers the question."""
    known: str = ""
    """The text that was read with it, and what stands above that."""
    other: str = ""
    """The other condition, time or thing that its sentence speaks of; empty for none."""
    window: Window = field(default_factory=lambda: Window(0), repr=False)
    """What was read at once."""

    @property
    def text(self) -> str:
        """The answer, on one line."""
        return " ".join(self.piece.text[self.start : self.end].split())

    @property
    def sentence(self) -> Sentence:
        """The sentence that it stands in."""
        return sentence_around(self.piece, self.start, self.end, Score(self.certainty, PROBABILITY))

    @property
    def said(self) -> Said:
        """The answer in its sentence, to be held against another one."""
        sentence, title = self.sentence, self.piece.hit.chunk.title
        start = self.piece.start + self.start - sentence.start
        return Said(sentence.text, start, start + self.end - self.start, title, self.known)

    @property
    def document(self) -> str:
        """The id of its document."""
        return self.piece.hit.chunk.document_id

    @property
    def at(self) -> tuple[str, int]:
        """The place in its document: windows overlap, and a place counts once."""
        return self.document, self.piece.start + self.start


@dataclass(frozen=True, slots=True)
class Places:
    """What was read in the evidence of a question."""

    found: tuple[Place, ...] = ()
    """The best place of every window, each once; those of another time or thing are among them."""
    answers: tuple[Place, ...] = ()
    """The best place of each answer, what the places agree on most first."""
    unnamed: str = ""
    """The code or number of the question that no document names, where nothing was read for it."""

    @property
    def agreeing(self) -> list[Place]:
        """The places that speak of no other time or thing."""
        return [place for place in self.found if not place.other]


@dataclass(frozen=True, slots=True)
class PlaceFinder:
    """Reads the evidence window by window together with the question, the best pieces first.

    Places that say the same are counted together (Karpukhin et al. 2020 take the best passage's best span alone; adding
    up what agrees was better on the questions for choosing, research/reader).
    """

    reader: PairReader
    rarity: Callable[[str], Mapping[str, float]]
    """Weight of each term of a question."""
    certainty: Callable[[Signs], float]
    """Probability that a place answers, of what is known of it."""
    max_windows: int

    def __call__(self, question: str, evidence: Sequence[Evidence]) -> Places:
        """The places of the pieces whose documents name what the question names."""
        evidence, name = _naming(question, evidence)
        found = self.places(question, evidence)
        agreeing = [place for place in found if not place.other]
        return Places(tuple(found), tuple(self.answers(question, agreeing)), name)

    def places(self, question: str, evidence: Sequence[Evidence]) -> list[Place]:
        """The best place of every window that is read, each once.

        Where that is in a heading, or in a sentence of another time or thing, the window is read without it too.
        """
        windows = windows_of(evidence)[: self.max_windows]
        read = self._read(question, windows)
        again = [
            replace(window, text=_without(window.text, window.answer(reading)))
            for window, reading, place in read
            if says_nothing(place.sentence.text) or place.other
        ]
        places: dict[tuple[str, int], Place] = {}
        for _, _, place in [*read, *(self._read(question, again) if again else ())]:
            known = places.get(place.at)
            if known is None or known.certainty < place.certainty:
                places[place.at] = place
        return list(places.values())

    def _read(self, question: str, windows: Sequence[Window]) -> list[tuple[Window, Reading, Place]]:
        """What is read in each window, and the place of the answer."""
        above = [window.above for window in windows]
        readings = self.reader.read(question, [window.text for window in windows], above)
        rarity = self.rarity(question)
        read = []
        for window, title, reading in zip(windows, above, readings, strict=True):
            start, end = counted(question, window.text, *window.answer(reading))
            signs = signs_of(question, window.text, title, (start, end), reading, rarity)
            signs = replace(signs, judged=judged(window.piece_at(start, end)[0]))
            known = f"{title}. {window.text}"
            place = Place(*window.piece_at(start, end), signs, self.certainty(signs), known, window=window)
            other = disagreement(question, place.sentence.text, place.text, place.piece.hit.chunk.title)
            read.append((window, reading, replace(place, other=other)))
        return read

    def answers(self, question: str, places: Sequence[Place]) -> list[Place]:
        """The best place of each answer, what the places agree on most first.

        The question's own words are none, nor what holds no number where one is asked for, one of another unit, or that
        of a heading or a table, nor names where it is asked who somebody is.
        """
        intent = read_intent(question)
        is_described = intent.kind is Kind.EXPLANATION and intent.wants == "person"
        asked, counts = set(_words(question)) | ARTICLES, HOW_MANY.search(question)
        wanted = _units(counts["unit"] or "") if counts else set()
        figure = counts or intent.wants_figure
        answers: dict[str, list[Place]] = {}
        for place in places:
            number_is_missing = figure and is_of_type(place.text, "number") is False
            another_unit = wanted and (units := _units(place.text)) and not wanted & units
            numbers_a_place = figure and is_place_number(place.piece.text, place.start, place.end)
            numbers_an_item = is_item_number(place.piece.text, place.start, place.end)
            wrong = number_is_missing or another_unit or numbers_a_place or numbers_an_item
            wrong = wrong or (is_described and are_names(place.text))
            if not wrong and not asked.issuperset(words := _words(place.text)):
                answers.setdefault(" ".join(words), []).append(place)
        agreed = sorted(answers.values(), key=lambda same: -sum(place.certainty for place in same))
        return [max(same, key=lambda place: place.certainty) for same in agreed]


def signs_of(
    question: str, text: str, above: str, place: tuple[int, int], reading: Reading, rarity: Mapping[str, float]
) -> Signs:
    """What is known of the answer at a place of a text; `above` is its title and heading, `rarity` weighs each term."""
    start, end = place
    touched = [span for span in sentence_spans(text) if span[0] < max(end, start + 1) and span[1] > start]
    sentence = text[touched[0][0] : touched[-1][1]] if touched else text
    return Signs(
        relevance=reading.relevance,
        place=log(max(reading.certainty, LEAST)),
        terms=share_of_terms(rarity, question, f"{above} {text}"),
        sentence=share_of_terms(rarity, question, f"{above} {sentence}"),
        uncovered=float(min(3, len(lacking(question, f"{above}. {text}")))),
    )


def judged(piece: Evidence) -> float | None:
    """The probability that the judge gave the chunk of a piece; None where its scores are none."""
    return next((score.value for score in piece.hit.scores.values() if score.scale is PROBABILITY), None)


def share_of_terms(rarity: Mapping[str, float], question: str, text: str) -> float:
    """Of the question's terms those that the text has, also where it runs two of them together: BERTBASE."""
    present, total = term_set(text), sum(rarity.values())
    held = set(rarity) & present
    for one, other in pairwise(WORD.findall(question)):
        if not term_set(one + other).isdisjoint(present):
            held |= term_set(f"{one} {other}") & set(rarity)
    return sum(rarity[term] for term in held) / total if total else 0.0


def _naming(question: str, evidence: Sequence[Evidence]) -> tuple[Sequence[Evidence], str]:
    """The pieces of documents that name every code and number of the question, and what the others do not name."""
    known: dict[str, str] = {}
    for piece in evidence:
        document = piece.hit.chunk.document_id
        known[document] = f"{known.get(document, piece.hit.chunk.title)}\n{piece.text}"
    lacking = {document: name for document, text in known.items() if (name := unnamed(question, text))}
    left = [piece for piece in evidence if piece.hit.chunk.document_id not in lacking]
    return left, "" if left else next(iter(lacking.values()), "")


def _without(text: str, place: tuple[int, int]) -> str:
    """A text with the sentence of a place left blank, so that offsets stay."""
    start, end = place
    for low, high in sentence_spans(text):
        if low < max(end, start + 1) and high > start:
            text = text[:low] + " " * (high - low) + text[high:]
    return text


def _units(text: str) -> set[str]:
    """The units that a text names."""
    forms = (form for word in _words(text) for form in (word, word.removesuffix("s")))
    return {UNITS[form] for form in forms if form in UNITS}


def _words(text: str) -> list[str]:
    return WORD.findall(text.casefold())
