"""Lines of a page to paragraphs: sentences come out whole, headings, list items and table rows keep their lines.

PDF text has line breaks where the page had them and no blank lines, so every break is decided on its own: by what the
next line looks like, whether this line is full, and whether its sentence has ended.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from thresher.documents.cleaning import BREAK, HEAD, PLAIN, WORD, join_broken_word
from thresher.documents.formats.pdf.lines import (
    HEADING,
    LOWER_WORD,
    MIN_PAIRS,
    Line,
    classify_all,
    figure_lines,
    has_ended,
)


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, or one line that stands on its own."""

    kind: Line
    text: str
    open: bool = False  # the last sentence has not ended: it may go on on the next page


FULL_SHARE = 0.8  # of the width around it; justified lines of one column vary by about a tenth in characters
SHORTER_SHARE = 0.7  # of the line that follows
WINDOW = 6  # lines on either side that tell how wide the column is here
MIN_WIDTH = 20  # characters; anything narrower is a label
MAX_GAP = 8  # lines of formula bits inside one sentence
MOST_COLUMN_NAMES = 12  # more words with capitals are a sentence of names

ABBREVIATION = re.compile(r"\b(?:al|i\.e|e\.g|vs|cf|[Ff]igs?|[Ee]qs?|[Ss]ec|resp|approx|ca|no|pp?)\.$")
BROKEN = re.compile(rf"[^\W\d_][{BREAK}\-‐]$")
URL_START = re.compile(r"https?://|www\.")
URL_JOINTS = "/_=&?.-"  # where an address is broken at a line end
FIELD = re.compile(r"[A-Z][\w/-]*(?: [\w/-]+){0,3}: \S")  # a line of a form


