"""Bytes to text, strictly: what is not the encoding it should be is an error that names the place."""

from __future__ import annotations

import codecs

from thresher.errors import DocumentError

BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with that of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def decode(data: bytes, *, encoding: str = "utf-8") -> str:
    """The text in the bytes: by the byte order mark if there is one, else in `encoding`."""
    start = 0
    for mark, name in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            encoding, start = name, len(mark)
            break
    try:
        return data[start:].decode(encoding)
    except UnicodeDecodeError as error:
        shown = encoding.upper()
        raise DocumentError(
            f"not valid {shown} at byte {start + error.start} (0x{data[start + error.start]:02X})",
            next_step="save it as UTF-8 (for example: iconv -f WINDOWS-1252 -t UTF-8)",
        ) from error
    except LookupError:
        return decode(data)
