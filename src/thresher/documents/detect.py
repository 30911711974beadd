"""What a file is: the first bytes decide, and the name must agree."""

from __future__ import annotations

import codecs
import io
import re
import zipfile
from collections.abc import Mapping
from pathlib import PurePosixPath

from thresher.documents.registry import KINDS, FileKind, by_extension, by_mime_type, file_kind
from thresher.errors import DocumentError

UNREADABLE = (
    *((b"\x89PNG", "a PNG picture"), (b"\xff\xd8\xff", "a JPEG picture"), (b"GIF8", "a GIF picture")),
    *((b"II*\x00", "a TIFF picture"), (b"MM\x00*", "a TIFF picture"), (b"BM", "a BMP picture")),
    *((b"\x1f\x8b", "a gzip archive"), (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"), (b"Rar!", "a RAR archive")),
    *((b"BZh", "a bzip2 archive"), (b"\xfd7zXZ", "an xz archive"), (b"\x7fELF", "a program"), (b"MZ", "a program")),
    *((b"SQLite format 3", "a SQLite database"), (b"{\\rtf", "an RTF document"), (b"%!PS", "a PostScript document")),
    *((b"ID3", "a sound file"), (b"OggS", "a sound file"), (b"PAR1", "a Parquet table")),
)
"""First bytes of what is no document of ours, and what to call it."""
CONTAINED = {
    b"WEBP": "a WebP picture",
    b"WAVE": "a sound file",
    **dict.fromkeys((b"heic", b"heix", b"mif1", b"msf1", b"hevc"), "a HEIF picture"),
    **dict.fromkeys((b"avif", b"avis"), "an AVIF picture"),
    **dict.fromkeys((b"M4A ", b"M4B "), "a sound file"),
}
"""What a RIFF file, or one of the MP4 family, holds, by its form or brand; others are videos."""
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
SNIFF_BYTES = 4096
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
CONTROL_SHARE = 0.02  # text has none; a stray one in a log is cleaned away
# Nothing is given back once it matched: comments that could be taken apart in many ways would take days to refuse.
HTML_START = re.compile(
    rb"\s*+(?:<\?xml[^>]*+>\s*+)?+(?:<!--(?>.*?-->)\s*+)*+<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)


def kind_of(data: bytes, *, name: str = "", content_type: str = "") -> FileKind:
    """The kind of document in the bytes; `name` is a file name, `content_type` the type that a server states.

    A file whose name claims another kind than its bytes are is an error: it was renamed, or saved by mistake.
    """
    extension = PurePosixPath(name).suffix.lower()
    named = by_extension(extension)
    recognised = _recognised(data)
    if recognised is None:
        return _text_kind(data, named, extension, content_type)
    if isinstance(recognised, FileKind):
        if extension and not content_type and named is not recognised:
            raise _mismatch(extension, recognised)
        return recognised
    if recognised == "ole":
        if "EncryptedPackage".encode("utf-16-le") in data:
            raise DocumentError("the file is protected by a password", next_step="save a copy without the password")
        raise DocumentError(
            "is in the old Office format (doc, xls, ppt or msg)" + (f", not {named.label}" if named else ""),
            next_step="save it as docx, xlsx, pptx or eml",
        )
    claim = f"named {extension} but is" if named else "is"
    raise DocumentError(f"{claim} {recognised}, which is not read", next_step=_conversion(recognised))


def _recognised(data: bytes) -> FileKind | str | None:
    """A kind we read, `ole`, or what to call something else; None for text."""
    head = data[:SNIFF_BYTES]
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_kind(data)
    for kind in KINDS.values():
        if kind.signature is not None and kind.signature.match(data):
            return kind
    if head.startswith(OLE):
        return "ole"
    for signature, name in UNREADABLE:
        if head.startswith(signature) and (len(signature) > 3 or CONTROL.search(head)):
            return name
    if head.startswith(b"RIFF") or head[4:8] == b"ftyp":
        return CONTAINED.get(head[8:12], "a video")
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # as Windows saves text
        return None
    return "binary data" if len(CONTROL.findall(head)) > CONTROL_SHARE * len(head) else None


def _zip_kind(data: bytes) -> FileKind | str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = set(archive.namelist())
            marker = archive.read("mimetype")[:64] if "mimetype" in members else b""
    except (zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError, OSError, EOFError):
        return "a damaged or cut off zip archive"
    for kind in KINDS.values():
        if kind.zip_member and kind.zip_member in members:
            return kind
    return "an OpenDocument file" if b"opendocument" in marker else file_kind("zip")


def _text_kind(data: bytes, named: FileKind | None, extension: str, content_type: str) -> FileKind:
    if content_type:
        meant = by_mime_type(content_type)
        if meant is not None and meant.binary:
            raise DocumentError(
                f"the server says it is {meant.label} but sent text", next_step="open the address in a browser"
            )
        named = meant or named
    elif named is not None and named.binary:
        raise _mismatch(extension, file_kind("html" if HTML_START.match(data[:SNIFF_BYTES]) else "text"))
    if named is not None:
        return named
    head = data[:SNIFF_BYTES].lstrip()
    if HTML_START.match(head):
        return file_kind("html")
    if head[:1] in (b"{", b"["):
        lines = data.lstrip()[: SNIFF_BYTES * 16].split(b"\n", 2)
        is_lines = len(lines) > 1 and lines[0].rstrip().endswith(b"}") and lines[1].lstrip().startswith(b"{")
        return file_kind("jsonl" if is_lines else "json")
    return file_kind("text")


def _mismatch(extension: str, kind: FileKind) -> DocumentError:
    return DocumentError(
        f"named {extension} but is {kind.label}",
        next_step=f"rename it to {kind.extensions[0]} if it is meant to be read",
    )


def _conversion(description: str) -> str:
    if "picture" in description:
        return "put it into a PDF, whose scanned pages are read where tesseract is installed"
    if "sound" in description or "video" in description:
        return "save its speech as text or subtitles"
    if "archive" in description:
        return "unpack it and index the folder, or get it again if it should be a document"
    if "document" in description.lower() or "file" in description:
        return "save it as PDF, docx, xlsx or text"
    return "leave it out, or convert it to text"


# --- bytes to text ----------------------------------------------------------------------------------------------------


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
