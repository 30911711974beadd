"""Text to sentences, with exact offsets.

sentencex does the linguistics. Around it stand four guards, each for something version 1.0 does: it panics on spaces
beyond ASCII before a full stop, it drops blank lines every 10,240 bytes, it takes quadratic time on quotation marks
that do not close, and it returns texts rather than offsets.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from operator import itemgetter

import sentencex  # type: ignore[import-untyped]

from thresher.text.language import language_of
from thresher.types import Document

Span = tuple[int, int]

VERSION = 2
"""Raised when the same text would be cut elsewhere; part of the fingerprint of chunkers that cut at sentences.

Not raised for sentence ends of other languages than English: chunks with the old ones serve as well.
"""

WINDOW_CHARACTERS = 8_000
# Read at once: sentencex takes quadratic time on unclosed quotes (7 s for 400,000 characters, 3 ms for 8,000).

_CARRIAGE_RETURN_ALONE = re.compile(r"\r(?!\n)")
_ODD_SPACE = re.compile(r"[^\S \n\t]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE = re.compile(r"[^\n]*\S[^\n]*")
_PARAGRAPH_BREAK = re.compile(r"\n\s*\n")
_DAY = (
    r"\d{4}[-/.]\d\d[-/.]\d\d|\d{1,2}[-/. ](?:\d\d?|[A-Z][a-z]{2})[-/. ]\d{2,4}"
    r"|(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ \d]\d"
)
_RECORD = re.compile(rf"^[<\[(]?(?:(?:{_DAY}),?[T: ] ?\d?\d:\d\d|\d\d:\d\d:\d\d)[^\n]*", re.MULTILINE)
"""A line of a log or a chat: it begins with a time, and mostly with a day before it."""


def sentence_spans(text: str) -> list[Span]:
    """Spans of the sentences, in order; each character that is not whitespace is in exactly one of them.

    A blank line ends a sentence; one of more than 4,000 characters may be cut at whitespace. A line that begins with a
    time, as those of a log do, is one sentence. The language is that of the text, else English.
    """
    language = language_of(text) or "en"
    plain = _plain(text)
    records = dict(record.span() for record in _RECORD.finditer(plain))
    breaks = [*(gap.span() for gap in _PARAGRAPH_BREAK.finditer(plain)), *((at, at) for at in chain(*records.items()))]
    edges = [0, *chain(*sorted(breaks)), len(plain)]
    paragraphs = zip(edges[::2], edges[1::2], strict=True)
    starts = [
        start
        for low, high in paragraphs
        for start in ([low] if low in records or high - low < 2 else _starts(plain, low, high, language))
    ]
    spans = (trim(text, start, end) for start, end in zip(starts, [*starts[1:], len(text)], strict=True))
    return [span for span in spans if span[0] < span[1]]


def line_spans(text: str) -> list[Span]:
    """Spans of the lines that hold something, without whitespace at their ends: the rows of a table."""
    return [trim(text, *line.span()) for line in _LINE.finditer(text)]


def spans_of(text: str, *, table: bool) -> list[Span]:
    """Spans of the rows of a table, of any other text those of its sentences."""
    return line_spans(text) if table else sentence_spans(text)


def touched(spans: Iterable[Span], start: int, end: int) -> Span | None:
    """From the first to the last of the spans that overlap a place; an empty place lies in the one it stands at."""
    found = [span for span in spans if span[0] < max(end, start + 1) and span[1] > start]
    return (found[0][0], found[-1][1]) if found else None


def trim(text: str, start: int, end: int) -> Span:
    """The span without whitespace at its ends; empty (start == end) where it holds nothing else."""
    piece = text[start:end]
    kept = piece.lstrip()
    start = end - len(kept)
    return start, start + len(kept.rstrip())


def _plain(text: str) -> str:
    """The text, character for character, without what sentencex cannot take."""
    return _SURROGATE.sub("\ufffd", _ODD_SPACE.sub(" ", _CARRIAGE_RETURN_ALONE.sub("\n", text)))


def _starts(text: str, low: int, high: int, language: str) -> Iterator[int]:
    """Where the sentences of one paragraph start; the last one of a window is read again with the next window."""
    while high - low > WINDOW_CHARACTERS:
        limit = low + WINDOW_CHARACTERS
        middle = low + WINDOW_CHARACTERS // 2
        limit = max(text.rfind(" ", middle, limit), text.rfind("\n", middle, limit)) + 1 or limit
        *starts, last = _window_starts(text, low, limit, language)
        yield from starts
        if last <= middle:
            yield last
            last = limit
        low = last
    yield from _window_starts(text, low, high, language)


def _window_starts(text: str, low: int, high: int, language: str) -> list[int]:
    starts = [low]
    position = low
    for sentence in _segment(text[low:high], language):
        if (found := text.find(sentence, position, high)) >= 0:
            if found > starts[-1]:
                starts.append(found)
            position = found + len(sentence)
    return starts


def _segment(text: str, language: str) -> list[str]:
    try:
        return list(sentencex.segment(language, text))
    except BaseException as error:
        # a panic of the Rust library is no Exception: unguarded, one strange character would end the whole run
        if type(error).__name__ != "PanicException":
            raise
        return [text]


def joined(spans: Iterable[Span], gap: int) -> list[Span]:
    """The spans in order, joined where at most `gap` characters lie between."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1] + gap:
            start, end = found[-1][0], max(found.pop()[1], end)
        found.append((start, end))
    return found


def widened(text: str, low: int, high: int, reach: int) -> Span:
    """A span and `reach` characters before and behind it, from the beginning of a line.

    Of a line that begins more than twice as far before it only the end is read.
    """
    low, high = max(0, low - reach), min(len(text), high + reach)
    floor = max(0, low - reach)
    return max(floor, text.rfind("\n", floor, low)), high


def without_figures(document: Document, low: int = 0, high: int | None = None) -> str:
    """A span of the text with line breaks in place of what stands in pictures, as long as it was."""
    end = len(document.text) if high is None else high
    kept, at = list[str](), low
    for start, behind in islice(document.figures, bisect_right(document.figures, low, key=itemgetter(1)), None):
        if start >= end:
            break
        start, behind = max(start, low), min(behind, end)
        kept += [document.text[at:start], "\n" * (behind - start)]
        at = behind
    return "".join([*kept, document.text[at:end]])


def between_figures(document: Document) -> Iterator[tuple[int, int]]:
    """Spans of what stands before, between and behind the pictures, in order; empty ones too."""
    ends = [0, *(end for _, end in document.figures)]
    starts = [*(start for start, _ in document.figures), len(document.text)]
    yield from zip(ends, starts, strict=True)
