"""The smallest set of stretches within a budget of tokens: pieces of texts with their scores in, stretches out.

Pieces are taken best first until one does not fit, so that a larger budget contains a smaller one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

Count = Callable[[str], int]
"""Tokens of a text; of a text that is cut at white space as many as of its parts together."""

WORTH = 0.2
"""Share of the best piece's score that a piece needs. Of the answers in the chunks all 48 of papers, all 99 of SQuAD
and 96 of 97 of NQ then stay within 800 tokens, for 26, 22 and 49 % of the chunks; with 0.4 it is 47, 98 and 94 for
19, 12 and 34 % (questions that benchmarks/token_budget.py leaves out, those of papers aside)."""

LEAST = 0.005
"""Score that any piece needs. It loses no answer; 0.01 loses one in a hundred (NQ)."""

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Text:
    """What stretches are cut from: a document, or a passage that begins at `start` of a page."""

    text: str
    start: int = 0

    def cut(self, start: int, end: int) -> str:
        """The text between two offsets of the document."""
        return self.text[start - self.start : end - self.start]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch that is worth so much, with what it leans on; offsets in its document."""

    text_id: str
    start: int
    end: int
    score: float
    place: tuple[int, int]
    """Where in it the answer is likeliest: what is kept where there is no room for the piece."""
    heading: str = ""
    """What stands above it in the document, and is handed on with it."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """What was chosen: one or several pieces that touch, the score that of the best one."""

    text_id: str
    start: int
    end: int
    score: float
    heading: str
    text: str
    tokens: int
    """Of heading and text."""


def chosen(pieces: Sequence[Piece], texts: Mapping[str, Text], most: int, count: Count) -> list[Stretch]:
    """The stretches that fit into `most` tokens, best first; of a best piece that alone is too long, its place."""
    ranked = worth_it(pieces)
    counted = lru_cache(maxsize=None)(count)
    fitting: list[Stretch] = []
    for number in range(1, len(ranked) + 1):
        joined = _joined(ranked[:number], texts, counted)
        if sum(stretch.tokens for stretch in joined) <= most:
            fitting = joined
    if ranked and not fitting:
        fitting = _narrowed(ranked[0], texts, most, counted)
    return sorted(fitting, key=lambda stretch: -stretch.score)


def worth_it(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces that answer at all, and whose score is not far below the best one's, best first."""
    ranked = sorted(pieces, key=lambda piece: -piece.score)
    return [piece for piece in ranked if piece.score >= max(LEAST, WORTH * ranked[0].score)]


def _joined(pieces: Sequence[Piece], texts: Mapping[str, Text], count: Count) -> list[Stretch]:
    """Pieces that overlap, or have nothing but white space between them, as one."""
    joined: list[Piece] = []
    for piece in sorted(pieces, key=lambda piece: (piece.text_id, piece.start, piece.end)):
        last = joined[-1] if joined and joined[-1].text_id == piece.text_id else None
        if last is not None and not texts[piece.text_id].cut(last.end, piece.start).strip():
            joined[-1] = replace(last, end=max(last.end, piece.end), score=max(last.score, piece.score))
        else:
            joined.append(piece)
    return [_stretch(piece, texts, count) for piece in joined]


def _stretch(piece: Piece, texts: Mapping[str, Text], count: Count) -> Stretch:
    text = texts[piece.text_id].cut(piece.start, piece.end)
    tokens = count(text) + (count(piece.heading) if piece.heading else 0)
    return Stretch(piece.text_id, piece.start, piece.end, piece.score, piece.heading, text, tokens)


def _narrowed(piece: Piece, texts: Mapping[str, Text], most: int, count: Count) -> list[Stretch]:
    """Of a piece as many words around its place as fit, without its heading; nothing where not one does."""
    text = texts[piece.text_id].cut(piece.start, piece.end)
    place = piece.place[0] - piece.start, piece.place[1] - piece.start
    fitting: list[Stretch] = []
    for start, end in _growing([word.span() for word in _WORD.finditer(text)], *place):
        tokens = count(text[start:end])
        if tokens > most:
            break
        begin = piece.start + start
        fitting = [Stretch(piece.text_id, begin, piece.start + end, piece.score, "", text[start:end], tokens)]
    return fitting


def _growing(words: Sequence[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Stretches of whole words, each with the one before in it: a place to its end, then more on both sides."""
    first = last = next((at for at, (_, behind) in enumerate(words) if behind > start), len(words) - 1)
    if not words:
        return
    yield words[first][0], words[last][1]
    while last + 1 < len(words) and words[last + 1][0] < end:
        last += 1
        yield words[first][0], words[last][1]
    while first > 0 or last + 1 < len(words):
        if last + 1 < len(words):
            last += 1
            yield words[first][0], words[last][1]
        if first > 0:
            first -= 1
            yield words[first][0], words[last][1]
