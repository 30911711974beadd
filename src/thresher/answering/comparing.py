"""A question that compares two: what the passages say of each, side by side, and the difference of plain quantities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from thresher.answering.citations import Sentence, cite
from thresher.answering.passage import Passage, Proposal
from thresher.protocols import PairReader
from thresher.text.markup import blocks
from thresher.text.numbers import Quantity, quantities_and_dates
from thresher.text.sentences import Span
from thresher.text.terms import term_set
from thresher.types import Citation


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
    def has_quantity(self) -> bool:
        """Whether the sentence has a number that is no date."""
        return any(isinstance(one, Quantity) for one in quantities_and_dates(self.text.replace(self.name, "")))

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


def side_by_side(
    question: str, names: tuple[str, str], proposals: Sequence[Proposal], reader: PairReader
) -> tuple[Side, Side] | None:
    """The two that a question compares; None where a sentence speaks of both, or of one of them none does."""
    passages = [one.passage for one in proposals if one.passage is not None and not one.passage.entry]
    sentences = [(one, span) for one in passages for span in _prose(one)]
    wanted = [term_set(name) for name in names]
    said = [term_set(one.quote[slice(*span)]) for one, span in sentences]
    if not all(wanted) or any(all(terms <= there for terms in wanted) for there in said):
        return None
    found = []
    for name, terms, others in zip(names, wanted, wanted[::-1], strict=True):
        own = [each for each, there in zip(sentences, said, strict=True) if terms <= there and not others <= there]
        readings = reader.read(
            question, [one.quote[slice(*span)] for one, span in own], [one.stretch.title for one, _ in own]
        )
        best = max(zip(readings, own, strict=True), key=lambda each: each[0].relevance, default=None)
        if best is None:
            return None
        found.append(Side(name, *best[1]))
    return found[0], found[1]


def _prose(passage: Passage) -> Iterator[Span]:
    """The sentences of a passage that stand in no table."""
    tables = [block for block in blocks(passage.quote) if block.kind == "table"]
    for start, end in passage.sentences:
        if not any(block.start < end and start < block.end for block in tables):
            yield start, end


def told(sides: tuple[Side, Side]) -> tuple[str, tuple[Citation, ...]]:
    """Both sentences below each other, cited, and what can be worked out from them."""
    lines = [f"{side.name}: “{side.text}” [{at}]" for at, side in enumerate(sides, start=1)]
    one, other = (side.quantity for side in sides)
    if one is not None and other is not None and one[1] == other[1]:
        (more, _, unit), (less, *_) = sorted((one, other), reverse=True)
        lines.append(f"{more:f} - {less:f} = {more - less:f} {unit}")
    return "\n".join(lines), tuple(side.citation(at) for at, side in enumerate(sides, start=1))
