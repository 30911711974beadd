"""What a line of a PDF page looks like by itself: text, a heading, an item, a caption, a note, a row of a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum


class Line(StrEnum):
    """What a line (or the block that it opens) is."""

    TEXT = "text"
    HEADING = "heading"
    ITEM = "item"
    CAPTION = "caption"
    NOTE = "note"
    ROW = "row"
    LABEL = "label"
    """Bits of formulas and of figures that are not told: single symbols, numbers."""
    FIGURE = "figure"
    """Text inside a picture."""


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
    """What each line is; three or more lines of a name and a number in a row are a table, one or two are anything."""
    kinds = [classify(line) for line in lines]
    run: list[int] = []
    for index, line in enumerate([*lines, ""]):
        tokens = line.split()
        if len(tokens) == 2 and tokens[0][0].isalpha() and NUMERIC.fullmatch(tokens[1]) and not line.endswith("."):
            run.append(index)
            continue
        if len(run) >= MIN_PAIRS:
            for pair in run:
                kinds[pair] = Line.ROW
        run = []
    return kinds


def is_row(tokens: Sequence[str]) -> bool:
    """Whether a line reads like a row of a table: at least three cells, half of them numbers, no sentence."""
    if len(tokens) < 3 or len(tokens) > 40:
        return False
    numeric = sum(1 for token in tokens if NUMERIC.fullmatch(token))
    return numeric >= 2 and numeric * 2 >= len(tokens)


def has_ended(text: str) -> bool:
    """Whether the text ends as a sentence does, footnote marks aside."""
    return bool(TERMINAL.search(text[-8:]))
