"""The reader that needs no model: it quotes the best-supported sentences, or abstains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thresher.generation.commands import is_command
from thresher.generation.quotes import quoted
from thresher.generation.support import Sentence, SupportJudge
from thresher.types import Citation, Draft, Evidence, Query

NEAR_BEST = 0.05
"""A further sentence is quoted when its support is this near to the best one's."""

NO_EVIDENCE = "Nothing was retrieved for this question."


@dataclass(frozen=True, slots=True)
class ExtractiveReader:
    """Quotes at most `max_sentences`; abstains when the best support is below `min_support` (0..1).

    A sentence without a word that the question lacks (a heading, mostly) is near to it and answers nothing.
    """

    support: SupportJudge
    min_support: float
    max_sentences: int = 2

    def __call__(self, query: Query, evidence: Sequence[Evidence]) -> Draft:
        """The quoted sentences with a citation each."""
        judged = self.support(query.question, evidence)
        asked = set(self.support.terms(query.question))
        sentences = [
            sentence
            for sentence in judged
            if _states(sentence.text, query.question) and not asked.issuperset(self.support.terms(sentence.text))
        ]
        best = sentences[0].support.value if sentences else 0.0
        detail = {"reader": "extractive", "support": best, "min_support": self.min_support}
        if not sentences:
            return abstention(NO_EVIDENCE, detail)
        if best < self.min_support:
            return abstention(
                f"The best-supported sentence reaches {best:.2f} of 1, and {self.min_support:.2f} is asked for.", detail
            )
        chosen = self._chosen(sentences)
        citations = tuple(cite(marker, sentence) for marker, sentence in enumerate(chosen, start=1))
        text = " ".join(quoted(citation) for citation in citations)
        return Draft(text, citations, detail=detail)

    def _chosen(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """The best sentence and others nearly as good, none saying what one before it says word for word."""
        near = [s for s in sentences if s.support.value >= sentences[0].support.value - NEAR_BEST]
        chosen: list[Sentence] = []
        for sentence in near:
            repeated = any(
                _one_line(sentence.text) == _one_line(other.text) or _overlap(sentence, other) for other in chosen
            )
            if not repeated:
                chosen.append(sentence)
        return chosen[: self.max_sentences]


def _states(text: str, question: str) -> bool:
    """Whether a sentence says anything: one that asks, repeats the question or gives orders to whoever reads it may be
    nearer to the question than any other, and is no answer.
    """
    asks = text.rstrip(" \"'”’)").endswith("?") or _one_line(question).lower() in _one_line(text).lower()
    return not asks and not is_command(text)


def abstention(reason: str, detail: dict[str, object]) -> Draft:
    """No answer, and why."""
    return Draft(
        text="The documents do not answer this question.", citations=(), abstained=True, reason=reason, detail=detail
    )


def cite(marker: int, sentence: Sentence) -> Citation:
    """The place of a sentence in its document."""
    chunk = sentence.evidence.hit.chunk
    return Citation(
        marker=marker,
        document_id=chunk.document_id,
        source=chunk.source,
        title=chunk.title,
        page=sentence.evidence.page,
        start=sentence.start,
        end=sentence.end,
        quote=sentence.text,
        score=sentence.support,
        origin=sentence.evidence.hit.origin,
        fetched=sentence.evidence.hit.fetched,
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _overlap(one: Sentence, other: Sentence) -> bool:
    same = one.evidence.hit.chunk.document_id == other.evidence.hit.chunk.document_id
    return same and one.start < other.end and other.start < one.end
