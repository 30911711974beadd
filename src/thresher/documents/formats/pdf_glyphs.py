"""Where the characters and the ruled lines of a PDF's pages lie.

kreuzberg gives the text of PDFium without places. The library has them, so it is asked itself, by `ctypes`; its
characters are those of kreuzberg's text in the same order, which gives a place to each character of the text.
"""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Generator
from functools import cached_property
from pathlib import Path
from typing import Any

from thresher.documents.formats.pdf_struck import Box, struck_runs

_POINTER, _INT, _DOUBLE, _FLOAT = ctypes.c_void_p, ctypes.c_int, ctypes.c_double, ctypes.c_float
_TO = ctypes.POINTER
_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "FPDF_InitLibrary": (None,),
    "FPDF_LoadMemDocument": (_POINTER, ctypes.c_char_p, _INT, ctypes.c_char_p),
    "FPDF_CloseDocument": (None, _POINTER),
    "FPDF_GetPageCount": (_INT, _POINTER),
    "FPDF_LoadPage": (_POINTER, _POINTER, _INT),
    "FPDF_ClosePage": (None, _POINTER),
    "FPDFText_LoadPage": (_POINTER, _POINTER),
    "FPDFText_ClosePage": (None, _POINTER),
    "FPDFText_CountChars": (_INT, _POINTER),
    "FPDFText_GetText": (_INT, _POINTER, _INT, _INT, _POINTER),
    "FPDFText_GetUnicode": (ctypes.c_uint, _POINTER, _INT),
    "FPDFText_GetFontSize": (_DOUBLE, _POINTER, _INT),
    "FPDFText_GetFontInfo": (ctypes.c_ulong, _POINTER, _INT, ctypes.c_char_p, ctypes.c_ulong, _TO(_INT)),
    "FPDFText_GetMatrix": (_INT, _POINTER, _INT, _TO(_FLOAT)),
    "FPDFText_GetCharOrigin": (_INT, _POINTER, _INT, _TO(_DOUBLE), _TO(_DOUBLE)),
    "FPDFText_GetLooseCharBox": (_INT, _POINTER, _INT, _TO(_FLOAT)),
    "FPDFPage_CountObjects": (_INT, _POINTER),
    "FPDFPage_GetObject": (_POINTER, _POINTER, _INT),
    "FPDFPageObj_GetType": (_INT, _POINTER),
    "FPDFPageObj_GetBounds": (_INT, _POINTER, *[_TO(_FLOAT)] * 4),
    "FPDFPageObj_GetFillColor": (_INT, _POINTER, *[_TO(ctypes.c_uint)] * 4),
    "FPDFPage_GetAnnotCount": (_INT, _POINTER),
    "FPDFPage_GetAnnot": (_POINTER, _POINTER, _INT),
    "FPDFPage_CloseAnnot": (None, _POINTER),
    "FPDFAnnot_GetSubtype": (_INT, _POINTER),
    "FPDFPath_CountSegments": (_INT, _POINTER),
    "FPDFPath_GetDrawMode": (_INT, _POINTER, _TO(_INT), _TO(_INT)),
}
"""What is used of the library: what each function returns, and what it takes."""
_NO_SHAPE = re.compile("[\\s\0-\x1f\x7f-\x9f\u00ad\ufffe]+")
"""What kreuzberg writes otherwise than PDFium: space, and signs without a shape."""
_SHAPE = re.compile("[^\\s\0-\x1f\x7f-\x9f\u00ad\ufffe]")


WRITTEN = (3, 20)  # types of annotations: text over the page, a field of a form
PATH = 2  # the type of an object that is drawn
THIN = 3.0  # points; what is drawn thinner is a line
SHORTEST_LINE = 5.0  # points
MOST_OBJECTS = 20_000  # of a page; one with more is a drawing
LONGEST_NAME = 128  # bytes, of a font
SAMPLE = 40  # characters that tell which way the text of a page runs


