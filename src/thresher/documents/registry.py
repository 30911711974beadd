"""The registry of file kinds: what each is called, what reads it, and how it is recognised.

`KINDS` has those that most people have. The others come by the entry points `thresher.formats`, as those of
`thresher_formats` do, each the name of a `FileKind`; a program that adds one of its own calls `register`.
"""

from __future__ import annotations

import codecs
import io
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import PurePosixPath
from pkgutil import resolve_name
from typing import TYPE_CHECKING, TypeAlias

from thresher.documents.sources import Limits
from thresher.errors import DocumentError, UnknownSetting, UsageError
from thresher.plugins import brought, loaded

if TYPE_CHECKING:
    from thresher.documents.assembly import Member, Parsed

GROUP = "thresher.formats"
"""The entry points of kinds that distributions bring, each the name of a `FileKind`."""

EXTRACTION = 14
"""Raised whenever text, tables, marks or metadata that are read out of the same bytes change: `index --reread` then has
something to do."""


@dataclass(frozen=True, slots=True)
class RawFile:
    """The bytes that a reader gets, and what is known of them besides."""

    data: bytes
    kind: FileKind
    name: str = ""
    """Bare file name; empty for standard input."""
    content_type: str = ""
    """As the server states it, with its parameters."""
    limits: Limits = field(default_factory=Limits)
    alive: Callable[[], None] = lambda: None
    """Called now and then by a reader that works long and well: the seconds a file may take begin anew."""
    beside: Mapping[str, bytes] = field(default_factory=dict)
    """Of the files that the kind wants `beside` it those that there are."""


Held: TypeAlias = "Parsed | Member | DocumentError"
"""What a file of several documents holds: one that was read, one that is to be read, one that cannot be."""
Reader: TypeAlias = "Callable[[RawFile], Parsed | Iterator[Held]]"
"""One document, or one after the other where a file holds many; the one without a source is the file itself."""


@dataclass(frozen=True, slots=True)
class FileKind:
    """One kind of file. What has a `signature` or a `zip_member` is recognised by it alone, whatever its name is."""

    name: str
    label: str
    """In a sentence: `named .txt but is a PDF`."""
    extensions: tuple[str, ...]
    mime_types: tuple[str, ...]
    """The first one is the kind's own."""
    reader: str | Reader
    """The function, or where it is, loaded when it is needed: `package.module:function`, or `.module:function` in
    `thresher.documents.formats`. A function given itself is called in this process, not in the one that reads files."""
    signature: re.Pattern[bytes] | None = None
    """Matches at the beginning of the file."""
    zip_member: str = ""
    """A file that every zip archive of this kind holds."""
    begins: re.Pattern[bytes] | None = None
    """Matches the beginning of a text of this kind, its first white space aside, where no name says what it is; for a
    kind without extensions also where the name says JSON or text."""
    beside: tuple[str, ...] = ()
    """Other files that the reader of a kind with `begins` gets too, by their paths from the folder of its own."""

    @property
    def binary(self) -> bool:
        """Whether the kind is recognised by its bytes; the others are text."""
        return self.signature is not None or bool(self.zip_member)

    def read(self, file: RawFile) -> Parsed | Iterator[Held]:
        """What the kind's reader makes of a file."""
        if callable(self.reader):
            return self.reader(file)
        name = f"thresher.documents.formats{self.reader}" if self.reader.startswith(".") else self.reader
        reader: Reader = resolve_name(name)
        return reader(file)


