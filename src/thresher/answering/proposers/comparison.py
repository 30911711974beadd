"""A question that compares two: what the passages say of each, side by side, and the difference of plain quantities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation

from thresher.answering.citations import Sentence, cite
from thresher.answering.passage import Passage, Proposal
from thresher.protocols import PairReader
from thresher.question.intent import intent_of
from thresher.text.markup import blocks
from thresher.text.numbers import Quantity, quantities_and_dates
from thresher.text.sentences import Span
from thresher.text.terms import term_set
from thresher.types import Citation

NOT_COMPARED = "No passage compares the two."
"""Why an answer is in doubt."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of two that are compared, and the sentence of a passage that speaks of it and best answers."""

    name: str
    passage: Passage
    span: Span
    """Of the sentence, in offsets of the quote."""

    @property
    def text(self) -> str:
        """The sentence on one line."""
        return " ".join(self.passage.quote[slice(*self.span)].split())

    def citation(self, marker: int) -> Citation:
        """The place of the sentence."""
        piece, (start, end) = self.passage.stretch.piece, self.span
        low = self.passage.start
        return cite(marker, Sentence(piece, low + start, low + end, self.passage.quote[start:end], piece.hit.score))

    @property
    def quantity(self) -> tuple[Decimal, str, str] | None:
        """The one quantity of the sentence: its value, its unit, and how that is written; None for none or several."""
        text = self.text.replace(self.name, "")
        found = quantities_and_dates(text)
        if len(found) != 1 or not isinstance(one := found[0], Quantity) or not one.unit or one.bound:
            return None
        try:
            return Decimal(one.values[0]), one.unit, text[one.end :].split(maxsplit=1)[0].strip(".,;:")
        except (InvalidOperation, IndexError):
            return None


def compared_in(question: str, proposals: Sequence[Proposal], judge: PairReader) -> Proposal:
    """The first proposal; of a question that compares two a sentence on each, or in doubt where nothing does.

    The comparison is as probable as the first proposal, and is shown without its passage.
    """
    best = proposals[0]
    if best.passage is None or (names := intent_of(question).compared) is None:
        return best
    if (sides := side_by_side(question, names, proposals, judge)) is not None:
        text, citations = _in_words(sides)
        return replace(best, text=text, citations=citations, passage=None, marked=None)
    return best if _says_both(best.passage, names) else replace(best, doubt=NOT_COMPARED)


def side_by_side(
    question: str, names: tuple[str, str], proposals: Sequence[Proposal], reader: PairReader
) -> tuple[Side, Side] | None:
    """The two that a question compares; None where a sentence speaks of both, or of one of them none does."""
    passages = [one.passage for one in proposals if one.passage is not None and not one.passage.entry]
    sentences = [(one, span) for one in passages for span in _prose(one)]
    wanted = [term_set(name) for name in names]
    terms_of_each = [term_set(one.quote[slice(*span)]) for one, span in sentences]
    if not all(wanted) or any(all(terms <= there for terms in wanted) for there in terms_of_each):
        return None
    found = []
    for name, terms, others in zip(names, wanted, wanted[::-1], strict=True):
        own = [
            each for each, there in zip(sentences, terms_of_each, strict=True) if terms <= there and not others <= there
        ]
        readings = reader.read(
            question, [one.quote[slice(*span)] for one, span in own], [one.stretch.title for one, _ in own]
        )
        best = max(zip(readings, own, strict=True), key=lambda each: each[0].relevance, default=None)
        if best is None:
            return None
        found.append(Side(name, *best[1]))
    return found[0], found[1]


def _says_both(passage: Passage, names: tuple[str, str]) -> bool:
    """Whether a sentence of a passage speaks of both that are compared."""
    return any(
        all(term_set(name) <= term_set(passage.quote[slice(*span)]) for name in names) for span in passage.sentences
    )


def _prose(passage: Passage) -> Iterator[Span]:
    """The sentences of a passage that stand in no table."""
    tables = [block for block in blocks(passage.quote) if block.kind == "table"]
    for start, end in passage.sentences:
        if not any(block.start < end and start < block.end for block in tables):
            yield start, end


def _in_words(sides: tuple[Side, Side]) -> tuple[str, tuple[Citation, ...]]:
    """Both sentences below each other, cited, and what can be worked out from them."""
    lines = [f"{side.name}: “{side.text}” [{at}]" for at, side in enumerate(sides, start=1)]
    one, other = (side.quantity for side in sides)
    if one is not None and other is not None and one[1] == other[1]:
        (more, _, unit), (less, *_) = sorted((one, other), reverse=True)
        lines.append(f"{more:f} - {less:f} = {more - less:f} {unit}")
    return "\n".join(lines), tuple(side.citation(at) for at, side in enumerate(sides, start=1))
