"""What a line of a PDF page looks like by itself: text, a heading, an item, a caption, a note, a row of a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from thresher.documents.cleaning import FIRST_ROW, HEAD, PLAIN, ROW
from thresher.text.terms import STOP_WORDS


class Line(StrEnum):
    """What a line (or the block that it opens) is."""

    TEXT = "text"
    HEADING = "heading"
    ITEM = "item"
    CAPTION = "caption"
    NOTE = "note"
    ROW = "row"
    CELLS = "cells"  # a row of a table whose cells are known
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
    if line.startswith((FIRST_ROW, ROW)):
        return Line.CELLS
    if line.startswith(HEAD):
        return Line.HEADING
    if line.startswith(PLAIN):
        kind = classify(line[1:])
        return Line.TEXT if kind is Line.HEADING else kind
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
    if kind in (Line.CAPTION, Line.ROW, Line.CELLS) or line.endswith(tuple(".!?:;,")) or len(DIGIT.findall(line)) < 2:
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


# --- which lines of a pdf page are text inside a picture --------------------------------------------------------------


FIGURE = re.compile(r"(?:Figure|Fig\.|Chart|Exhibit)\s?[A-Z]?\.?\d", re.IGNORECASE)
PANEL = re.compile(r"\([a-z]\)(?:\s|$)")  # a line under one part of a figure
FORMULA = re.compile(r"[=∑∫∏∝∇∂∈≤≥√⊤∥]")
IN_TEXT = re.compile(r"://|^[•‣◦–-]\s.*[a-z]{3}")  # addresses and items of a list
EQUATION_NUMBER = re.compile(r"(?:^|\s)\(\d{1,2}\)$")
FORMULA_SHARE = 0.25  # of the lines of a run; in a picture one in twenty has such a sign, in a formula every other
FORMULA_LINES = 8  # of a displayed formula, up to its number
PIECE_CHARACTERS = 100  # of a line without function words; a legend of four models has some 80
PHRASE_CHARACTERS = 40
PHRASE_SHARE = 0.6  # of the width of the text; a longer line with function words is one of a paragraph
PHRASE_WORDS = 7
PROSE_LINES = 3  # phrases in a row are a narrow paragraph, as beside a figure
PROSE_CHARACTERS = 25
PROSE_WORDS = 4  # in lower case; a line with fewer does not tell how wide the text is
USUAL_WIDTH = 80  # characters, for a page without paragraphs
FEWEST_LINES = 2  # above a caption; one may be the end of a heading
BRIDGE_LINES = 12  # of sentences that stand in the picture
BRIDGE_SHARE = 0.8  # of the width of the text
BRIDGE_PIECES = 4
GAP_LINES = 2  # between the parts of a figure, or between its axes and its caption
TITLE_WORDS = 14
COLUMN_TICKS = 3  # numbers one to a line
ROW_TICKS = 4  # numbers on one line; a formula has three at times
STEPS_OFF = 0.01  # of a step; ticks are rounded
DATA_CELLS = 2  # numbers next to each other that make a line with a name a row of a table


@dataclass(frozen=True, slots=True)
class Run:
    """Lines that follow each other; `last` is the last one."""

    first: int
    last: int


def figure_lines(lines: Sequence[str], kinds: Sequence[Line]) -> list[Run]:
    """The runs of lines that stand inside pictures, in order; `kinds` is what each line looks like by itself."""
    captions = [
        kind is Line.CAPTION and FIGURE.match(line) is not None for line, kind in zip(lines, kinds, strict=True)
    ]
    if not any(captions) and sum(line[-1:].isdigit() and _value(line) is not None for line in lines) < COLUMN_TICKS:
        return []  # what most pages are, seen fast
    prose = sorted(len(line) for line in lines if len(LOWER_WORD.findall(line)) >= PROSE_WORDS)
    width = prose[len(prose) * 3 // 4] if prose else USUAL_WIDTH  # characters of a full line of a paragraph
    found: list[Run] = []
    for begin, last in reversed(stretches(_pieces(lines, kinds, width))):
        first = _without_beginning(lines, kinds, begin, last)
        run = lines[first : last + 1]
        rows, columns = _axes(run)
        signs = sum(FORMULA.search(line) is not None for line in run)
        if not run or (signs > FORMULA_SHARE * len(run) and not (rows or columns)):
            continue
        captioned = last + 1 < len(lines) and captions[last + 1] and (len(run) >= FEWEST_LINES or first == 0)
        if captioned or (rows and columns) or (any(captions) and (rows or columns)):
            found.append(Run(first, last))
        elif found and len(run) >= BRIDGE_PIECES and _is_bridge(lines, kinds, last + 1, found[-1].first, width):
            found[-1] = Run(first, found[-1].last)
    return _joined(lines, kinds, captions, found[::-1])


def _pieces(lines: Sequence[str], kinds: Sequence[Line], width: int) -> list[bool]:
    """For each line whether it may stand in a picture."""
    counts = [function_words(line) for line in lines]
    full = [False, *(len(line) > PHRASE_SHARE * width for line in lines)]  # the line above each
    pieces = [_is_piece(*each, width) for each in zip(lines, kinds, counts, full, strict=False)]
    phrases = [
        kind is not Line.CAPTION and count > 0 and len(line) >= PROSE_CHARACTERS
        for line, kind, count in zip(lines, kinds, counts, strict=True)
    ]
    for first, last in stretches(phrases):
        if last - first + 1 >= PROSE_LINES:
            pieces[first : last + 1] = [False] * (last - first + 1)
    return pieces


def _is_piece(line: str, kind: Line, small_words: int, below_full: bool, width: int) -> bool:
    """Whether a line is no caption, no row of a table, and no part of a paragraph, which ends below a full line."""
    words = len(line.split())
    if kind in (Line.CAPTION, Line.CELLS) or len(line) > PIECE_CHARACTERS or IN_TEXT.search(line) or is_data_row(line):
        return False
    if PANEL.match(line):
        return True
    ends = TERMINAL.search(line[-8:]) and WORD.search(line) and not line.endswith("..")
    if ends and (below_full or words > PHRASE_WORDS):
        return False
    if not small_words:
        return words <= PHRASE_WORDS or not line.endswith((",", ";", ":", "-"))
    return words <= PHRASE_WORDS and len(line) <= min(PHRASE_CHARACTERS, PHRASE_SHARE * width)


def is_data_row(line: str) -> bool:
    """Whether a line is a row of a table: a name, and two numbers or more next to each other that count nothing up."""
    tokens = line.split()
    if not WORD.search(line):
        return False
    for first, last in stretches([NUMERIC.fullmatch(token) is not None for token in tokens]):
        cells = tokens[first : last + 1]
        numbers = [cell for cell in cells if cell[-1].isdigit() or "." in cell or "%" in cell]
        values = [value for cell in cells if (value := _value(cell)) is not None]
        filled = len(numbers) >= DATA_CELLS or any("." in number for number in numbers)
        if len(cells) >= DATA_CELLS and filled and _progression(values) < ROW_TICKS:
            return True
    return False


def _value(text: str) -> float | None:
    """The number that a tick is: 0.5, −2, 30K, 100%."""
    try:
        return float(re.sub(r"[−–]", "-", text.rstrip("%KMBk")))
    except ValueError:
        return None


def _axes(run: Sequence[str]) -> tuple[int, int]:
    """How many axes there are among the lines: with all ticks on one line, and with one tick to a line."""
    rows = columns = 0
    column: list[float] = []
    for line in [*run, ""]:
        values = [value for token in line.split() if (value := _value(token)) is not None]
        if len(values) == len(line.split()) == 1:
            column += values
            continue
        columns += _progression(column) >= COLUMN_TICKS
        column = []
        rows += len(values) == len(line.split()) and _progression(values) >= ROW_TICKS
    return rows, columns


def _progression(values: Sequence[float]) -> int:
    """How many of the values follow each other at equal steps."""
    longest = length = min(len(values), 1)
    for index in range(1, len(values)):
        step = values[index] - values[index - 1]
        before = values[index - 1] - values[index - 2] if index > 1 else step
        equal = step != 0 and abs(step - before) <= STEPS_OFF * abs(step)
        length = length + 1 if equal and length > 1 else 1 + (step != 0)
        longest = max(longest, length)
    return longest


def _without_beginning(lines: Sequence[str], kinds: Sequence[Line], begin: int, last: int) -> int:
    """Where a run begins behind the rest of an address, a displayed formula and headings that it begins with."""
    first = begin + (begin > 0 and lines[begin - 1].endswith("/"))
    front = range(first, min(last + 1, first + FORMULA_LINES))
    numbered = next((at for at in front if EQUATION_NUMBER.search(lines[at])), None)
    if numbered is not None and any(FORMULA.search(line) for line in lines[first : numbered + 1]):
        first = numbered + 1
    while first <= last and kinds[first] is Line.HEADING:
        first += 1
    return first


def _is_bridge(lines: Sequence[str], kinds: Sequence[Line], first: int, behind: int, width: int) -> bool:
    """Whether the lines from `first` up to `behind` are a few narrow ones: sentences that stand in the picture."""
    narrow = all(len(line) <= BRIDGE_SHARE * width and not is_data_row(line) for line in lines[first:behind])
    plain = {Line.TEXT, Line.LABEL, Line.ITEM, Line.NOTE}.issuperset(kinds[first:behind])
    return behind - first <= BRIDGE_LINES and narrow and plain


def _joined(lines: Sequence[str], kinds: Sequence[Line], captions: Sequence[bool], runs: Sequence[Run]) -> list[Run]:
    """The runs with what stands between two of them, or between one and its caption: a long title of an axis."""
    joined: list[Run] = []
    for run in runs:
        if joined and _is_gap(lines, kinds, joined[-1].last + 1, run.first):
            run = Run(joined.pop().first, run.last)
        caption = next((at for at in range(run.last + 1, len(lines)) if captions[at]), None)
        if caption is not None and _is_gap(lines, kinds, run.last + 1, caption):
            run = Run(run.first, caption - 1)
        joined.append(run)
    return joined


def _is_gap(lines: Sequence[str], kinds: Sequence[Line], first: int, behind: int) -> bool:
    """Whether the lines from `first` up to `behind` are a title or two, and no sentence."""
    titles = lines[first:behind]
    plain = {Line.TEXT, Line.LABEL, Line.ITEM}.issuperset(kinds[first:behind])
    short = all(len(title.split()) <= TITLE_WORDS and not is_data_row(title) for title in titles)
    return len(titles) <= GAP_LINES and plain and short
