"""What a line of a PDF page looks like by itself: text, a heading, an item, a caption, a note, a row of a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from thresher.text.terms import STOP_WORDS


class Line(StrEnum):
    """What a line (or the block that it opens) is."""

    TEXT = "text"
    HEADING = "heading"
    ITEM = "item"
    CAPTION = "caption"
    NOTE = "note"
    ROW = "row"
    LABEL = "label"  # bits of formulas and of figures that are left out: single symbols, numbers
    FIGURE = "figure"  # text inside a picture


MIN_PAIRS = 3

SECTION_NAMES = (
    "abstract|introduction|background|related works?|methods?|methodology|experiments?|experimental setup|results|"
    "discussion|conclusions?|limitations|references|bibliography|acknowledge?ments?|appendix|appendices|contents|"
    "table of contents|broader impacts?|ethics statement|supplementary materials?|keywords"
)
HEADING = re.compile(
    rf"(?:(?:\d{{1,2}}|[A-Z]|[IVX]{{1,4}})(?:\.\d{{1,2}}){{0,3}}\.?\s+)?(?:{SECTION_NAMES})\s*:?", re.IGNORECASE
)
NUMBERED_HEADING = re.compile(
    r"(?:\d{1,2}|[A-Z])(?:\.\d{1,2}){0,3}\.?\s+(?=[(“\"‘]?(?:[A-Z][A-Za-z]{2}|An? ))(?!.*[.;,]$)(?!.*[=∑∫≤≥∈]).{2,90}"
)
BULLET = re.compile(r"[•‣◦▪●■◆○–*·➢✓]\s+\S|-\s+[A-Z]")
NUMBERED_ITEM = re.compile(r"(?:\[\d{1,3}\]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})\)|\d{1,2}[.:])\s+\S")
CAPTION = re.compile(
    r"(?:Figure|Fig\.|Table|Algorithm|Listing|Chart|Exhibit)\s?[A-Z]?\.?\d{1,3}(?:\.\d+)?\s?[:.|–-]|Algorithm \d",
    re.IGNORECASE,
)
NOTE = re.compile(
    r"(?:\d{1,2}(?=[A-Z](?!D\b)[A-Za-z]|https?:|[“(][A-Z])|[∗†‡§¶*]+\s?(?=[A-Z][a-z])|Permission to make digital).{12,}"
)
NUMERIC = re.compile(r"[(\[<>~≈±+−-]?\$?\d[\d.,/×x%±()\[\]*†kKMGB°–−-]*|[-–—✓✗×·↑↓]+")
TERMINAL = re.compile(r"[.!?:。][”’\"')\]]*\d{0,2}$")
YEAR = re.compile(r"\(?(?:19|20)\d\d[a-z]?\)")
DIGIT = re.compile(r"\d")
WORD = re.compile(r"[^\W\d_]{2,}")
LOWER_WORD = re.compile(r"[a-zß-öø-ÿ]{3,}")


def classify(line: str) -> Line:
    """What the line looks like by itself."""
    tokens = line.split()
    if HEADING.fullmatch(line):
        return Line.HEADING
    if CAPTION.match(line):
        return Line.CAPTION
    if is_row(tokens):
        return Line.ROW
    if BULLET.match(line) or NUMBERED_ITEM.match(line):
        return Line.ITEM
    if NOTE.match(line):
        return Line.NOTE
    if NUMBERED_HEADING.fullmatch(line) and len(tokens) <= 14:
        return Line.HEADING
    if len(tokens) <= 3 and not LOWER_WORD.search(line) and not YEAR.match(line):
        return Line.LABEL
    return Line.TEXT


def classify_all(lines: Sequence[str]) -> list[Line]:
    """What each line is; three or more lines of a name and a number in a row are a table, one or two are anything.

    So are three lines of a name of several words and two numbers, or rows among which they stand.
    """
    kinds = [classify(line) for line in lines]
    for first, last in stretches([_is_pair(line) for line in lines]):
        if last - first + 1 >= MIN_PAIRS:
            kinds[first : last + 1] = [Line.ROW] * (last - first + 1)
    rows = [kind is Line.ROW or _has_cells(line, kind) for line, kind in zip(lines, kinds, strict=True)]
    for first, last in stretches(rows):
        if last - first + 1 >= MIN_PAIRS:
            kinds[first : last + 1] = [Line.ROW] * (last - first + 1)
    return kinds


def stretches(holds: Sequence[bool]) -> list[tuple[int, int]]:
    """First and last index of each longest stretch for which it holds, in order."""
    found: list[tuple[int, int]] = []
    for index, one in enumerate(holds):
        if one and found and found[-1][1] == index - 1:
            found[-1] = (found[-1][0], index)
        elif one:
            found.append((index, index))
    return found


def _is_pair(line: str) -> bool:
    tokens = line.split()
    named = len(tokens) == 2 and tokens[0][0].isalpha()
    return named and NUMERIC.fullmatch(tokens[1]) is not None and not line.endswith(".")


def _has_cells(line: str, kind: Line) -> bool:
    """Whether a line has two numbers next to each other and reads like no sentence.

    Three such lines in a row are a table: of 93 lines of 39 papers that are rows by this alone none is a sentence.
    """
    if kind in (Line.CAPTION, Line.ROW) or line.endswith(tuple(".!?:;,")) or len(DIGIT.findall(line)) < 2:
        return False
    tokens = line.split()
    digits = [DIGIT.search(token) is not None for token in tokens]
    numbers = [NUMERIC.fullmatch(token) is not None for token in tokens]
    filled = (sum(digits[first : last + 1]) for first, last in stretches(numbers))
    return any(count >= 2 for count in filled) and function_words(line) <= 1 and WORD.search(line) is not None


def function_words(line: str) -> int:
    """How many of its words are small words of sentences: of, the, is."""
    return sum(word.lower() in STOP_WORDS for word in WORD.findall(line))


def is_row(tokens: Sequence[str]) -> bool:
    """Whether a line reads like a row of a table: at least three cells, half of them numbers, no sentence."""
    if len(tokens) < 3 or len(tokens) > 40:
        return False
    numeric = sum(1 for token in tokens if NUMERIC.fullmatch(token))
    return numeric >= 2 and numeric * 2 >= len(tokens)


def has_ended(text: str) -> bool:
    """Whether the text ends as a sentence does, footnote marks aside."""
    return bool(TERMINAL.search(text[-8:]))
