"""What a file is: its first bytes decide, its name must agree."""

from __future__ import annotations

import codecs
import io
import re
import zipfile
from pathlib import PurePosixPath

from thresher.errors import DocumentError

EXTENSIONS = {
    ".pdf": "pdf",
    ".docx": "docx",
    ".pptx": "pptx",
    ".xlsx": "xlsx",
    ".epub": "epub",
    ".eml": "email",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".text": "text",
    ".rst": "text",
    ".log": "text",
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
CONTENT_TYPES = {
    "application/pdf": "pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/epub+zip": "epub",
    "message/rfc822": "email",
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/markdown": "markdown",
    "text/csv": "csv",
    "text/tab-separated-values": "csv",
    "application/json": "json",
    "application/jsonl": "jsonl",
    "application/x-ndjson": "jsonl",
    "application/ndjson": "jsonl",
}
NAMES = {
    "pdf": "a PDF",
    "docx": "a Word document (docx)",
    "pptx": "a PowerPoint presentation (pptx)",
    "xlsx": "an Excel workbook (xlsx)",
    "epub": "an EPUB book",
    "email": "an e-mail (eml)",
    "html": "HTML",
    "text": "text",
}
BINARY = frozenset({"pdf", "docx", "pptx", "xlsx", "epub"})
SIGNATURES = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"II*\x00", "a TIFF picture"),
    (b"MM\x00*", "a TIFF picture"),
    (b"RIFF", "a RIFF file (sound, video or picture)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"SQLite format 3", "a SQLite database"),
    (b"{\\rtf", "an RTF document"),
    (b"%!PS", "a PostScript document"),
    (b"ID3", "a sound file"),
    (b"OggS", "a sound file"),
    (b"PAR1", "a Parquet table"),
)
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
PDF_HEADER_BYTES = 1024  # viewers accept junk before %PDF- within the first kilobyte
SNIFF_BYTES = 4096
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
CONTROL_SHARE = 0.02  # text has none; a stray one in a log is cleaned away
HTML_START = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)


def kind_of(data: bytes, *, name: str = "", content_type: str = "") -> str:
    """The kind of document in the bytes; `name` is a file name, `content_type` what a server said.

    A file whose name claims another kind than its bytes are is an error: it was renamed, or saved by mistake.
    """
    extension = PurePosixPath(name).suffix.lower()
    named = EXTENSIONS.get(extension)
    found = _binary_kind(data)
    if found is None:
        return _text_kind(data, named, extension, content_type)
    if found in BINARY:
        if extension and not content_type and named != found:
            raise _mismatch(extension, found)
        return found
    if found == "ole":
        return _refuse_ole(data, named)
    claim = f"named {extension} but is" if named else "is"
    raise DocumentError(f"{claim} {found}, which is not read", next_step=_conversion(found))


def _binary_kind(data: bytes) -> str | None:
    """A kind we read, `ole`, or the name of something else; None for text."""
    head = data[:SNIFF_BYTES]
    if b"%PDF-" in data[:PDF_HEADER_BYTES]:
        return "pdf"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_kind(data)
    if head.startswith(OLE):
        return "ole"
    for signature, name in SIGNATURES:
        if head.startswith(signature) and (len(signature) > 3 or CONTROL.search(head)):
            return name
    if head[4:8] == b"ftyp":
        return "a video"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None  # UTF-16, as Windows saves text
    if len(CONTROL.findall(head)) > CONTROL_SHARE * len(head):
        return "binary data"
    return None


def _zip_kind(data: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
            marker = archive.read("mimetype")[:64] if "mimetype" in names else b""
    except (zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError, OSError, EOFError):
        return "a damaged or cut off zip archive"
    if marker.strip() == b"application/epub+zip":
        return "epub"
    for part, kind in (("word/document.xml", "docx"), ("ppt/presentation.xml", "pptx"), ("xl/workbook.xml", "xlsx")):
        if part in names:
            return kind
    if marker.startswith(b"application/vnd.oasis.opendocument"):
        return "an OpenDocument file"
    return "a zip archive"


def _text_kind(data: bytes, named: str | None, extension: str, content_type: str) -> str:
    if content_type:
        said = CONTENT_TYPES.get(content_type.partition(";")[0].strip().lower())
        if said in BINARY:
            raise DocumentError(
                f"the server says it is {NAMES[said]} but sent text", next_step="open the address in a browser"
            )
        named = said or named
    elif named in BINARY:
        raise _mismatch(extension, "html" if HTML_START.match(data[:SNIFF_BYTES]) else "text")
    if named:
        return named
    head = data[:SNIFF_BYTES].lstrip()
    if HTML_START.match(head):
        return "html"
    if head[:1] in (b"{", b"["):
        return "jsonl" if _is_json_lines(data) else "json"
    return "text"


def _is_json_lines(data: bytes) -> bool:
    lines = data.lstrip()[: SNIFF_BYTES * 16].split(b"\n", 2)
    return len(lines) > 1 and lines[0].rstrip().endswith(b"}") and lines[1].lstrip().startswith(b"{")


def _mismatch(extension: str, found: str) -> DocumentError:
    right = next((suffix for suffix, kind in EXTENSIONS.items() if kind == found), ".txt")
    return DocumentError(
        f"named {extension} but is {NAMES[found]}", next_step=f"rename it to {right} if it is meant to be read"
    )


def _refuse_ole(data: bytes, named: str | None) -> str:
    if "EncryptedPackage".encode("utf-16-le") in data:
        raise DocumentError("the file is protected by a password", next_step="save a copy without the password")
    kind = NAMES.get(named or "", "an Office document")
    raise DocumentError(
        "is in the old Office format (doc, xls, ppt or msg)" + (f", not {kind}" if named else ""),
        next_step="save it as docx, xlsx, pptx or eml",
    )


def _conversion(found: str) -> str:
    if "picture" in found:
        return "put pictures of text into a PDF and run OCR on it"
    if "archive" in found:
        return "unpack it and index the folder, or get it again if it should be a document"
    if "document" in found.lower() or "file" in found:
        return "save it as PDF, docx, xlsx or text"
    return "leave it out (--exclude), or convert it to text"


# --- bytes to text, strictly: what is not the encoding it should be is an error that names the place ------------------


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
