"""Answerers, and panels of them, asked over evidence that is made by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import log

from thresher.answering.candidates import Answerer, Candidate, Signs
from thresher.answering.material import Material
from thresher.answering.panel import Panel
from thresher.answering.places import PlaceFinder
from thresher.answering.select import AnswerThresholds, Row, Selector
from thresher.answering.sentence_support import SupportJudge, rarity_from
from thresher.protocols import PairReader
from thresher.testing.fakes import HashEncoder, OverlapCrossEncoder
from thresher.text.terms import index_terms
from thresher.types import COSINE, Chunk, Document, Evidence, Generation, Hit, Query, Reading, Score, logistic

ALL = AnswerThresholds(0.0, 0.0)
"""Abstains from nothing and hedges nothing."""


def piece(text: str, *, title: str = "Notes", document: str = "d1", start: int = 0) -> Evidence:
    chunk = Chunk(f"c-{document}-{start}", document, f"{document}.txt", title, start, start + len(text), text)
    return Evidence(Hit(chunk, Score(0.5, COSINE), 1), start, start + len(text), text)


def rarity(question: str) -> Mapping[str, float]:
    """All terms are equally rare."""
    return rarity_from(dict.fromkeys(index_terms(question), 1), 10)


SUPPORT = SupportJudge(HashEncoder(256), rarity)


class Overlapping:
    """As relevant as the texts share words with the question; the answer is the whole text."""

    name = "overlapping"

    def read(self, question: str, texts: Sequence[str], titles: Sequence[str] | None = None) -> list[Reading]:
        scores = OverlapCrossEncoder()(question, texts)
        return [
            Reading(10 * score.value - 2, 0.0, 0, len(text), 1.0) for score, text in zip(scores, texts, strict=True)
        ]


class Scripted:
    """Reads each text as the script says: relevance, the answer, its certainty."""

    name = "scripted"

    def __init__(self, script: Mapping[str, tuple[float, str, float]]) -> None:
        self._script = script
        self.titles: list[str] = []

    def read(self, question: str, texts: Sequence[str], titles: Sequence[str] | None = None) -> list[Reading]:
        self.titles += titles or []
        found = []
        for text in texts:
            relevance, answer, certainty = self._script[text]
            at = text.index(answer)
            found.append(Reading(relevance, 0.0, at, at + len(answer), certainty))
        return found


def by_relevance(signs: Signs) -> float:
    return logistic(signs.relevance or 0.0)


def finder(reader: PairReader, weigh: Callable[[str], Mapping[str, float]] = rarity) -> PlaceFinder:
    return PlaceFinder(reader, weigh, by_relevance, 12)


def known(*documents: Document) -> Callable[[Sequence[str]], Mapping[str, Document]]:
    """What gives the documents of some ids."""
    return lambda ids: {one.id: one for one in documents if one.id in ids}


def material(
    question: str, *evidence: Evidence, documents: Sequence[Document] = (), reader: PairReader | None = None
) -> Material:
    return Material(Query(question, question), evidence, known(*documents), finder(reader or Overlapping()))


def proposed(
    answerer: Answerer,
    question: str,
    *evidence: Evidence,
    documents: Sequence[Document] = (),
    reader: PairReader | None = None,
) -> Sequence[Candidate]:
    """What one answerer proposes."""
    read = material(question, *evidence, documents=documents, reader=reader)
    return answerer(read.query, read)


def only(
    answerer: Answerer,
    question: str,
    *evidence: Evidence,
    documents: Sequence[Document] = (),
    reader: PairReader | None = None,
) -> Generation:
    """The answer of the one candidate that an answerer proposes."""
    (candidate,) = proposed(answerer, question, *evidence, documents=documents, reader=reader)
    assert candidate.by == answerer.name
    assert not candidate.objection
    return candidate.answer


def certain(probability: float, weights: Mapping[str, float] | None = None) -> Row:
    """A row that counts as it is: as certain as that where no sign says otherwise."""
    assert 0 < probability < 1
    return Row(log(probability / (1 - probability)), 1000, 500, weights or {})


def panel(
    answerers: Sequence[Answerer],
    rows: Mapping[str, Row],
    *,
    documents: Sequence[Document] = (),
    reader: PairReader | None = None,
    thresholds: AnswerThresholds = ALL,
    weigh: Callable[[str], Mapping[str, float]] = rarity,
) -> Panel:
    whole = known(*documents)
    find = finder(reader or Overlapping(), weigh)
    return Panel(answerers, Selector(rows, thresholds), partial(Material, whole=whole, find=find))
