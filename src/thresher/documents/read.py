"""The bytes of an input to its Documents, and what could not be read of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from urllib.parse import urlsplit

from thresher.documents.account import accounted
from thresher.documents.assembly import PARAGRAPH, QUOTE, Member, Parsed
from thresher.documents.cleaning import clean_inline, has_half_pair
from thresher.documents.registry import Held, RawFile, kind_of
from thresher.documents.sources import DEFAULT_LIMITS, Hints, Item, Limits, errors_about, file_name
from thresher.errors import DocumentError
from thresher.text.language import LANGUAGES, language_of
from thresher.types import Document, Mark, Metadata, text_id

MOST_CONTAINERS = 3  # files in files in files: a mail in an archive has attachments
NO_METADATA: Metadata = MappingProxyType({})
NOT_TOLD = frozenset(
    ("description", "encoding", "includes", "keywords", "language", "not_read", "which_pages_by_ocr",
     "which_pages_without_text")
)  # fmt: skip
"""Fields of a document that answer no question, and those that Thresher computed."""
JUNK_TITLE = re.compile(
    r"(?:untitled|no title|title|document|presentation|powerpoint presentation|slide|book|workbook|none|null|unknown|"
    r"output|main|paper|manuscript|template|layout \d+)\W*\d*"
    r"|microsoft (?:word|powerpoint|excel|office).*|(?:arxiv|doi):.*"
    r"|.*\.(?:docx?|pptx?|xlsx?|pdf|tex|dvi|indd|rtf|odt|qxd)"
    r"|[\W\d_]*",
    re.IGNORECASE,
)


def parse(
    item: Item,
    data: bytes,
    hints: Hints,
    *,
    metadata: Metadata = NO_METADATA,
    limits: Limits = DEFAULT_LIMITS,
    alive: Callable[[], None] = lambda: None,
    depth: int = 0,
) -> Iterator[Document | DocumentError]:
    """The documents in the bytes: one, one a line for a BEIR corpus, or a mail and its attachments.

    A bad line, or a file in the file that cannot be read, yields a DocumentError; a file that cannot be read as a whole
    raises it at once, not at the first document. `metadata`, with `title` and `date`, replaces the document's own.
    Readers that work long call `alive`. `depth` is the number of files that contain the bytes.
    """
    name = file_name(item, hints)
    with errors_about(item.source):
        if not data.strip():
            raise DocumentError("the file is empty", next_step="leave it out, or fetch it again")
        kind = kind_of(data, name=name, content_type=hints.content_type)
        file = RawFile(data, kind, name, hints.content_type, limits, alive, hints.beside)
        parsed = kind.read(file)
        if not isinstance(parsed, Parsed):
            return _held(item, file, parsed, metadata, depth)
        if not parsed.text.strip():
            raise DocumentError("there is no text in it", next_step="leave it out, or check its content")
        return iter((_document(item, accounted(file, parsed), kind.name, name, metadata),))


def _document(item: Item, parsed: Parsed, kind: str, name: str, metadata: Metadata) -> Document:
    own = dict(metadata)
    title = str(own.pop("title", "")) or choose_title(parsed, name, item)
    date = own.pop("date", None)
    language = language_of(parsed.text)
    text, marks = with_card(parsed, title, str(date) if date is not None else parsed.date, kind)
    metadata = {**parsed.metadata, **({"language": LANGUAGES[language]} if language else {}), **own}
    if has_half_pair(title, *metadata, *metadata.values()):
        raise DocumentError("its title or metadata has half of a surrogate pair", next_step="correct the file")
    return Document(
        id=text_id(text),
        source=item.source,
        title=title,
        text=text,
        kind=kind,
        pages=parsed.pages,
        tables=parsed.tables,
        date=str(date) if date is not None else parsed.date,
        metadata=metadata,
        marks=marks,
        figures=parsed.figures,
    )


def _held(
    item: Item, file: RawFile, held: Iterator[Held], metadata: Metadata, depth: int
) -> Iterator[Document | DocumentError]:
    """The documents that a file holds, each with a source of its own; an error names the file and the place in it."""
    left = file.limits.max_unpacked_bytes
    with errors_about(item.source):
        for one in held:
            if isinstance(one, DocumentError):
                yield DocumentError(one.what, subject=f"{item.source}:{one.subject}", next_step=one.next_step)
            elif isinstance(one, Member):
                left -= len(one.data)
                limits = replace(file.limits, max_unpacked_bytes=max(0, left))
                yield from _member(item.source, one, metadata, limits, file.alive, depth + 1)
            elif not one.source:
                yield _document(item, accounted(file, one), file.kind.name, file.name, metadata)
            elif one.kind == QUOTE:
                inside = replace(item, source=f"{item.source}/{one.source}")
                yield replace(_document(inside, one, QUOTE, file.name, metadata), container=item.source)
            else:
                yield Document(
                    id=text_id(one.text),
                    source=one.source,
                    title=one.title,
                    text=one.text,
                    kind=one.kind or file.kind.name,
                    date=one.date,
                    metadata={**one.metadata, **metadata},
                    container=item.source,
                    marks=one.marks,
                )


def _member(
    container: str, member: Member, metadata: Metadata, limits: Limits, alive: Callable[[], None], depth: int
) -> Iterator[Document | DocumentError]:
    """The documents of a file in a file, each at its path in it; an error where it cannot be read."""
    item = Item(f"{container}/{member.name}", container, Path(PurePosixPath(member.name).name))
    try:
        if depth > MOST_CONTAINERS:
            raise DocumentError("is nested in too many files", subject=item.source, next_step="save it on its own")
        hints = Hints(content_type=member.content_type, beside=member.beside)
        found = parse(item, member.data, hints, metadata=metadata, limits=limits, alive=alive, depth=depth)
        for one in found:
            yield one if isinstance(one, DocumentError) else replace(one, container=container)
    except DocumentError as error:
        yield error


def choose_title(parsed: Parsed, name: str, item: Item) -> str:
    """The title the document states, unless it is junk of the program that made it; its first heading; its name."""
    stated = clean_inline(parsed.title)
    if stated and not JUNK_TITLE.fullmatch(stated):
        return stated
    return clean_inline(parsed.heading) or PurePosixPath(name).stem or urlsplit(item.source).netloc or item.source


# --- the card of a document -------------------------------------------------------------------------------------------


AUTHOR = "author"
PROPERTIES = frozenset(("docx", "email", "html", "mht", "odp", "ods", "odt", "pptx", QUOTE, "rtf", "xlsx"))
"""Kinds without a card: their author is who typed the file, not who wrote what it is about; mails have a head."""


def with_card(parsed: Parsed, title: str, date: str | None, kind: str) -> tuple[str, tuple[Mark, ...]]:
    """The text and marks of a document, with its card if its text begins with fields that it does not repeat."""
    sentences = "" if kind in PROPERTIES else card(parsed.text, parsed.metadata, title, date)
    if not sentences:
        return parsed.text, parsed.marks
    start = len(parsed.text) + len(PARAGRAPH)
    return f"{parsed.text}{PARAGRAPH}{sentences}", (*parsed.marks, Mark(start, "card", ""))


def card(text: str, metadata: Metadata, title: str, date: str | None) -> str:
    """Who wrote it, when, and the other fields, each a sentence; empty where the text says it all.

    >>> card("Bring a lamp.", {"author": "Ada Kask", "owner": "Dana Ilves"}, "Survey", "2021-03-04")
    'The document “Survey” was written by Ada Kask. It is dated 2021-03-04. Its owner is Dana Ilves.'
    """
    author = clean_inline(str(metadata.get(AUTHOR, "")))
    sentences = [f"It was written by {author}."] if author and author not in text else []
    if sentences and date and date not in text:
        sentences.append(f"It is dated {date}.")
    for name, stated in metadata.items():
        value = clean_inline(stated) if isinstance(stated, str) else ""
        if value and name not in (AUTHOR, *NOT_TOLD) and value not in text and value != title:
            sentences.append(f"Its {name} is {value}.")
    if not sentences:
        return ""
    first, *others = sentences
    about = f"The document “{title}”"
    return " ".join([re.sub(r"^Its? ", lambda it: f"{about} " if it[0] == "It " else f"{about}: its ", first), *others])
