"""How texts are cut where answers are judged: into sentences, and into the terms that BM25 counts."""

from __future__ import annotations

from thresher.chunking.sentences import sentence_spans
from thresher.indexing.analyzer import index_terms


def spans(text: str) -> list[tuple[int, int]]:
    """Begin and end of each sentence."""
    return sentence_spans(text)


def sentences(text: str) -> list[str]:
    """The sentences of a text that hold a letter or a digit; a line break ends one."""
    lines = [(line, spans(line)) for line in text.splitlines()]
    pieces = [line[start:end] for line, places in lines for start, end in places]
    return [piece for piece in pieces if any(character.isalnum() for character in piece)]


def terms(text: str) -> list[str]:
    """The index terms of a text, in order."""
    return index_terms(text)
