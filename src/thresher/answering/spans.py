"""The spans of the kept text that may be the answer, one of each window, and how probable it is that they are right."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import pairwise
from math import log, sqrt
from pathlib import Path

from thresher.answering.citations import Sentence, sentence_around
from thresher.protocols import PairReader
from thresher.text.boilerplate import HEADING_CHARACTERS
from thresher.text.entities import lacking
from thresher.text.injection import is_command
from thresher.text.numbers import SCALES, UNITS
from thresher.text.sentences import sentence_spans, touched
from thresher.text.terms import term_set
from thresher.types import PROBABILITY, Evidence, Reading, Score, logistic
from thresher.verification.conflicts import AnswerInSentence

WORD = re.compile(r"\w+")

MAX_WINDOWS = 8
"""Windows of about 90 words that are read, best chunks first: what reading them takes grows with their number."""

LEAST_PROBABILITY = 1e-4
"""A probability below it is taken for it, so that its logarithm is bounded."""


# --- how probable a proposal is ---------------------------------------------------------------------------------------

TABLE = Path(__file__).parents[1] / "models" / "weights" / "certainty.json"
"""The table that comes with Thresher, written by `research/answer_certainty.py`."""

ENOUGH_ROWS = 100
"""Observations from which a row counts as it was fitted; of fewer the lower bound of its interval counts at most."""

Z95 = 1.959964
"""Of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What is known of a proposal; None for what does not apply to it."""

    relevance: float | None = None
    """Logit that the window around it answers the question."""
    whole: float | None = None
    """Logit of the judge that the passage, as it is shown, answers the question."""
    place: float | None = None
    """Logarithm of the probability of the span among all spans of its window."""
    terms: float | None = None
    """Share of the question's terms, weighted by rarity, that the text or what stands above it holds, 0 to 1."""
    sentence: float | None = None
    """The same of the sentence of the span."""
    uncovered: float | None = None
    """Names and numbers of the question that stand neither in the text nor above it, 3 at most."""

    def to_dict(self) -> dict[str, float]:
        """The signs that apply, by name, rounded for people."""
        values = ((one.name, getattr(self, one.name)) for one in fields(self))
        return {name: round(value, 3) for name, value in values if value is not None}


@dataclass(frozen=True, slots=True)
class Row:
    """A logistic regression over signs."""

    intercept: float
    n: int
    """Proposals that were read to fit it."""
    right: int
    """Of them, those that were right."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """By the name of the sign; a sign that does not apply counts 0."""

    def probability(self, signs: Signs) -> float:
        """That a proposal is right, 0 to 1."""
        values = ((weight, getattr(signs, name)) for name, weight in self.weights.items())
        fitted = logistic(self.intercept + sum(weight * value for weight, value in values if value is not None))
        return fitted if self.n >= ENOUGH_ROWS else min(fitted, self.lower_bound)

    @property
    def lower_bound(self) -> float:
        """Of Wilson's 95 % interval for the share that is right (Wilson 1927)."""
        if not self.n:
            return 0.0
        share, z = self.right / self.n, Z95
        middle = share + z * z / (2 * self.n)
        spread = z * sqrt(share * (1 - share) / self.n + z * z / (4 * self.n * self.n))
        return max(0.0, (middle - spread) / (1 + z * z / self.n))


@dataclass(frozen=True, slots=True)
class Confidence:
    """Probabilities that a passage holds the answer, that a span is the answer, and that a cell is."""

    passage: Row
    span: Row
    cell: Row

    @classmethod
    def load(cls, path: Path = TABLE) -> Confidence:
        """The fitted table of a file."""
        rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
        keys = [one.name for one in fields(Row)]
        return cls(**{one.name: Row(**{key: rows[one.name][key] for key in keys}) for one in fields(cls)})


# --- windows ----------------------------------------------------------------------------------------------------------

WINDOW_WORDS = 90
"""Longer pieces are read by whole sentences of about so many words together. SQuAD's tuning questions: F1 0.52 by three
sentences and 0.45 by paragraphs; PopQA's long tail: 0.54 by 90 words and 0.52 by three sentences."""

GAP_CHARACTERS = 1_000
"""Characters between two sentences that are read together; what lies between them was dropped."""

EDGES = " \t\n.,;:!?\"'“”‘’()[]"
"""Around an answer; inside one they belong to it."""

