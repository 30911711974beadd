"""The readers that need no chat model: they answer with words of the evidence, and show the sentence these stand in.

`ChoosingReader` answers questions with options, and hands every other one to `SpanReader`, which answers with the words
that answer; where no place is certain, `ExtractiveReader` quotes sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from thresher.generation.citations import NO_EVIDENCE, abstention, cite, quoted
from thresher.generation.sentence_support import Sentence, SupportJudge, sentence_around
from thresher.protocols import Generator, PairReader, about
from thresher.text.boilerplate import asks_for_references, says_nothing
from thresher.text.injection import is_command
from thresher.text.options import choice_of
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
        sentences = [sentence for sentence in self.support(question, evidence) if _states(sentence, question)]
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


def _states(sentence: Sentence, question: str) -> bool:
    """Whether a sentence says anything: one that asks, repeats the question or the title, or gives orders to whoever
    reads it may be nearer to the question than any other, and is no answer; nor are headings, captions and references.
    """
    text = sentence.text
    asks = text.rstrip(" \"'”’)").endswith("?") or _one_line(question).lower() in _one_line(text).lower()
    known = term_set(f"{question} {sentence.evidence.hit.chunk.title}")
    empty = is_command(text) or (says_nothing(text) and not asks_for_references(question))
    return not asks and not empty and not term_set(text) <= known


def _repeats(one: Sentence, other: Sentence) -> bool:
    same = one.evidence.hit.chunk.document_id == other.evidence.hit.chunk.document_id
    return _one_line(one.text) == _one_line(other.text) or (same and one.start < other.end and other.start < one.end)


def _one_line(text: str) -> str:
    return " ".join(text.split())


# --- questions with options -----------------------------------------------------------------------------------------


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
