"""Bytes to text: by the mark, by what is declared, as UTF-8, else in the old encoding whose words are words.

charset-normalizer was tried for the last step: of 47 short texts in old encodings of European languages it read 18 as
they were written, this 45. It knows those of Chinese and Japanese, too, which are refused here.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping

from thresher.errors import DocumentError

BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with that of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
OLD = ("cp1252", "cp1250", "iso8859_2", "mac_roman", "cp850", "cp1251", "koi8_r", "cp866", "cp1253")
"""Of two that fit as well the first is taken."""
HIGH_SIGNS = "“”‘’„‚«»–—…•€£§°©®™²³µ·½¼¾×±¡¿º№\xa0"
LEAST_FIT = 0.8  # of the characters beyond ASCII that must stand where such a character is written
MOST_REPLACED = 0.5  # of a text in the encoding that it declares; more is another file
SAMPLE_BYTES = 100_000


def decode(data: bytes, *, encoding: str = "") -> tuple[str, Mapping[str, str | int]]:
    """The text in the bytes, and what a person should know of how it was decoded; nothing where that is certain.

    By the byte order mark if there is one, else in `encoding`, which the file declares; what is not in it is replaced
    and counted. An undeclared or unknown encoding is detected. Raises DocumentError where none fits.
    """
    start, marked = next(((len(mark), name) for mark, name in BYTE_ORDER_MARKS if data.startswith(mark)), (0, ""))
    try:
        codec = codecs.lookup(marked or encoding or "utf-8")
    except LookupError:
        return _guessed(data)
    try:
        return codec.decode(data[start:])[0], {}
    except UnicodeDecodeError as error:
        if not marked and not encoding:
            return _guessed(data)
        text, _ = codec.decode(data[start:], "replace")
        if text.count("\ufffd") > MOST_REPLACED * len(text):
            raise _unreadable(codec.name, error) from error
        return text, {"characters_replaced": text.count("\ufffd") or 1}


def utf_8(data: bytes) -> str:
    """The text of a format that is always UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unreadable("utf-8", error) from error


def _unreadable(encoding: str, error: UnicodeDecodeError) -> DocumentError:
    return DocumentError(
        f"not valid {encoding.upper()} at byte {error.start} (0x{error.object[error.start]:02X})",
        next_step="save it as UTF-8 (for example: iconv -f WINDOWS-1252 -t UTF-8)",
    )


def _guessed(data: bytes) -> tuple[str, Mapping[str, str | int]]:
    """The text in UTF-8, or in the old encoding that fits best."""
    try:
        return data.decode(), {}
    except UnicodeDecodeError as error:
        fits = {name: fit(data[:SAMPLE_BYTES].decode(name, "replace")) for name in OLD}
        best = max(OLD, key=lambda name: fits[name])
        if fits[best] < LEAST_FIT:
            raise _unreadable("utf-8", error) from error
        return data.decode(best, "replace"), {"encoding": best.replace("cp125", "windows-125")}


def fit(text: str) -> float:
    """The share of the characters beyond ASCII that are signs of print, or letters in words as people write them.

    Capitals only begin a word or are all of it; Latin words have plain letters too, words of other scripts have none.
    """
    good = len(re.findall(f"’|(?<![^\\W_])[{HIGH_SIGNS}]|[{HIGH_SIGNS}](?![^\\W_])", text))
    for word in re.findall(r"[^\W\d_]+", text):
        beyond = [character for character in word if character > "\x7f"]
        if not beyond or not (word[1:].islower() or word.isupper() or len(word) == 1):
            continue
        latin = all(character < "\u0250" for character in beyond)
        if len(word) == 1 or latin == (len(beyond) < len(word)):
            good += len(beyond)
    return good / max(1, len(re.findall(r"[^\x00-\x7f]", text)))