_UNBROKEN = re.compile(
    r"(?<!\w)(?!(?:The|An?|In|On|At|For|By|From|With|Our|We|It|This|That|As|To|And|But|When|If)\b)"
    r"[A-Z][a-zà-ÿ'’-]+(?: (?:(?:de|van|von|der|la) )?[A-Z][a-zà-ÿ'’-]+){1,3}(?!\w)"
    r"|\d[\d.,]*\d|[^\W_]+"
)
"""What an answer holds whole or not at all."""

LONGEST_NAME = 40
"""Characters on either side in which the rest of a number or a name is looked for."""

_DIGITS = re.compile(r"(?<![\w.,])\d[\d.,]*")
_BEHIND_NUMBER = re.compile(r"[ \u00a0]?(%|°[CF]?|[^\W\d_]+)")


@dataclass(slots=True)
class Window:
    """Sentences that are read at once, as far apart as in their document, so that offsets agree."""

    start: int
    """Of the text, in the document."""
    text: str = ""
    heading: str = ""
    parts: list[tuple[int, Evidence]] = field(default_factory=list)
    """Where each sentence begins in the text, and the piece it is from."""

    @property
    def above(self) -> str:
        """What stands above it: the title of its document and the heading of its section."""
        lines = [self.parts[0][1].hit.chunk.title, self.heading]
        return ". ".join(line for line in dict.fromkeys(lines) if line and not is_command(line))

    def add(self, piece: Evidence, begin: int, sentence: str) -> None:
        """A sentence that begins at that place of the document."""
        at = begin - self.start
        gap = at - len(self.text)
        self.text += (" " if gap == 1 else "\n" * gap) + sentence
        self.parts.append((at, piece))

    def answer(self, reading: Reading) -> tuple[int, int]:
        """Where the answer stands in the text: no marks around it, numbers and names whole, a number with its unit."""
        text = self.text[reading.start : reading.end]
        start = reading.start + len(text) - len(text.lstrip(EDGES))
        end = max(start, reading.end - (len(text) - len(text.rstrip(EDGES))))
        start, end = _whole(self.text, start, end)
        return start, _with_unit(self.text, start, end)

    def piece_at(self, start: int, end: int) -> tuple[Evidence, int, int]:
        """The piece that a place of the text begins in, and where in it the place stands."""
        piece = next(piece for at, piece in reversed(self.parts) if at <= start)
        first, last = self.start + start - piece.start, self.start + end - piece.start
        return piece, first, max(first, min(last, len(piece.text)))


def windows_of(evidence: Sequence[Evidence]) -> list[Window]:
    """Neighbouring sentences of a document in windows of `WINDOW_WORDS`, best documents first; orders are left out.

    "It must be replaced after 4,000 hours" needs its antecedent: a window begins with the last sentence of another.
    """
    first: dict[str, int] = {}
    for at, piece in enumerate(evidence):
        first.setdefault(piece.hit.chunk.id, at)
    ranked: list[tuple[int, Window]] = []
    words, last, behind, before = 0, "", -1, None
    for piece in sorted(evidence, key=lambda piece: (piece.hit.chunk.document_id, piece.start)):
        for start, end in sentence_spans(piece.text):
            sentence = piece.text[start:end]
            begin, document = piece.start + start, piece.hit.chunk.document_id
            if is_command(sentence):
                continue
            near = document == last and 0 <= begin - behind <= GAP_CHARACTERS
            if not near or words >= WINDOW_WORDS:
                window = Window(begin, heading=_heading(piece.text, start))
                ranked.append((first[piece.hit.chunk.id], window))
                words = 0
                if near and before is not None and len(before[2].split()) <= WINDOW_WORDS // 2:
                    window.start = before[1]
                    window.add(*before)
            ranked[-1][1].add(piece, begin, sentence)
            words += len(sentence.split())
            last, behind, before = document, piece.start + end, (piece, begin, sentence)
    return [window for _, window in sorted(ranked, key=lambda one: one[0])]


def _heading(text: str, at: int) -> str:
    """The last line before a place of a text that looks like a heading."""
    for line in reversed(text[:at].splitlines()):
        bare = line.strip(" #*_")
        if bare and len(bare) <= HEADING_CHARACTERS and bare[-1] not in ".,;:!?|" and bare[0].isalnum():
            return bare
    return ""


