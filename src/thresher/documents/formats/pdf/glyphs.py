"""Where the characters and the ruled lines of a PDF's pages lie."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from ctypes import c_double, c_float, c_int, c_uint, create_string_buffer
from functools import cached_property
from typing import Any

from pypdfium2 import PdfDocument, PdfPage, PdfTextPage, raw

from thresher.documents.cleaning import BREAK
from thresher.documents.formats.pdf.struck import Box, struck_runs

THIN = 3.0  # points; what is drawn thinner is a line
SHORTEST_LINE = 5.0  # points
MOST_OBJECTS = 20_000  # of a page; one with more is a drawing
LONGEST_NAME = 128  # bytes, of a font
SAMPLE = 40  # characters that tell which way the text of a page runs


class Glyphs:
    """The characters of one page, in the order of its text.

    Places are in points from the left and the bottom, turned so that most lines run from left to right.
    """

    def __init__(self, page: PdfPage, text: PdfTextPage) -> None:
        self.page, self._text = page, text.raw
        self.characters, self.numbers = _characters(text)
        self._place = c_double(), c_double()

    @cached_property
    def boxes(self) -> dict[int, Box]:
        """The place of each character with a shape: as wide as it is set, from its base line as tall as its font."""
        found: dict[int, Box] = {}
        box = raw.FS_RECTF()
        for at, one in enumerate(self.characters):
            if has_shape(one) and raw.FPDFText_GetLooseCharBox(self._text, self.numbers[at], box):
                left, bottom, right, top = self.turned(box.left, box.bottom, box.right, box.top)
                base = self.origin(at)[1]
                found[at] = left, base, right, base + top - bottom
        return found

    @cached_property
    def lines(self) -> list[Box]:
        """The straight lines of the page and the sides of its boxes, across or upright, none of any width.

        Those that strike words are none of them.
        """
        return [line for line in self._drawn if line not in self.struck]

    @cached_property
    def struck(self) -> dict[Box, tuple[int, int]]:
        """Lines that strike words, each with the first and the last character that it goes through."""
        return dict(struck_runs(self._drawn, self.boxes, self.characters)) if self._drawn else {}

    @cached_property
    def _drawn(self) -> list[Box]:
        found: list[Box] = []
        for index in range(min(raw.FPDFPage_CountObjects(self.page), MOST_OBJECTS)):
            drawn = raw.FPDFPage_GetObject(self.page, index)
            if raw.FPDFPageObj_GetType(drawn) == raw.FPDF_PAGEOBJ_PATH:
                found += _sides(drawn)
        return [self.turned(*line) for line in found]

    @cached_property
    def _turn(self) -> tuple[int, int]:
        """The way that most of a few characters run, as steps to the right and up."""
        ways = Counter[tuple[int, int]]()
        for at in range(0, len(self.characters), len(self.characters) // SAMPLE + 1):
            if has_shape(self.characters[at]):
                across, up = (matrix := self._matrix(at)).a, matrix.b
                ways[(0, 1 if up > 0 else -1) if abs(up) > abs(across) else (1 if across >= 0 else -1, 0)] += 1
        return ways.most_common(1)[0][0] if ways else (1, 0)

    def turned(self, left: float, bottom: float, right: float, top: float) -> Box:
        """A box of the page as if most lines ran from left to right."""
        match self._turn:
            case (0, 1):
                return bottom, -right, top, -left
            case (0, -1):
                return -top, left, -bottom, right
            case (-1, 0):
                return -right, -top, -left, -bottom
        return left, bottom, right, top

    def _matrix(self, at: int) -> Any:
        matrix = raw.FS_MATRIX()
        raw.FPDFText_GetMatrix(self._text, self.numbers[at], matrix)
        return matrix

    def origin(self, at: int) -> tuple[float, float]:
        """Where a character stands on its base line."""
        x, y = self._place
        raw.FPDFText_GetCharOrigin(self._text, self.numbers[at], x, y)
        return self.turned(x.value, y.value, x.value, y.value)[:2]

    def size(self, at: int) -> float:
        """How large a character is set."""
        matrix = self._matrix(at)
        return float(raw.FPDFText_GetFontSize(self._text, self.numbers[at]) * (matrix.c**2 + matrix.d**2) ** 0.5)

    def font(self, at: int) -> str:
        """The name of its font."""
        name = create_string_buffer(LONGEST_NAME)
        raw.FPDFText_GetFontInfo(self._text, self.numbers[at], name, LONGEST_NAME, c_int())
        return name.value.decode("utf-8", "replace")


def has_shape(character: str) -> bool:
    """Whether a character is no space and no control character, but for the hyphen at a line end."""
    return (character > " " or character == BREAK) and not character.isspace()


def _characters(text: PdfTextPage) -> tuple[str, list[int]]:
    """The characters within the page as UTF-16 has them, and PDFium's number of each; of a space that before it.

    The hyphen at a line end is `BREAK`; other control characters are pieces of brackets and mean nothing.
    """
    codes = [raw.FPDFText_GetUnicode(text.raw, at) for at in range(text.count_chars())]
    characters: list[str] = []
    numbers: list[int] = []
    at = -1
    for (code,) in struct.iter_unpack("<H", text.get_text_bounded().encode("utf-16-le")):
        one = chr(code)
        if not one.isspace():
            at = codes.index(code, at + 1)
        if one >= " " or one in "\r\n\t" or (one == BREAK and raw.FPDFText_IsHyphen(text.raw, at)):
            characters.append(one)
            numbers.append(at)
    return "".join(characters), numbers


def joined(units: str) -> str:
    """A text whose characters beyond U+FFFF are two each, as UTF-16 has them, with one each."""
    return units.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _sides(drawn: Any) -> list[Box]:
    """The line that a path is, or the four sides of the box; nothing of other shapes, and of white boxes."""
    ends = [c_float() for _ in range(4)]
    raw.FPDFPageObj_GetBounds(drawn, *ends)
    left, bottom, right, top = (end.value for end in ends)
    middle, height = (left + right) / 2, (bottom + top) / 2
    if top - bottom <= THIN:
        return [(left, height, right, height)] if right - left >= SHORTEST_LINE else []
    if right - left <= THIN:
        return [(middle, bottom, middle, top)] if top - bottom >= SHORTEST_LINE else []
    if raw.FPDFPath_CountSegments(drawn) not in (4, 5):
        return []
    fill, stroke, colours = c_int(), c_int(), [c_uint() for _ in range(4)]
    raw.FPDFPath_GetDrawMode(drawn, fill, stroke)
    raw.FPDFPageObj_GetFillColor(drawn, *colours)
    if not stroke.value and all(colour.value == 255 for colour in colours[:3]):
        return []
    corners = (
        (left, bottom, right, bottom),
        (left, top, right, top),
        (left, bottom, left, top),
        (right, bottom, right, top),
    )
    return list(corners)


def glyphs_of(document: PdfDocument) -> Iterator[Glyphs]:
    """The glyphs of each page in order; those of one page are gone when the next one is asked for."""
    for page in document:
        with closing(page):
            turn = page.get_rotation()
            page.set_rotation(0)  # PDFium mixes the lines of a page that is shown turned
            with closing(page.get_textpage()) as text:
                yield Glyphs(page, text)
            page.set_rotation(turn)