def widths(lines: Sequence[str]) -> list[int]:
    """How many characters a full line has around each line.

    The upper quartile of the lines before it or of those after it, the smaller: next to a caption over two columns
    the column's own lines count.
    """
    lengths = [len(line) for line in lines]

    def typical(near: Sequence[int]) -> int:
        near = sorted(length for length in near if length >= MIN_WIDTH)
        return near[(len(near) * 3) // 4] if near else MIN_WIDTH

    return [
        max(min(typical(lengths[max(0, i - WINDOW) : i + 1]), typical(lengths[i : i + WINDOW + 1])), MIN_WIDTH)
        for i in range(len(lines))
    ]


def join_lines(left: str, right: str, words: Mapping[str, int]) -> str:
    """Two lines of one paragraph as one, with the word between them whole."""
    if left.endswith(BREAK) or (BROKEN.fullmatch(left[-2:]) and right[:1].isalnum()):
        stem, _, broken = left[:-1].rpartition(" ")
        rest, space, tail = right.partition(" ")
        word = f"{broken}-{rest}" if "://" in broken else join_broken_word(broken, rest, words)
        return f"{stem} {word}{space}{tail}".strip() if stem else f"{word}{space}{tail}".strip()
    if left.endswith("-") and left[-2:-1].isdigit() and right[:1].isalnum():
        return left + right
    url = left[-1:] in URL_JOINTS and _ends_in_url(left) and not right[:1].isupper()
    return left + right if url else f"{left} {right}"


def _ends_in_url(text: str) -> bool:
    word = text.rpartition(" ")[2]
    start = URL_START.search(word)
    return start is not None and start.end() < len(word)


def _whole(row: str, words: Mapping[str, int]) -> str:
    """A row of cells with the words that are broken in them whole."""
    return re.sub(rf"(\S+){BREAK} ?(\S+)", lambda found: join_broken_word(found[1], found[2], words), row)


def tidy(lines: Sequence[str]) -> list[str]:
    """The lines that hold something, with single spaces and short rows of dots."""
    lines = [" ".join(line.split()) for line in lines]
    return [re.sub(r"(?:\s?\.){5,}", " ...", line) for line in lines if line]


def reflow(lines: Sequence[str], words: Mapping[str, int], *, form: bool = False) -> list[Block]:
    """The blocks of one page, in order; of a `form` two lines of fields are two blocks."""
    lines = tidy(lines)
    kinds = classify_all(lines)
    marked = zip(lines, kinds, strict=True)
    lines = [_whole(line, words) if kind is Line.CELLS else line.lstrip(HEAD + PLAIN) for line, kind in marked]
    figures = {run.first: run.last for run in figure_lines(lines, kinds)}
    for first, last in figures.items():
        kinds[first : last + 1] = [Line.FIGURE] * (last - first + 1)
    width = widths(["" if kind is Line.CELLS else line for line, kind in zip(lines, kinds, strict=True)])
    blocks: list[Block] = []
    index = 0
    while index < len(lines):
        if index in figures:
            last = figures[index]
            blocks.append(Block(Line.FIGURE, "\n".join(lines[index : last + 1])))
            index = last + 1
            continue
        kind, text, last = kinds[index], lines[index], index
        if kind in (Line.TEXT, Line.ITEM, Line.CAPTION, Line.NOTE, Line.HEADING):
            following = _next_of_paragraph(lines, kinds, width, index, last, kind, words, form=form)
            while following is not None:
                for step in range(last + 1, following + 1):
                    text = join_lines(text, lines[step], words)
                last = following
                if kind is Line.HEADING and len(lines[last]) >= FULL_SHARE * width[last]:
                    kind = Line.TEXT
                following = _next_of_paragraph(lines, kinds, width, index, last, kind, words, form=form)
        is_open = kind not in (Line.HEADING, Line.ROW, Line.CELLS, Line.LABEL) and not has_ended(text)
        full = last > index or len(lines[last]) >= FULL_SHARE * width[last]
        blocks.append(Block(kind, text, open=is_open and full))
        index = last + 1
    return blocks


def _next_of_paragraph(
    lines: Sequence[str],
    kinds: Sequence[Line],
    width: Sequence[int],
    first: int,
    last: int,
    kind: Line,
    words: Mapping[str, int],
    *,
    form: bool,
) -> int | None:
    """Index of the line that goes on where `last` ends, past bits of a formula; None where the block is complete."""
    following = last + 1
    if following >= len(lines) or kinds[following] in (Line.FIGURE, Line.CELLS):
        return None
    if kinds[last] is Line.LABEL:
        return None  # the last word of a paragraph, alone on its line
    if kinds[following : following + MIN_PAIRS] == [Line.ROW] * MIN_PAIRS:
        return None  # a table begins, however much its first row looks like text
    here, after = lines[last], lines[following]
    # A line much shorter than the next is not full, whatever the lines around the two say.
    full = len(here) >= max(FULL_SHARE * width[last], SHORTER_SHARE * len(after))
    ended = has_ended(here) or (after[:1].isupper() and _ends_in_url(here))
    if BROKEN.fullmatch(here[-2:]):
        return following if _completes_word(here, after, words) else None
    if kind is Line.HEADING:
        # A sentence that only looked like a heading ("3 GPUs were used ..."): full, and it goes on in lower case.
        return following if full and after[:1].islower() and kinds[following] is Line.TEXT else None
    if form and FIELD.match(here) and FIELD.match(after):
        return None
    if kinds[following] is Line.TEXT:
        table_follows = kinds[following + 1 : following + 3] == [Line.ROW, Line.ROW] and _names_columns(after)
        if table_follows and (kind is Line.CAPTION or _is_prose(Block(kind, here))):
            return None
        if ended:
            names_columns = Line.ROW in kinds[following + 1 : following + 3] and not has_ended(after)
            # Under a caption or a footnote the text of the page begins again; better cut these than run into it.
            next_is_new = kind in (Line.CAPTION, Line.NOTE) and not ABBREVIATION.search(here)
            return following if full and not names_columns and not next_is_new else None
        goes_on = full or after[:1].islower() or (last > first and len(after) > MIN_WIDTH)
        return following if goes_on else None
    if ended or not (full or last > first):
        return None
    if kinds[following] is Line.LABEL:
        if full and LAST_WORD.fullmatch(after) and _is_prose(Block(kind, here)):
            return following
        return _past_formula(lines, kinds, following)
    return following if full and _only_looks_like(kinds[following], after) else None


def _names_columns(line: str) -> bool:
    """Whether a line above a row of a table names its columns: a few words with capitals and no sentence."""
    tokens = line.split()
    capitals = sum(token[:1].isupper() for token in tokens)
    return 2 <= len(tokens) <= MOST_COLUMN_NAMES and tokens[0][:1].isupper() and capitals * 4 >= len(tokens) * 3


def _completes_word(here: str, after: str, words: Mapping[str, int]) -> bool:
    """Whether a word broken at the end of a line goes on in the next; a capital does where the compound is known."""
    if after[:1].islower():
        return True
    broken, rest = WORD.findall(here[:-1])[-1:], WORD.match(after)
    if rest is None:
        return re.match(r"\d+\b", after) is not None
    return bool(broken) and f"{broken[0]}-{rest[0]}".lower() in words


def _only_looks_like(kind: Line, line: str) -> bool:
    """A line inside a sentence that happens to begin like an item, a note or a heading."""
    if kind is Line.ITEM:
        return bool(re.match(r"\[\d|\(\d|\d{1,2}\.\s|\(?[a-z]{1,4}\)", line))
    if kind is Line.ROW:
        return len(LOWER_WORD.findall(line)) >= 3
    return kind is Line.HEADING and not HEADING.fullmatch(line) and len(line.split()) > 5


def _past_formula(lines: Sequence[str], kinds: Sequence[Line], start: int) -> int | None:
    """The line after a few formula bits, if the sentence goes on there."""
    for index in range(start, min(start + MAX_GAP, len(lines))):
        if kinds[index] is Line.LABEL:
            continue
        goes_on = kinds[index] is Line.TEXT and (lines[index][:1].islower() or lines[index][:1] in ",.;)=")
        return index if goes_on else None
    return None


# --- reading order ----------------------------------------------------------------------------------------------------

FLOATS = (Line.NOTE, Line.LABEL, Line.ROW, Line.CELLS, Line.CAPTION, Line.FIGURE)
LABEL_CHARACTERS = 60  # a shorter block without a full stop is a label of a figure
PROSE_SHARE = 0.4  # of words in lower case; English sentences have some 0.8, labels of figures next to none
LAST_WORD = re.compile(r"(?:[^\W\d]{2,}|\d{2,})\.")  # alone on the last line of a paragraph: "2019.", "Leeds."
MAX_FLOATS = 80  # blocks between the two halves of a sentence; a figure has up to some 60 labels


def is_float(block: Block) -> bool:
    """Whether the block may stand between two halves of a sentence: a footnote, a caption, a piece of a figure."""
    if block.kind is not Line.TEXT:
        return block.kind in FLOATS
    if block.text[:1].islower() and has_ended(block.text):
        return False
    return len(block.text) < LABEL_CHARACTERS or not _is_prose(block)


def _is_prose(block: Block) -> bool:
    tokens = block.text.split()
    return sum(1 for token in tokens if token[:1].islower()) >= PROSE_SHARE * len(tokens)


def goes_on_with(before: Block, block: Block) -> bool:
    """Whether the block is the second half of a sentence that the first has left open."""
    waits = before.open and before.kind in (Line.TEXT, Line.ITEM) and _is_prose(before)
    return waits and block.kind is Line.TEXT and block.text[:1].islower()


def around_floats(blocks: Sequence[Block], words: Mapping[str, int]) -> list[Block]:
    """The blocks of a page with paragraphs made whole that a footnote or figure had cut in two (ends of columns)."""
    ordered = list(blocks)
    index = 0
    while index < len(ordered):
        block = ordered[index]
        step = index + 1
        while step < min(len(ordered), index + MAX_FLOATS) and is_float(ordered[step]):
            step += 1
        if step < len(ordered) and goes_on_with(block, ordered[step]):
            rest = ordered.pop(step)
            ordered[index] = Block(block.kind, join_lines(block.text, rest.text, words), open=rest.open)
        else:
            index += 1
    return ordered


def across_pages(pages: Sequence[Sequence[Block]]) -> list[list[Block]]:
    """The pages, each in an order that lets a paragraph run over the page end: floats step aside, within their page."""
    ordered = [list(page) for page in pages]
    for page, following in pairwise(ordered):
        tail = next((i for i in range(len(page) - 1, -1, -1) if not is_float(page[i])), None)
        head = next((i for i, block in enumerate(following) if not is_float(block)), None)
        if tail is not None and head is not None and goes_on_with(page[tail], following[head]):
            page.append(page.pop(tail))
            following.insert(0, following.pop(head))
    return ordered
