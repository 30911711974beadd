"""What the judge reads of each piece of evidence: whether it answers, where, and how probable that is."""

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
from thresher.text.entities import missing_details
from thresher.text.numbers import SCALES, UNITS
from thresher.text.sentences import Span, spans_of, touched
from thresher.text.terms import term_set
from thresher.types import PROBABILITY, Document, Evidence, Reading, Score, logistic
from thresher.verification.conflicts import AnswerInSentence

WORD = re.compile(r"\w+")

JUDGED, RANK = "answers", "rank"
"""Names of the judge's logit and of the rank of retrieval among the scores of a hit."""

RANK_WEIGHT = 0.5
"""Of the logarithm of the rank beside the judge's logit. Of 93 dev questions to papers and manuals the first of 20
chunks, or one of three, states the answer for 67 / 78 with 0, 69 / 80 with 0.25, 69 / 81 with 0.5, 70 / 81 with 0.75
and 67 / 82 with 1; five other sets differ as little."""

MOST_LACKING = 3
"""Names and numbers from which more that are lacking say no more."""

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
    """Logit of the judge that the piece of evidence answers the question."""
    rank: float | None = None
    """Logarithm of its rank among what was retrieved."""
    sentence: float | None = None
    """The same of the marked sentence by itself."""
    least: float | None = None
    """The lower of both: a sentence answers where its passage does too."""
    position: float | None = None
    """Logarithm of the passage's position in the order in which the recipe hands it over, from 1."""
    held: float | None = None
    """Whether the likeliest words of the piece stand in the sentence: 0 or 1."""
    place: float | None = None
    """Logarithm of the probability of the span among all spans of its piece."""
    terms: float | None = None
    """Share of the question's terms, weighted by rarity, that the text or what stands above it holds, 0 to 1."""
    near: float | None = None
    """The same of the sentence of the span."""
    uncovered: float | None = None
    """Names and numbers of the question that its text, its title and the fields of its document lack, 3 at most."""

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
    """Probabilities that a sentence states the answer, that the best one does, that a span is it, that a cell is."""

    sentence: Row
    """Orders the sentences."""
    answer: Row
    """Over the signs of the best one: how certain the answer is."""
    span: Row
    cell: Row

    @classmethod
    def load(cls, path: Path = TABLE) -> Confidence:
        """The fitted table of a file."""
        rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
        keys = [one.name for one in fields(Row)]
        return cls(**{one.name: Row(**{key: rows[one.name][key] for key in keys}) for one in fields(cls)})


# --- spans ------------------------------------------------------------------------------------------------------------

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

_BEHIND_NUMBER = re.compile(r"[ \u00a0]?(%|°[CF]?|[^\W\d_]+)")


def answer_in(text: str, reading: Reading) -> Span:
    """Where the answer stands in a text: no marks around it, numbers and names whole, a number with its unit."""
    found = text[reading.start : reading.end]
    start = reading.start + len(found) - len(found.lstrip(EDGES))
    end = max(start, reading.end - (len(found) - len(found.rstrip(EDGES))))
    start, end = _whole(text, start, end)
    return start, _with_unit(text, start, end)


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


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """The likeliest answer in a piece of evidence, as the judge read it; offsets are in the document."""

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
    def order(self) -> float:
        """What a piece is ordered by where its judge did not: as by `judging.judge.RankedJudge`."""
        return (self.signs.relevance or 0.0) - RANK_WEIGHT * (self.signs.rank or 0.0)

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
        sentence, title = self.sentence, self.piece.hit.chunk.title
        start = self.start - sentence.start
        known = f"{title}. {self.piece.text}"
        return AnswerInSentence(sentence.text, start, start + self.end - self.start, title, known)


@dataclass(frozen=True, slots=True)
class SpanFinder:
    """The judge's reading of evidence. What it read of a chunk when it judged is remembered and not read again."""

    reader: PairReader
    rarity: Callable[[str], Mapping[str, float]]
    """Weight of each term of a question."""
    row: Row
    """How probable it is that a span is the answer."""

    def __call__(
        self, question: str, evidence: Sequence[Evidence], documents: Mapping[str, Document]
    ) -> list[AnswerSpan]:
        """The likeliest answer in each piece, in their order."""
        titles = [piece.hit.chunk.title for piece in evidence]
        readings = self.reader.read(question, [piece.text for piece in evidence], titles)
        rarity = self.rarity(question)
        ranks = [
            piece.hit.scores[RANK].value if RANK in piece.hit.scores else at for at, piece in enumerate(evidence, 1)
        ]
        lacks = lacking(question, evidence, documents)
        return [self._place(question, rarity, *each) for each in zip(evidence, lacks, readings, ranks, strict=True)]

    def _place(
        self, question: str, rarity: Mapping[str, float], piece: Evidence, lacks: int, reading: Reading, rank: float
    ) -> AnswerSpan:
        chunk = piece.hit.chunk
        start, end = answer_in(piece.text, reading)
        around = touched(spans_of(piece.text, table=chunk.kind == "table"), start, end)
        sentence = piece.text[slice(*around)] if around else piece.text
        judged = chunk.kind == "table" and piece.hit.scores.get(JUDGED)  # its rows were judged in words
        signs = Signs(
            relevance=max(reading.relevance, judged.value) if judged else reading.relevance,
            rank=log(rank),
            place=log(max(reading.certainty, LEAST_PROBABILITY)),
            terms=share_of_terms(rarity, question, f"{chunk.title} {piece.text}"),
            near=share_of_terms(rarity, question, f"{chunk.title} {sentence}"),
            uncovered=float(min(MOST_LACKING, lacks)),
        )
        return AnswerSpan(piece, piece.start + start, piece.start + end, signs, self.row.probability(signs))


def share_of_terms(rarity: Mapping[str, float], question: str, text: str) -> float:
    """Of the question's terms those that the text has, also where it runs two of them together: BERTBASE."""
    present, total = term_set(text), sum(rarity.values())
    held = set(rarity) & present
    for one, other in pairwise(WORD.findall(question)):
        if not term_set(one + other).isdisjoint(present):
            held |= term_set(f"{one} {other}") & set(rarity)
    return sum(rarity[term] for term in held) / total if total else 0.0


def lacking(question: str, evidence: Sequence[Evidence], documents: Mapping[str, Document]) -> list[int]:
    """How many names and numbers of the question a piece, its title and the names in its document's fields lack."""
    fields = {id_: [one for one in found.metadata.values() if isinstance(one, str)] for id_, found in documents.items()}
    named = {id_: ". ".join(one for one in own if not re.search(r"\d", one)) for id_, own in fields.items()}
    chunks = [(piece.hit.chunk, piece.text) for piece in evidence]
    texts = (f"{chunk.title}. {named.get(chunk.document_id, '')}. {text}" for chunk, text in chunks)
    return [len(missing_details(question, text)) for text in texts]