# Nothing is given back once it matched: comments that could be taken apart in many ways would take days to refuse.
HTML_START = re.compile(
    rb"\s*+(?:<\?xml[^>]*+>\s*+)?+(?:<!--(?>.*?-->)\s*+)*+<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
# Viewers accept junk before %PDF- within the first kilobyte; within a line of text it is a word about PDF.
_PDF_HEADER = re.compile(rb"(?:.{0,1018}?[^\x20-\x7e])?%PDF-", re.DOTALL)


def _zipped(name: str, label: str, mime_type: str, reader: str, member: str) -> FileKind:
    return FileKind(name, label, (f".{name}",), (f"application/{mime_type}",), reader, zip_member=member)


_DOCX = "vnd.openxmlformats-officedocument.wordprocessingml.document"
_PPTX = "vnd.openxmlformats-officedocument.presentationml.presentation"
_XLSX = "vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_HTML = ("text/html", "application/xhtml+xml")
_LINES = ("application/jsonl", "application/x-ndjson", "application/ndjson")
KINDS: dict[str, FileKind] = {
    kind.name: kind
    for kind in (
        FileKind("pdf", "a PDF", (".pdf",), ("application/pdf",), ".pdf.reader:read_pdf", signature=_PDF_HEADER),
        _zipped("docx", "a Word document (docx)", _DOCX, ".word:read_word", "word/document.xml"),
        _zipped("pptx", "a PowerPoint presentation (pptx)", _PPTX, ".slides:read_slides", "ppt/presentation.xml"),
        _zipped("xlsx", "an Excel workbook (xlsx)", _XLSX, ".workbook:read_workbook", "xl/workbook.xml"),
        _zipped("epub", "an EPUB book", "epub+zip", ".html:read_epub", "META-INF/container.xml"),
        FileKind("email", "an e-mail (eml)", (".eml",), ("message/rfc822",), ".email:read_mail"),
        FileKind("mbox", "a mailbox (mbox)", (".mbox",), ("application/mbox",), ".email:read_mailbox"),
        FileKind("mht", "a saved page (mht)", (".mht", ".mhtml"), ("multipart/related",), ".email:read_saved_page"),
        FileKind("zip", "a zip archive", (".zip",), ("application/zip",), ".archives:read_zip", re.compile(b"PK\3\4")),
        FileKind(
            "tar",
            "a tar archive",
            (".tar",),
            ("application/x-tar",),
            ".archives:read_tar",
            re.compile(rb"(?s:.{257})ustar[\0 ]"),
        ),
        FileKind(
            "gzip",
            "a gzip archive",
            (".gz", ".tgz"),
            ("application/gzip",),
            ".archives:read_gzip",
            re.compile(rb"\x1f\x8b\x08"),
        ),
        FileKind("ipynb", "a notebook (ipynb)", (".ipynb",), ("application/x-ipynb+json",), ".tabular:read_notebook"),
        FileKind(
            "subtitles", "subtitles", (".srt", ".vtt"), ("text/vtt", "application/x-subrip"), ".markdown:read_subtitles"
        ),
        FileKind("html", "HTML", (".html", ".htm", ".xhtml"), _HTML, ".html:read_html", begins=HTML_START),
        FileKind("markdown", "Markdown", (".md", ".markdown"), ("text/markdown",), ".markdown:read_markdown"),
        FileKind("csv", "CSV", (".csv", ".tsv"), ("text/csv", "text/tab-separated-values"), ".tabular:read_csv"),
        FileKind("json", "JSON", (".json",), ("application/json",), ".tabular:read_json"),
        FileKind("jsonl", "JSON Lines", (".jsonl", ".ndjson"), _LINES, ".tabular:read_jsonl"),
        # What servers call text/plain may be anything: the bytes decide.
        FileKind("text", "text", (".txt", ".text", ".log"), (), ".markdown:read_text"),
    )
}


def kinds() -> Mapping[str, FileKind]:
    """All kinds by name: ours, those that were registered, those that distributions bring.

    Raises UsageError for an entry point that cannot be loaded, or whose name or extension is taken.
    """
    return {**KINDS, **_brought()}


@cache
def _brought() -> Mapping[str, FileKind]:
    found: dict[str, FileKind] = {}
    for _, entry in sorted(brought(GROUP).items()):
        kind: FileKind = loaded(entry)
        _check_free(kind, {**KINDS, **found})
        found[kind.name] = kind
    return found


def register(kind: FileKind) -> None:
    """Add a kind; UsageError where its name or one of its extensions is taken, by another one.

    A module that registers its kind when it is imported does so again in the process that reads files.
    """
    if KINDS.get(kind.name) == kind:
        return
    _check_free(kind, kinds())
    KINDS[kind.name] = kind


def _check_free(kind: FileKind, others: Mapping[str, FileKind]) -> None:
    taken = {kind.name} & others.keys() or {*kind.extensions} & {
        each for one in others.values() for each in one.extensions
    }
    if taken:
        raise UsageError("is taken by another file kind", subject=min(taken), next_step="choose another one")


def file_kind(name: str) -> FileKind:
    """The kind of that name; UnknownSetting where there is none."""
    known = kinds()
    if name not in known:
        raise UnknownSetting(name, known, kind="file kind")
    return known[name]


def by_extension(extension: str) -> FileKind | None:
    """The kind whose files are named so (`.pdf`, whatever the case); None where none is."""
    return next((kind for kind in kinds().values() if extension.lower() in kind.extensions), None)


def by_mime_type(content_type: str) -> FileKind | None:
    """The kind a server means by a content type, its parameters aside; None where it means none of ours."""
    mime_type = content_type.partition(";")[0].strip().lower()
    return next((kind for kind in kinds().values() if mime_type in kind.mime_types), None)


def beside(data: bytes, read: Callable[[str], bytes]) -> dict[str, bytes]:
    """What the kind of the bytes wants beside them; `read` gets a path and returns b"" where there is no such file."""
    head = data[:SNIFF_BYTES].lstrip()
    wanting = (kind for kind in kinds().values() if kind.beside and kind.begins and kind.begins.match(head))
    return {path: found for kind in wanting for path in kind.beside if (found := read(path))}


# --- what a file is: the first bytes decide, and the name must agree --------------------------------------------------

DAMAGED, OPEN_DOCUMENT = "a damaged or cut off zip archive", "an OpenDocument drawing or formula"
OTHERS = {
    "a picture": (
        rb"\x89PNG|\xff\xd8\xff|GIF8|II\*\0|MM\0\*|BM|RIFF.{4}WEBP|.{4}ftyp(?:hei[cx]|mif1|msf1|hevc|avi[fs])",
        "put it into a PDF, whose scanned pages are read where tesseract is installed",
    ),
    "a sound or video file": (rb"ID3|OggS|RIFF|.{4}ftyp", "save its speech as text or subtitles"),
    "an archive": (rb"7z\xbc\xaf\x27\x1c|Rar!|BZh|\xfd7zXZ", "unpack it and index the folder"),
    "a PostScript document": (rb"%!PS", "save it as PDF, docx, xlsx or text"),
    OPEN_DOCUMENT: (rb"(?!)", "save it as PDF, docx, xlsx or text"),
    DAMAGED: (rb"(?!)", "unpack it and index the folder, or get it again if it should be a document"),
}
"""What is no document of ours: its first bytes, and what to do with it."""
PASSED_BY = ("a picture", "a sound or video file")
"""Of these: what no one means to be read who names the folder that it lies in."""
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
SNIFF_BYTES = 4096
DRAWING = re.compile(rb"\s*+(?:<\?xml[^>]*+>\s*+)?+(?:<!(?>[^>]*+)>\s*+)*+<(?:svg:)?svg\b")
WORDS_OF_A_DRAWING = re.compile(rb"<(?:svg:)?(?:text|title|desc)\b")
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
CONTROL_SHARE = 0.02  # text has none; a stray one in a log is cleaned away
JSON_START = re.compile(rb"\{\s*[\"}]|\[\s*(?:[\[{\"\]\d-]|true|false|null)")  # `[server]` begins a file of settings


def kind_of(data: bytes, *, name: str = "", content_type: str = "") -> FileKind:
    """The kind of document in the bytes; `name` is a file name, `content_type` the type that a server states.

    A file whose name claims another kind than its bytes are is an error: it was renamed, or saved by mistake.
    """
    extension = PurePosixPath(name).suffix.lower()
    named = by_extension(extension)
    if named is None and extension:
        _check_complete(extension)
    recognised = _recognised(data, named)
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
    next_step = OTHERS.get(recognised, ("", "leave it out, or convert it to text"))[1]
    raise DocumentError(f"{claim} {recognised}, which is not read", next_step=next_step)


def _check_complete(extension: str) -> None:
    """Raise DocumentError for an unknown extension where Thresher lacks the entry points of its own distribution."""
    if not any(entry.dist is not None and entry.dist.name == "thresher" for entry in brought(GROUP).values()):
        raise DocumentError(
            f"no kind of file is named {extension}, and the formats that come with Thresher are not installed",
            next_step="install Thresher again (in a checkout: make dev)",
        )


def passed_by(data: bytes, name: str) -> str:
    """What a file of a folder is that is no document by its bytes and its name; "" for all that is to be read."""
    if DRAWING.match(data) and not WORDS_OF_A_DRAWING.search(data):
        return PASSED_BY[0]
    if by_extension(PurePosixPath(name).suffix) is not None or data.startswith(OLE):
        return ""
    found = _other_kind(data[:SNIFF_BYTES])
    return found if found in PASSED_BY else ""


def _recognised(data: bytes, named: FileKind | None) -> FileKind | str | None:
    """A kind we read, `ole`, or what to call something else; None for text."""
    head = data[:SNIFF_BYTES]
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_kind(data, named)
    for kind in kinds().values():
        if kind.signature is not None and kind.signature.match(data):
            return kind
    if head.startswith(OLE):
        return "ole"
    if other := _other_kind(head):
        return other
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # as Windows saves text
        return None
    return "binary data" if len(CONTROL.findall(head)) > CONTROL_SHARE * len(head) else None


def _other_kind(head: bytes) -> str:
    """Which of `OTHERS` a file begins as; "" for none."""
    for name, (signature, _) in OTHERS.items():
        if (found := re.match(signature, head, re.DOTALL)) and (found.end() > 3 or CONTROL.search(head)):
            return name
    return ""


def _zip_kind(data: bytes, named: FileKind | None) -> FileKind | str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = set(archive.namelist())
            marker = b""
            if "mimetype" in members:
                with archive.open("mimetype") as stated:
                    marker = stated.read(64)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError, OSError, EOFError):
        return DAMAGED
    if b"opendocument" in marker:
        return by_mime_type(marker.decode("ascii", "replace")) or OPEN_DOCUMENT
    found = [kind for kind in kinds().values() if kind.zip_member and kind.zip_member in members]
    return named if named in found else next(iter(found), file_kind("zip"))


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
    head = data[:SNIFF_BYTES].lstrip()
    for kind in kinds().values():
        may_be = named is None or (named.name in ("json", "text") and not kind.extensions)
        if may_be and kind.begins is not None and kind.begins.match(head):
            return kind
    if named is not None:
        return named
    if JSON_START.match(head) and data.rstrip()[-1:] in (b"}", b"]"):
        lines = data.lstrip()[: SNIFF_BYTES * 16].split(b"\n", 2)
        is_lines = len(lines) > 1 and lines[0].rstrip().endswith(b"}") and lines[1].lstrip().startswith(b"{")
        return file_kind("jsonl" if is_lines else "json")
    return file_kind("text")


def _mismatch(extension: str, kind: FileKind) -> DocumentError:
    return DocumentError(
        f"named {extension} but is {kind.label}",
        next_step=f"rename it to {kind.extensions[0]} if it is meant to be read",
    )