def _whole(text: str, start: int, end: int) -> tuple[int, int]:
    """A place that ends within a number, a word or a name, to its end: 0.1 for 0, Mirela Stanciu for Stanciu."""
    for unit in _UNBROKEN.finditer(text, max(0, start - LONGEST_NAME), min(len(text), end + LONGEST_NAME)):
        touches = unit.start() < end and start < unit.end()
        name = unit[0][0].isupper() and " " in unit[0]
        if touches and (not name or (unit.start() <= start and end <= unit.end())):
            start, end = min(start, unit.start()), max(end, unit.end())
    return start, end


def _with_unit(text: str, start: int, end: int) -> int:
    """The end of a place with the scale and the unit behind its number: 17.9 million euros."""
    if not text[start:end] or not text[end - 1].isdigit():
        return end
    units = UNITS.keys() | SCALES.keys()
    while (word := _BEHIND_NUMBER.match(text, end)) and units & {word[1].lower(), word[1].lower().removesuffix("s")}:
        end = word.end()
    return end


# --- spans ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """A span of the evidence with the window it was read in; offsets are in the document."""

    window: Window
    piece: Evidence
    start: int
    end: int
    signs: Signs
    certainty: float
    """Probability that the span is the answer."""

    @property
    def document_id(self) -> str:
        """Of its document."""
        return self.piece.hit.chunk.document_id

    @property
    def words(self) -> str:
        """The span on one line."""
        return " ".join(self.piece.text[self.start - self.piece.start : self.end - self.piece.start].split())

    @property
    def sentence(self) -> Sentence:
        """The sentence, or row of a table, that it stands in."""
        first, last = self.start - self.piece.start, self.end - self.piece.start
        return sentence_around(self.piece, first, last, Score(self.certainty, PROBABILITY))

    @property
    def in_sentence(self) -> AnswerInSentence:
        """The span in its sentence, for the comparison with another one."""
        sentence = self.sentence
        start = self.start - sentence.start
        known = f"{self.window.above}. {self.window.text}"
        return AnswerInSentence(sentence.text, start, start + self.end - self.start, self.piece.hit.chunk.title, known)


@dataclass(frozen=True, slots=True)
class SpanFinder:
    """Reads the evidence window by window together with the question, the best pieces first."""

    reader: PairReader
    rarity: Callable[[str], Mapping[str, float]]
    """Weight of each term of a question."""
    row: Row
    """How probable it is that a span is the answer."""

    def __call__(self, question: str, evidence: Sequence[Evidence]) -> list[Place]:
        """The best span of each window, that of the most relevant window first."""
        windows = windows_of(evidence)[:MAX_WINDOWS]
        readings = self.reader.read(question, [one.text for one in windows], [one.above for one in windows])
        rarity = self.rarity(question)
        places = [self._place(question, rarity, *each) for each in zip(windows, readings, strict=True)]
        return sorted(places, key=lambda place: -(place.signs.relevance or 0.0))

    def _place(self, question: str, rarity: Mapping[str, float], window: Window, reading: Reading) -> Place:
        start, end = window.answer(reading)
        around = touched(sentence_spans(window.text), start, end)
        sentence = window.text[slice(*around)] if around else window.text
        signs = Signs(
            relevance=reading.relevance,
            place=log(max(reading.certainty, LEAST_PROBABILITY)),
            terms=share_of_terms(rarity, question, f"{window.above} {window.text}"),
            sentence=share_of_terms(rarity, question, f"{window.above} {sentence}"),
            uncovered=uncovered(question, f"{window.above}. {window.text}"),
        )
        piece, first, last = window.piece_at(start, end)
        return Place(window, piece, piece.start + first, piece.start + last, signs, self.row.probability(signs))


def share_of_terms(rarity: Mapping[str, float], question: str, text: str) -> float:
    """Of the question's terms those that the text has, also where it runs two of them together: BERTBASE."""
    present, total = term_set(text), sum(rarity.values())
    held = set(rarity) & present
    for one, other in pairwise(WORD.findall(question)):
        if not term_set(one + other).isdisjoint(present):
            held |= term_set(f"{one} {other}") & set(rarity)
    return sum(rarity[term] for term in held) / total if total else 0.0


def uncovered(question: str, text: str) -> float:
    """Names and numbers of the question that a text lacks, 3 at most."""
    return float(min(3, len(lacking(question, text))))
