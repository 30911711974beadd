"""The registry of file kinds: what each is called, how it is recognised, and what reads it.

To add a format, write a function from a `RawFile` to a `Parsed` in a new module of `formats`, and add a line to
`KINDS`; a program that adds one of its own calls `register`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module

from thresher.documents.assembly import Member, Parsed
from thresher.documents.sources import Limits
from thresher.errors import DocumentError, UnknownSetting, UsageError

EXTRACTION = 5
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


Held = Parsed | Member | DocumentError
"""What a file of several documents holds: one that was read, one that is to be read, one that cannot be."""
Reader = Callable[[RawFile], Parsed | Iterator[Held]]
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
    """The function, or where it is: `module:function` in `thresher.documents.formats`, loaded when it is needed."""
    signature: re.Pattern[bytes] | None = None
    """Matches at the beginning of the file."""
    zip_member: str = ""
    """A file that every zip archive of this kind holds."""

    @property
    def binary(self) -> bool:
        """Whether the kind is recognised by its bytes; the others are text."""
        return self.signature is not None or bool(self.zip_member)

    def read(self, file: RawFile) -> Parsed | Iterator[Held]:
        """What the kind's reader makes of a file."""
        if callable(self.reader):
            return self.reader(file)
        module, _, function = self.reader.partition(":")
        reader: Reader = getattr(import_module(f"thresher.documents.formats.{module}"), function)
        return reader(file)


_OFFICE = "application/vnd.openxmlformats-officedocument."
# Viewers accept junk before %PDF- within the first kilobyte.
_PDF_HEADER = re.compile(rb".{0,1019}?%PDF-", re.DOTALL)

KINDS: dict[str, FileKind] = {
    kind.name: kind
    for kind in (
        FileKind("pdf", "a PDF", (".pdf",), ("application/pdf",), "pdf:read_pdf", signature=_PDF_HEADER),
        FileKind(
            "docx",
            "a Word document (docx)",
            (".docx",),
            (f"{_OFFICE}wordprocessingml.document",),
            "word:read_word",
            zip_member="word/document.xml",
        ),
        FileKind(
            "pptx",
            "a PowerPoint presentation (pptx)",
            (".pptx",),
            (f"{_OFFICE}presentationml.presentation",),
            "slides:read_slides",
            zip_member="ppt/presentation.xml",
        ),
        FileKind(
            "xlsx",
            "an Excel workbook (xlsx)",
            (".xlsx",),
            (f"{_OFFICE}spreadsheetml.sheet",),
            "workbook:read_workbook",
            zip_member="xl/workbook.xml",
        ),
        FileKind(
            "epub",
            "an EPUB book",
            (".epub",),
            ("application/epub+zip",),
            "html:read_epub",
            zip_member="META-INF/container.xml",
        ),
        FileKind("email", "an e-mail (eml)", (".eml",), ("message/rfc822",), "email:read_mail"),
        FileKind("mbox", "a mailbox (mbox)", (".mbox",), ("application/mbox",), "email:read_mailbox"),
        FileKind("mht", "a saved page (mht)", (".mht", ".mhtml"), ("multipart/related",), "email:read_saved_page"),
        FileKind("zip", "a zip archive", (".zip",), ("application/zip",), "archives:read_zip", re.compile(b"PK\3\4")),
        FileKind("ipynb", "a notebook (ipynb)", (".ipynb",), ("application/x-ipynb+json",), "tabular:read_notebook"),
        FileKind(
            "subtitles", "subtitles", (".srt", ".vtt"), ("text/vtt", "application/x-subrip"), "markdown:read_subtitles"
        ),
        FileKind("html", "HTML", (".html", ".htm", ".xhtml"), ("text/html", "application/xhtml+xml"), "html:read_html"),
        FileKind("markdown", "Markdown", (".md", ".markdown"), ("text/markdown",), "markdown:read_markdown"),
        FileKind("csv", "CSV", (".csv", ".tsv"), ("text/csv", "text/tab-separated-values"), "tabular:read_csv"),
        FileKind("json", "JSON", (".json",), ("application/json",), "tabular:read_json"),
        FileKind(
            "jsonl",
            "JSON Lines",
            (".jsonl", ".ndjson"),
            ("application/jsonl", "application/x-ndjson", "application/ndjson"),
            "tabular:read_jsonl",
        ),
        # What servers call text/plain may be anything: the bytes decide.
        FileKind("text", "text", (".txt", ".text", ".rst", ".log"), (), "markdown:read_text"),
    )
}


def register(kind: FileKind) -> None:
    """Add a kind; UsageError where its name or one of its extensions is taken."""
    taken = {kind.name} & KINDS.keys() or {each for each in kind.extensions if by_extension(each) is not None}
    if taken:
        raise UsageError("is taken by another file kind", subject=min(taken), next_step="choose another one")
    KINDS[kind.name] = kind


def file_kind(name: str) -> FileKind:
    """The kind of that name; UnknownSetting for one that is not registered."""
    if name not in KINDS:
        raise UnknownSetting(name, KINDS, kind="file kind")
    return KINDS[name]


def by_extension(extension: str) -> FileKind | None:
    """The kind whose files are named so (`.pdf`, whatever the case); None where none is."""
    return next((kind for kind in KINDS.values() if extension.lower() in kind.extensions), None)


def by_mime_type(content_type: str) -> FileKind | None:
    """The kind a server means by a content type, its parameters aside; None where it means none of ours."""
    mime_type = content_type.partition(";")[0].strip().lower()
    return next((kind for kind in KINDS.values() if mime_type in kind.mime_types), None)
