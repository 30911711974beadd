"""Which sentence of a passage answers: what the judge reads of each, and how probable that makes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import log

from thresher.answering.passage import Passage
from thresher.answering.spans import AnswerSpan, Row, Signs
from thresher.protocols import PairReader
from thresher.question.wording import ADDED
from thresher.text.boilerplate import says_nothing
from thresher.text.sentences import Span
from thresher.text.terms import term_set

Allowed = Callable[[str], bool]
"""Whether a sentence may answer a question."""


@dataclass(frozen=True, slots=True)
class Marked:
    """The sentence, or row of a table, of a passage that most probably answers; the span is in offsets of its quote."""

    span: Span
    signs: Signs
    probability: float
    """That it states the answer."""


@dataclass(frozen=True, slots=True)
class SentenceFinder:
    """Reads passages sentence by sentence, beside what is known of them as a whole."""

    reader: PairReader
    row: Row
    """How probable it is that a sentence states the answer."""

    def __call__(
        self, question: str, passages: Sequence[tuple[Passage, AnswerSpan]], allowed: Allowed
    ) -> list[Marked | None]:
        """The best sentence of each passage, which come in the recipe's order; None where none may answer."""
        each = self.read(question, passages, allowed)
        return [max(own, key=lambda one: one.probability, default=None) for own in each]

    def read(
        self, question: str, passages: Sequence[tuple[Passage, AnswerSpan]], allowed: Allowed
    ) -> list[list[Marked]]:
        """Every sentence of each passage that may answer. All texts are read at once."""
        each = [
            (at, span, text)
            for at, (passage, _) in enumerate(passages)
            for span, text in _candidates(question, passage, allowed)
        ]
        titles = [passages[at][0].stretch.title for at, *_ in each]
        readings = self.reader.read(question, [text for *_, text in each], titles)
        found: list[list[Marked]] = [[] for _ in passages]
        for (at, span, _), reading in zip(each, readings, strict=True):
            passage, place = passages[at]
            held = place.start - passage.start < span[1] and span[0] < place.end - passage.start
            signs = replace(
                place.signs,
                sentence=reading.relevance,
                least=min(reading.relevance, place.signs.relevance or 0.0),
                position=log(at + 1),
                held=float(held),
            )
            found[at].append(Marked(span, signs, self.row.probability(signs)))
        return found


def _candidates(question: str, passage: Passage, allowed: Allowed) -> list[tuple[Span, str]]:
    """The sentences that may answer, each as it is read; of a topic in brackets those with a typed word, if any."""
    found = [
        (span, text)
        for span, text in passage.readable
        if allowed(passage.quote[slice(*span)]) and not says_nothing(passage.quote[slice(*span)])
    ]
    if (added := ADDED.fullmatch(question)) is None:
        return found
    typed = term_set(added["typed"])
    return [one for one in found if typed & term_set(one[1])] or found
