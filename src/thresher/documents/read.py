"""An input to its Documents: fetch the bytes, tell the kind, read it, and say what could not be read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from types import MappingProxyType
from urllib.parse import unquote, urlsplit

from thresher.documents.assembly import Parsed
from thresher.documents.cleaning import clean_inline
from thresher.documents.detect import kind_of
from thresher.documents.sources import Failure, Hints, Item, Limits, read_file, read_url
from thresher.errors import DocumentError
from thresher.types import Document, Metadata

ID_DIGITS = 32  # 128 bits: no two texts of one collection share it by chance
DEFAULT_LIMITS = Limits()
NO_METADATA: Metadata = MappingProxyType({})
JUNK_TITLE = re.compile(
    r"(?:untitled|no title|title|document|presentation|powerpoint presentation|slide|book|workbook|none|null|unknown|"
    r"output|main|paper|manuscript|template|layout \d+)\W*\d*"
    r"|microsoft (?:word|powerpoint|excel|office).*|(?:arxiv|doi):.*"
    r"|.*\.(?:docx?|pptx?|xlsx?|pdf|tex|dvi|indd|rtf|odt|qxd)"
    r"|[\W\d_]*",
    re.IGNORECASE,
)

__all__ = ["Failure", "Hints", "Item", "Limits", "fetch", "parse"]


def fetch(item: Item, *, limits: Limits = DEFAULT_LIMITS) -> tuple[bytes, Hints]:
    """The raw bytes of the input and what is known of them; DocumentError where they cannot be had."""
    try:
        if item.data is not None:
            return item.data, Hints()
        if item.path is not None:
            return read_file(item.path, limits=limits)
        return read_url(item.source, limits=limits)
    except DocumentError as error:
        raise _about(item, error) from error


def parse(
    item: Item,
    data: bytes,
    hints: Hints,
    *,
    metadata: Metadata = NO_METADATA,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Document | Failure]:
    """The documents in the bytes: one, or one a line for a BEIR corpus, whose bad lines are failures.

    A file that cannot be read as a whole raises DocumentError at once, not at the first document. `metadata` goes
    over what the document says; `title` and `date` in it replace the document's own.
    """
    name = file_name(item, hints)
    try:
        if not data.strip():
            raise DocumentError("the file is empty", next_step="leave it out, or fetch it again")
        kind = kind_of(data, name=name, content_type=hints.content_type)
        if kind == "jsonl":
            from thresher.documents.formats.tabular import is_corpus

            if is_corpus(data):
                return _passages(item, data, metadata)
        parsed = _read(data, kind, name=name, hints=hints, limits=limits)
        if not parsed.text.strip():
            raise DocumentError("there is no text in it", next_step="leave it out, or check its content")
    except DocumentError as error:
        raise _about(item, error) from error
    return iter((_document(item, parsed, name, metadata),))


def file_name(item: Item, hints: Hints) -> str:
    """The bare name of the input; empty for standard input."""
    if item.path is not None:
        return item.path.name
    if item.data is not None:
        return ""
    return PurePosixPath(unquote(urlsplit(hints.url or item.source).path)).name


def _read(data: bytes, kind: str, *, name: str, hints: Hints, limits: Limits) -> Parsed:
    match kind:
        case "pdf":
            from thresher.documents.formats.pdf import read_pdf

            return read_pdf(data, limits=limits)
        case "docx" | "pptx" | "xlsx" | "epub":
            from thresher.documents.formats.office import read_office

            return read_office(data, kind, limits=limits)
        case "html":
            from thresher.documents.formats.html import read_html

            return read_html(data, content_type=hints.content_type)
        case "email":
            from thresher.documents.formats.email import read_mail

            return read_mail(data)
        case "markdown":
            from thresher.documents.formats.markdown import read_markdown

            return read_markdown(data)
        case "csv":
            from thresher.documents.formats.tabular import read_csv

            return read_csv(data, name=name)
        case "json":
            from thresher.documents.formats.tabular import read_json

            return read_json(data)
        case "jsonl":
            from thresher.documents.formats.tabular import read_jsonl

            return read_jsonl(data)
        case _:
            from thresher.documents.formats.markdown import read_text

            return read_text(data)


def _document(item: Item, parsed: Parsed, name: str, metadata: Metadata) -> Document:
    given = dict(metadata)
    title = str(given.pop("title", "")) or choose_title(parsed, name, item)
    date = given.pop("date", None)
    return Document(
        id=text_id(parsed.text),
        source=item.source,
        title=title,
        text=parsed.text,
        kind=parsed.kind,
        pages=parsed.pages,
        tables=parsed.tables,
        date=str(date) if date is not None else parsed.date,
        metadata={**parsed.metadata, **given},
    )


def _passages(item: Item, data: bytes, metadata: Metadata) -> Iterator[Document | Failure]:
    from thresher.documents.formats.tabular import BadRow, corpus_rows

    for row in corpus_rows(data):
        if isinstance(row, BadRow):
            yield Failure(f"{item.source}:{row.line}", row.what, row.next)
            continue
        yield Document(
            id=text_id(row.text),
            source=row.source,
            title=row.title,
            text=row.text,
            kind="passage",
            date=row.date,
            metadata={**row.metadata, **metadata},
            container=item.source,
        )


def text_id(text: str) -> str:
    """The id of a document: a hash of its cleaned text."""
    return hashlib.sha256(text.encode()).hexdigest()[:ID_DIGITS]


def choose_title(parsed: Parsed, name: str, item: Item) -> str:
    """The title the document states, unless it is junk of the program that made it; its first heading; its name."""
    stated = clean_inline(parsed.title)
    if stated and not JUNK_TITLE.fullmatch(stated):
        return stated
    heading = clean_inline(parsed.heading)
    if heading:
        return heading
    return PurePosixPath(name).stem or urlsplit(item.source).netloc or item.source


def _about(item: Item, error: DocumentError) -> DocumentError:
    return DocumentError(error.what, subject=item.source, next_step=error.next_step)
