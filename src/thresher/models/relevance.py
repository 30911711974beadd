"""How relevant a text is to a question, from the encoder, the collection's word statistics and the text alone.

No chat model and no trained cross-encoder: this is the judge that is always there. Its worth is measured in
`benchmarks/calibration.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

from thresher.protocols import Encoder
from thresher.types import logistic

Terms = Callable[[str], Sequence[str]]
Rarity = Callable[[str], Mapping[str, float]]
Spans = Callable[[str], Sequence[tuple[int, int]]]

SENTENCE_WEIGHT = 0.7
"""The best sentence's cosine has 0.7 and the question's terms have 0.3: the weights of ECRAG's confidence (X8 in
docs/methods.md). On the training questions every weight of the terms from 0.3 to 0.4 is within 0.001 AUROC of the
best, and weights fitted on three question sets did worse on the fourth."""

MIDDLE, SLOPE = 0.62, 10.6
"""Where the relevance is 0.5, and how fast it rises: a logistic fit to the best chunk of questions whose answer is
among the candidates and of the same questions with it taken away (PopQA, NQ, TriviaQA and SQuAD training questions,
each set weighing the same)."""

SENTENCES = 3
"""Sentences of a text that are encoded, those that share most with the question first. Training questions, mean AUROC:
one .813, two .825, three .829, four .828, all .827."""

SENTENCE_CHARACTERS = (20, 600)
"""Shorter pieces are headings and cells and are read only where nothing else is there; a longer one is a table or a
list and is read by its lines."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What the relevance of one text is made of; `start` and `end` are where its best sentence stands in the text."""

    sentence: float
    """Cosine of the question and the sentence that supports it best, 0 to 1."""
    terms: float
    """Share of the question's terms, weighted by their rarity, that the sentence or the title holds, 0 to 1."""
    start: int
    end: int

    def to_dict(self) -> dict[str, float]:
        """The two numbers, by name."""
        return {"sentence": self.sentence, "terms": self.terms}


@dataclass(frozen=True, slots=True)
class LocalRelevance:
    """Relevance = logistic(slope * (support - middle)), support = 0.7 sentence + 0.3 terms, of the best sentence.

    Tried on the training questions and left out, because they gained nothing on a question set they were not fitted
    on: the cosine of the whole text, BM25 as a share of its ceiling, terms of the title alone, whether the rarest term
    stands there, names, dates and numbers of the wanted kind, cosine of the question without the title's words.
    Similarity word by word gained 0.007 AUROC (NQ, SQuAD), and would have every word of the sentences encoded.
    """

    encoder: Encoder
    terms: Terms
    rarity: Rarity
    """Weight of each term of a question in the collection, larger for rarer ones."""
    spans: Spans | None = None
    """Sentences of a text; without it a text is judged whole."""
    sentence_weight: float = SENTENCE_WEIGHT
    middle: float = MIDDLE
    slope: float = SLOPE
    sentences: int = SENTENCES

    def __call__(
        self,
        question: str,
        texts: Sequence[str],
        titles: Sequence[str] | None = None,
        *,
        cosines: Sequence[float | None] | None = None,
    ) -> list[float]:
        """Relevance of each text, 0 to 1. `cosines`: those of the whole texts, where they are known."""
        return [self.relevance(parts) for parts in self.judged(question, texts, titles, cosines=cosines)]

    def relevance(self, parts: Parts) -> float:
        """One number from the parts."""
        return logistic(self.slope * (self._support(parts) - self.middle))

    def parts(self, question: str, text: str, title: str = "") -> dict[str, float]:
        """What the relevance of one text is made of, by name."""
        return self.judged(question, [text], [title])[0].to_dict()

    def judged(
        self,
        question: str,
        texts: Sequence[str],
        titles: Sequence[str] | None = None,
        *,
        cosines: Sequence[float | None] | None = None,
    ) -> list[Parts]:
        """The parts of each text. A text of one sentence is not encoded again where its cosine is known."""
        weights = self.rarity(question)
        named = titles or [""] * len(texts)
        given = cosines or [None] * len(texts)
        places = [self._places(text, title, weights) for text, title in zip(texts, named, strict=True)]
        known = [cosine if len(found) == 1 else None for found, cosine in zip(places, given, strict=True)]
        unread = [
            text[start:end]
            for text, found, cosine in zip(texts, places, known, strict=True)
            if cosine is None
            for start, end, _ in found
        ]
        read = iter(self._cosines(question, unread))
        judged = []
        for found, cosine in zip(places, known, strict=True):
            sentences = [
                Parts(_unit(next(read) if cosine is None else cosine), share, start, end) for start, end, share in found
            ]
            judged.append(max(sentences, key=self._support))
        return judged

    def _support(self, parts: Parts) -> float:
        return self.sentence_weight * parts.sentence + (1 - self.sentence_weight) * parts.terms

    def _places(self, text: str, title: str, weights: Mapping[str, float]) -> list[tuple[int, int, float]]:
        """The sentences worth reading, at least one: start, end and share of the question's terms."""
        spans = [(0, len(text))] if self.spans is None else _readable(text, self.spans(text))
        above = set(self.terms(title))
        places = [(start, end, _share(weights, above.union(self.terms(text[start:end])))) for start, end in spans]
        return sorted(places, key=lambda place: -place[2])[: self.sentences]

    def _cosines(self, question: str, sentences: Sequence[str]) -> list[float]:
        """Each distinct sentence is encoded once: chunks that overlap share some."""
        if not sentences:
            return []
        distinct = list(dict.fromkeys(sentences))
        found = self.encoder.encode(distinct) @ self.encoder.encode_query(question)
        cosine = dict(zip(distinct, found.tolist(), strict=True))
        return [cosine[sentence] for sentence in sentences]


def _readable(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sentences of a readable length; the whole text where there is none."""
    low, high = SENTENCE_CHARACTERS
    pieces = [piece for start, end in spans for piece in _lines(text, start, end, high)]
    return [(start, end) for start, end in pieces if end - start >= low] or [(0, len(text))]


def _lines(text: str, start: int, end: int, most: int) -> list[tuple[int, int]]:
    """A span that is too long for a sentence, by its lines."""
    if end - start <= most:
        return [(start, end)]
    lines = []
    for line in text[start:end].splitlines(keepends=True):
        lines.append((start, start + len(line.rstrip())))
        start += len(line)
    return lines


def _share(weights: Mapping[str, float], present: Set[str]) -> float:
    """Share of the question's terms, weighted by rarity; 0 for a question without terms."""
    total = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in present) / total if total else 0.0


def _unit(cosine: float) -> float:
    return min(1.0, max(0.0, cosine))
