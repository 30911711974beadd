"""The reader that quotes sentences, chosen by `answer.reader=sentences`: the nearest ones, without a trained model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from thresher.generation.citations import NO_EVIDENCE, abstention, cite, quoted
from thresher.generation.sentence_support import Sentence, SupportJudge
from thresher.text.boilerplate import asks_for_references, says_nothing
from thresher.text.injection import is_command
from thresher.text.terms import term_set
from thresher.types import Evidence, Generation, Notes, Query

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
