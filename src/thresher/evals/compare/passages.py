"""Whole sentences of running text, and passages of neighbouring ones: what questions are drafted from."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from thresher.chunking.sentences import sentence_spans
from thresher.chunking.spans import make_chunk
from thresher.documents.cleaning import references_span
from thresher.types import Chunk, Document

LEAST_WORDS, LEAST_LETTERS = 6, 0.8
"""A sentence of running text has this many words, and this share of letters and spaces; formulas, tables and author
lists have less."""

PASSAGE_CHARACTERS = 1500
"""Of a passage at most: as much as `corrective` has in a chunk, so that what is asked can be found in one."""


def sentences(document: Document) -> list[Chunk]:
    """The sentences of a document that are running text, each as a chunk of its own, in their order."""
    tables = sorted((table.start, table.end) for table in document.tables)
    references = references_span(document.text)
    left_out = sorted([*tables, *([references] if references else [])])
    starts = [start for start, _ in left_out]

    def outside(span: tuple[int, int]) -> bool:
        at = bisect_right(starts, span[0]) - 1
        return at < 0 or span[0] >= left_out[at][1]

    spans = [span for span in sentence_spans(document.text) if outside(span) and runs(document.text[slice(*span)])]
    return [make_chunk(document, span, number=number) for number, span in enumerate(spans, start=1)]


def runs(sentence: str) -> bool:
    """Whether a text looks like a sentence and not like a heading, a formula or a list."""
    letters = sum(character.isalpha() or character.isspace() for character in sentence)
    return (
        sentence[:1].isupper()
        and sentence.rstrip().endswith((".", "!", "?"))
        and "\n\n" not in sentence
        and "@" not in sentence
        and len(sentence.split()) >= LEAST_WORDS
        and letters >= LEAST_LETTERS * len(sentence)
    )


def passages(document: Document, found: Sequence[Chunk]) -> Iterator[Chunk]:
    """Runs of neighbouring sentences, and what stands between them, up to `PASSAGE_CHARACTERS` long."""
    first = 0
    for at in range(len(found)):
        ends = at + 1 == len(found) or found[at + 1].end - found[first].start > PASSAGE_CHARACTERS
        if ends:
            span = (found[first].start, min(found[at].end, found[first].start + PASSAGE_CHARACTERS))
            yield make_chunk(document, span, number=1)
            first = at + 1
