"""Where the characters and the ruled lines of a PDF's pages lie.

kreuzberg gives the text of PDFium without places. The library has them, so it is asked itself, by `ctypes`; its
characters are those of kreuzberg's text in the same order, which gives a place to each character of the text.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Generator
from functools import cached_property
from pathlib import Path
from typing import Any

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
    "FPDFText_GetMatrix": (_INT, _POINTER, _INT, _TO(_FLOAT)),
    "FPDFText_GetCharOrigin": (_INT, _POINTER, _INT, _TO(_DOUBLE), _TO(_DOUBLE)),
}
"""What is used of the library: what each function returns, and what it takes."""
_NO_SHAPE = re.compile("[\\s\0-\x1f\x7f-\x9f\u00ad\ufffe]+")
"""What kreuzberg writes otherwise than PDFium: space, and signs without a shape."""


class Glyphs:
    """The characters of one page, in the order of its text; places are in points, from the left and the bottom."""

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

    def positions(self, text: str) -> dict[int, int] | None:
        """Where each character with a shape stands in kreuzberg's text of the page; None where the two differ."""
        units = [(at, unit) for at, one in enumerate(text) for unit in _units(one) if not _NO_SHAPE.match(unit)]
        mine = [(at, one) for at, one in enumerate(self.characters) if not _NO_SHAPE.match(one)]
        if [one for _, one in units] != [one for _, one in mine]:
            return None
        return {at: place for (at, _), (place, _) in zip(mine, units, strict=True)}


def _units(one: str) -> str:
    """A character as UTF-16 has it: those beyond U+FFFF are two."""
    if one <= "\uffff":
        return one
    high, low = divmod(ord(one) - 0x10000, 0x400)
    return chr(0xD800 + high) + chr(0xDC00 + low)


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
