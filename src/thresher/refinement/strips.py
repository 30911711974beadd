"""Decomposition: a hit to its strips, the pieces that are judged one by one (CRAG, section 4.4; Z8 in docs/methods.md).

A strip is a span of the hit's text: every judged, kept or quoted strip can be found in the document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from typing import TypeVar

from thresher.text.sentences import Span, line_spans, sentence_spans, trim
from thresher.types import Evidence, Hit, Score

Decomposition = Callable[[Hit], list[Span]]
"""Spans within the text of a hit's chunk, in order, none of them empty or blank."""

WINDOW_WORDS = 50
TAIL_WORDS = 10
"""The released code of CRAG, mode `word_num`: windows of 50 words, a tail of fewer than 10 goes to the one before."""

GLUED_WORDS = 5
GROUP_PIECES = 3
"""The released code of CRAG, mode `excerption`."""

_TOKEN = re.compile(r"\S+")
_SENTENCE_BREAK = re.compile(r"\?|\. ")
# Scripts written without spaces have no words to count: each of their characters counts as one.
_WORD = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]|[^\\W_]+(?:[-'’.][^\\W_]+)*")


def sentences(hit: Hit) -> list[Span]:
    """Sentences of running text, rows of a table."""
    cut = line_spans if hit.chunk.kind == "table" else sentence_spans
    return cut(hit.chunk.text)


def fixed_num(hit: Hit, words: int = WINDOW_WORDS, tail: int = TAIL_WORDS) -> list[Span]:
    """Windows of `words` words; a last one of fewer than `tail` words is merged into the one before."""
    tokens = [token.span() for token in _TOKEN.finditer(hit.chunk.text)]
    begins = list(range(0, len(tokens), words))
    if len(begins) > 1 and len(tokens) - begins[-1] < tail:
        begins.pop()
    return [(tokens[begin][0], tokens[after - 1][1]) for begin, after in pairwise([*begins, len(tokens)]) if tokens]


def excerption(hit: Hit) -> list[Span]:
    """Pieces between question marks and full stops, in groups of three.

    A piece of at most 5 words belongs to the one before, a piece that was there already is left out. It ends its group,
    where the released code joins what stands on both sides of it: a strip of ours is one stretch of the text.
    """
    text = hit.chunk.text
    groups: list[list[Span]] = [[]]
    seen: list[str] = []
    breaks = [found.end() for found in _SENTENCE_BREAK.finditer(text)]  # a break belongs to the piece it ends
    for start, end in _inked(text, [0, *breaks, len(text)]):
        piece = text[start:end]
        if piece in seen:
            groups.append([])
        elif groups[-1] and len(piece.split()) <= GLUED_WORDS:
            groups[-1][-1] = (groups[-1][-1][0], end)
        else:
            if len(groups[-1]) == GROUP_PIECES:
                groups.append([])
            groups[-1].append((start, end))
            seen.append(piece)
    return [(group[0][0], group[-1][1]) for group in groups if group]


def selection(hit: Hit) -> list[Span]:
    """The whole passage: strips are chosen, none is cut (the default of CRAG's run script)."""
    return _inked(hit.chunk.text, [0, len(hit.chunk.text)])


DECOMPOSITIONS: Mapping[str, Decomposition] = {
    "sentences": sentences,
    "fixed_num": fixed_num,
    "excerption": excerption,
    "selection": selection,
}
"""By the name that settings give them."""


def _inked(text: str, cuts: Sequence[int]) -> list[Span]:
    """What lies between the cuts, without white space at its ends; blank pieces are left out."""
    spans = (trim(text, start, end) for start, end in pairwise(cuts))
    return [span for span in spans if span[0] < span[1]]


def strip_hit(hit: Hit, span: Span) -> Hit:
    """The strip as a hit of its own, without its chunk's scores; its id is a hash of the chunk's id and the span."""
    chunk = hit.chunk
    start, end = span
    id_ = sha256(f"{chunk.id}:{start}:{end}".encode()).hexdigest()[:24]
    strip = replace(
        chunk,
        id=id_,
        parent_id=chunk.id,
        level="subchunk",
        start=chunk.start + start,
        end=chunk.start + end,
        text=chunk.text[start:end],
    )
    return replace(hit, chunk=strip, scores={})


def word_count(text: str) -> int:
    """Words of a text: runs of letters and digits; marks and rules are none."""
    return len(_WORD.findall(text))


Item = TypeVar("Item")

STRIP = "strip"
"""Name under which a hit of the evidence carries the score of its strip."""


def document_order(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Documents in the order they first come in, the pieces of each as they stand in it."""
    first: dict[str, int] = {}
    for piece in evidence:
        first.setdefault(piece.hit.chunk.document_id, len(first))
    return sorted(evidence, key=lambda piece: (first[piece.hit.chunk.document_id], piece.start, piece.end))


def edge_order(best_first: Sequence[Item]) -> list[Item]:
    """The best at both ends, the worst in the middle, where readers attend least (Y16 in docs/methods.md)."""
    return [*best_first[0::2], *reversed(best_first[1::2])]


def descending(score: Score | None) -> float:
    """Sorts the best first and what has no score last."""
    return float("inf") if score is None else -score.value
