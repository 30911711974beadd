"""The passage around a place of the evidence, as it is quoted: whole, with the place in bold."""

from __future__ import annotations

from dataclasses import dataclass

from thresher.generation.citations import cite
from thresher.generation.material import Material
from thresher.generation.sentence_support import Sentence
from thresher.structure.blocks import passage_around
from thresher.text.boilerplate import is_bibliography, says_nothing
from thresher.text.injection import is_command
from thresher.text.sentences import Span, sentence_spans
from thresher.types import Citation, Evidence

LONGEST_SPAN = 80
"""Characters of a place that is marked in its passage; a longer one is no name, number or phrase."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a document that is shown whole."""

    citation: Citation
    shown: str
    """In quotation marks, the place in bold; running text on one line, blocks with their line breaks."""

    @property
    def known(self) -> str:
        """The text and the title above it."""
        return f"{self.citation.title}. {self.citation.quote}"


def passage_of(
    piece: Evidence, start: int, end: int, material: Material, *, marked: bool = True, references: bool = False
) -> Passage | None:
    """The passage around a place of a piece, offsets in the piece; the place is in bold where it is to be `marked`.

    None where that says nothing, or is a bibliography and no `references` are asked for.
    """
    document = material.document(piece)
    text, at = (document.text, 0) if document is not None else (piece.text, piece.start)
    start, end = piece.start + start - at, piece.start + end - at
    low, high = _without_orders(text, passage_around(text, start, end), start)
    low = _behind_title(text, low, min(start, high), piece.hit.chunk.title)
    quote = text[low:high]
    sentences = [quote[slice(*span)] for span in sentence_spans(quote)]
    if all(map(says_nothing, sentences)) or (is_bibliography(quote) and not references):
        return None
    citation = cite(1, Sentence(piece, at + low, at + high, quote, piece.hit.score))
    return Passage(citation, _shown(quote, *((start - low, end - low) if marked else (0, 0))))


def _behind_title(text: str, low: int, at: int, title: str) -> int:
    """Where a passage begins that begins with the title of its document: the citation names that already."""
    line = text.find("\n", low)
    is_title = 0 <= line <= at and text[low:line].strip(" #*") == title.strip()
    return len(text) - len(text[line:].lstrip()) if is_title else low


def _without_orders(text: str, passage: Span, at: int) -> Span:
    """A passage without the sentences that give orders to whoever reads them, as far as these part it from a place."""
    low, high = passage
    for start, end in sentence_spans(text[low:high]):
        if is_command(text[passage[0] + start : passage[0] + end]):
            if passage[0] + end > at:
                return low, passage[0] + start
            low = passage[0] + end
    return low, high


def _shown(quote: str, start: int, end: int) -> str:
    span = quote[max(0, start) : end]
    marked = 0 <= start < end <= len(quote) and len(span) <= LONGEST_SPAN and bool(span.strip())
    if marked and "\n" not in span and "**" not in quote:
        quote = f"{quote[:start]}**{span}**{quote[end:]}"
    lines = [line.rstrip() for line in quote.strip("\n").splitlines()]
    running = all(lines) and not any(line[0] in " \t-*•|" for line in lines)
    return f"“{' '.join(lines)}”" if running else "“" + "\n".join(lines) + "”"