class Glyphs:
    """The characters of one page, in the order of its text.

    Places are in points from the left and the bottom, turned so that most lines run from left to right.
    """

    def __init__(self, library: Any, page: int, text: int) -> None:
        self._library, self._page, self._text = library, page, text

    @cached_property
    def characters(self) -> str:
        """All of them as UTF-16 has them, with the spaces and line ends that PDFium adds."""
        count = self._library.FPDFText_CountChars(self._text)
        units = (ctypes.c_uint16 * (count + 1))()
        if self._library.FPDFText_GetText(self._text, 0, count, units) == count + 1:
            return "".join(map(chr, units[:count]))
        return "".join([chr(self._library.FPDFText_GetUnicode(self._text, at) & 0xFFFF) for at in range(count)])

    @property
    def has_written(self) -> bool:
        """Whether the page has fields of a form, or text written over it."""
        library, page, found = self._library, self._page, False
        for index in range(library.FPDFPage_GetAnnotCount(page)):
            note = library.FPDFPage_GetAnnot(page, index)
            found |= library.FPDFAnnot_GetSubtype(note) in WRITTEN
            library.FPDFPage_CloseAnnot(note)
        return found

    @cached_property
    def boxes(self) -> dict[int, Box]:
        """The place of each character with a shape: as wide as it is set, from its base line as tall as its font."""
        found: dict[int, Box] = {}
        read, text, box = self._library.FPDFText_GetLooseCharBox, self._text, (_FLOAT * 4)()
        origin, x, y = self._library.FPDFText_GetCharOrigin, _DOUBLE(), _DOUBLE()
        for at, one in enumerate(self.characters):
            if one > " " and not one.isspace() and read(text, at, box):
                origin(text, at, x, y)
                left, bottom, right, top = self._turned(box[0], box[3], box[2], box[1])
                base = self._turned(x.value, y.value, x.value, y.value)[1]
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
        library, page, found = self._library, self._page, list[Box]()
        for index in range(min(library.FPDFPage_CountObjects(page), MOST_OBJECTS)):
            drawn = library.FPDFPage_GetObject(page, index)
            if library.FPDFPageObj_GetType(drawn) == PATH:
                found += _sides(library, drawn)
        return [self._turned(*line) for line in found]

    @cached_property
    def _turn(self) -> tuple[int, int]:
        """The way that most of a few characters run, as steps to the right and up."""
        matrix, ways = (_FLOAT * 6)(), Counter[tuple[int, int]]()
        for at in range(0, len(self.characters), len(self.characters) // SAMPLE + 1):
            if self.characters[at] > " " and self._library.FPDFText_GetMatrix(self._text, at, matrix):
                across, up = matrix[0], matrix[1]
                ways[(0, 1 if up > 0 else -1) if abs(up) > abs(across) else (1 if across >= 0 else -1, 0)] += 1
        return ways.most_common(1)[0][0] if ways else (1, 0)

    def _turned(self, left: float, bottom: float, right: float, top: float) -> Box:
        match self._turn:
            case (0, 1):
                return bottom, -right, top, -left
            case (0, -1):
                return -top, left, -bottom, right
            case (-1, 0):
                return -right, -top, -left, -bottom
        return left, bottom, right, top

    def origin(self, at: int) -> tuple[float, float]:
        """Where a character stands on its base line."""
        x, y = _DOUBLE(), _DOUBLE()
        self._library.FPDFText_GetCharOrigin(self._text, at, x, y)
        return x.value, y.value

    def size(self, at: int) -> float:
        """How large a character is set."""
        matrix = (_FLOAT * 6)()
        self._library.FPDFText_GetMatrix(self._text, at, matrix)
        return float(self._library.FPDFText_GetFontSize(self._text, at) * (matrix[2] ** 2 + matrix[3] ** 2) ** 0.5)

    def font(self, at: int) -> str:
        """The name of its font."""
        name, flags = ctypes.create_string_buffer(LONGEST_NAME), _INT()
        self._library.FPDFText_GetFontInfo(self._text, at, name, LONGEST_NAME, flags)
        return name.value.decode("utf-8", "replace")

    def positions(self, text: str) -> dict[int, int] | None:
        """Where each character with a shape stands in kreuzberg's text of the page; None where the two differ."""
        if _NO_SHAPE.sub("", text).translate(_UNITS) != _NO_SHAPE.sub("", self.characters):
            return None
        placed: list[int] = []
        for found in _SHAPE.finditer(text):
            placed += [found.start()] * (1 if found[0] <= "\uffff" else 2)
        return dict(zip((found.start() for found in _SHAPE.finditer(self.characters)), placed, strict=True))


class _Units(dict[int, str]):
    """Characters beyond U+FFFF as UTF-16 has them: two each."""

    def __missing__(self, code: int) -> str:
        if code <= 0xFFFF:
            return chr(code)
        high, low = divmod(code - 0x10000, 0x400)
        return chr(0xD800 + high) + chr(0xDC00 + low)


_UNITS = _Units()


def _sides(library: Any, drawn: int) -> list[Box]:
    """The line that a path is, or the four sides of the box; nothing of other shapes, and of white boxes."""
    ends = [_FLOAT() for _ in range(4)]
    library.FPDFPageObj_GetBounds(drawn, *ends)
    left, bottom, right, top = (end.value for end in ends)
    middle, height = (left + right) / 2, (bottom + top) / 2
    if top - bottom <= THIN:
        return [(left, height, right, height)] if right - left >= SHORTEST_LINE else []
    if right - left <= THIN:
        return [(middle, bottom, middle, top)] if top - bottom >= SHORTEST_LINE else []
    if library.FPDFPath_CountSegments(drawn) not in (4, 5):
        return []
    fill, stroke, colours = _INT(), _INT(), [ctypes.c_uint() for _ in range(4)]
    library.FPDFPath_GetDrawMode(drawn, fill, stroke)
    library.FPDFPageObj_GetFillColor(drawn, *colours)
    if not stroke.value and all(colour.value == 255 for colour in colours[:3]):
        return []
    corners = (
        (left, bottom, right, bottom),
        (left, top, right, top),
        (left, bottom, left, top),
        (right, bottom, right, top),
    )
    return list(corners)


_library: Any = None


def bind(folder: Path) -> None:
    """Use the library that kreuzberg has unpacked below a folder and loaded; without one no page has glyphs."""
    global _library
    for path in folder.glob("kreuzberg-pdfium/*pdfium*"):
        library = ctypes.CDLL(str(path))
        for name, (returned, *taken) in _SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = returned, taken
        _library = library


def glyphs_of(data: bytes) -> Generator[Glyphs]:
    """The glyphs of each page of a PDF in order; those of one page are gone when the next one is asked for."""
    if _library is None:
        return
    _library.FPDF_InitLibrary()
    document = _library.FPDF_LoadMemDocument(data, len(data), None)
    if not document:
        return
    try:
        for index in range(_library.FPDF_GetPageCount(document)):
            page = _library.FPDF_LoadPage(document, index)
            text = page and _library.FPDFText_LoadPage(page)
            try:
                yield Glyphs(_library, page, text)
            finally:
                _library.FPDFText_ClosePage(text)
                _library.FPDF_ClosePage(page)
    finally:
        _library.FPDF_CloseDocument(document)
