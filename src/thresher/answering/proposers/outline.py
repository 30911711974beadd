"""A document as a whole without a model that reads all of it: its outline, named as such."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Protocol, TypeVar

from thresher.answering.citations import SUPPORT
from thresher.question.intent import Fact
from thresher.structure.versions import dates_in, written
from thresher.text.boilerplate import says_nothing
from thresher.text.markup import cells
from thresher.text.sentences import Span, sentence_spans, trim
from thresher.text.terms import term_set
from thresher.types import AnswerSentence, Citation, ClaimState, Document, Generation, Score

MOST_SECTIONS = 24
"""With their first sentences; of a longer document the other headings follow by name."""
MOST_NAMED = 150
BELOW = 2_000
"""Characters below a heading in which its first sentence is looked for."""
LONGEST = 300
"""Characters of a sentence that are shown."""


class Record(Protocol):
    """A document of a list: what it is called."""

    @property
    def source(self) -> str:
        """Its file or address."""

    @property
    def title(self) -> str:
        """As it is shown."""


Listed = TypeVar("Listed", bound=Record)


WHICH = "Which document is meant? Name its file or its title."


def document_called(named: str, records: Sequence[Listed]) -> Listed | None:
    """The one document that is called so: by its file or title, or by words of which no other title has all.

    `named` is empty for "this document", which is the only one.
    """
    if not named:
        return records[0] if len(records) == 1 else None
    folded = named.casefold()

    def names(record: Record) -> set[str]:
        path = PurePath(record.source)
        return {one.casefold() for one in (record.source, path.name, path.stem, record.title)}

    exact = [one for one in records if folded in names(one)]
    words = term_set(named)
    found = exact or [
        one
        for one in records
        if words and words <= term_set(f"{one.title} {PurePath(one.source).stem.replace('_', ' ')}")
    ]
    return found[0] if len(found) == 1 else None


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document that has a name, and the sentence with which it begins, or a row."""

    name: str
    span: Span


def outline(document: Document) -> Generation:
    """The answer to a question about a document as a whole: what it is, and its parts with their first sentences."""
    sections = list(_sections(document))
    lines = [f"An outline of {_called(document)}, not a summary: {', '.join(_facts(document).values())}."]
    citations, sentences = list[Citation](), list[AnswerSentence]()
    for marker, section in enumerate(sections[:MOST_SECTIONS], start=1):
        start, end = section.span
        quote = document.text[start:end]
        shown = quote if section.name == quote else _shown(document, section.span)
        line = f"{section.name}: {shown}" if section.name not in ("", quote) else shown
        lines.append(f"- {line} [{marker}]")
        score = Score(1.0, SUPPORT)
        citations.append(Citation(marker, document.id, document.source, document.title, None, start, end, quote, score))
        sentences.append(AnswerSentence(0, 0, line, ClaimState.QUOTED, 1.0, (marker,)))
    if further := [section.name for section in sections[MOST_SECTIONS:]]:
        more = f"; and {len(further) - MOST_NAMED} more" if len(further) > MOST_NAMED else ""
        lines.append(f"Further parts: {'; '.join(filter(None, further[:MOST_NAMED]))}{more}.")
    return Generation("\n".join(lines), tuple(citations), sentences=tuple(sentences))


def _shown(document: Document, span: Span) -> str:
    """A sentence in quotation marks; of a table its rows, counted, and the names of its columns."""
    quote = " ".join(document.text[slice(*span)].split())
    if tables := [table for table in document.tables_over(*span) if table.rows and table.rows[0] == span]:
        names = ", ".join(filter(None, cells(quote)))
        count = len(tables[0].rows) - 1
        return f"a table of {count:,} row{'s' * (count != 1)}: {names}"
    return f"“{quote}”" if len(quote) <= LONGEST else f"“{quote[:LONGEST].rsplit(' ', 1)[0]} …”"


def properties(document: Document, asked: Fact) -> str | None:
    """What a file says of itself, in bold what is asked; None where it does not say that."""
    facts = _facts(document)
    if asked not in facts:
        return None
    facts[asked] = f"**{facts[asked]}**"
    return f"{_called(document)}: {', '.join(facts.values())}."


def _called(document: Document) -> str:
    return f"“{document.title}” ({PurePath(document.source).name})"


def _facts(document: Document) -> dict[Fact, str]:
    """How long a document is and what it consists of, who wrote it and when, who changed it last."""
    counts = {
        "slide" if document.kind == "pptx" else "page": len(document.pages),
        "sheet": sum(mark.kind == "sheet" for mark in document.marks),
        "heading": sum(mark.kind == "heading" for mark in document.marks),
        "table": len(document.tables),
        "word": len(document.text[: document.card].split()),
    }
    lengths = (f"{count:,} {what}{'s' * (count != 1)}" for what, count in counts.items() if count)
    facts: dict[Fact, str] = {"length": ", ".join(lengths)}
    if author := document.metadata.get("author") or document.metadata.get("from"):
        facts["author"] = f"by {author}"
    if document.date:
        facts["date"] = f"dated {_day(document.date)}"
    if changed := document.metadata.get("changed"):
        by = document.metadata.get("changed_by")
        facts["changed"] = f"last changed on {_day(str(changed))}{f' by {by}' if by else ''}"
    return facts


def _day(stated: str) -> str:
    days = dates_in(stated)
    return written(days[0][0]) if days and len(stated) == len("2021-04-12") else stated


def parts_of(document: Document) -> Iterator[tuple[str, int, int]]:
    """The parts of a document by its headings, sheets or pages, without these by its paragraphs: name, start, end."""
    kinds = {mark.kind for mark in document.marks}
    by = next((kind for kind in ("heading", "sheet") if kind in kinds), None)
    end = document.card
    starts: list[tuple[int, str]]
    if document.kind == "pptx" and document.pages:
        titles = (document.text[page.start : page.end].strip().split("\n", 1)[0] for page in document.pages)
        starts = [(page.start, title) for page, title in zip(document.pages, titles, strict=True)]
    elif by is not None:
        marks = [mark for mark in document.marks if mark.kind == by]
        starts = [(mark.start, mark.name) for mark in marks]
    elif document.pages:
        starts = [(page.start, f"Page {page.number}") for page in document.pages]
    else:
        paragraphs, at = list[int](), 0
        for paragraph in document.text[:end].split("\n\n"):
            paragraphs.append(at)
            at += len(paragraph) + 2
        starts = [(start, "") for start in paragraphs]
    for (start, name), behind in zip(starts, [*(start for start, _ in starts[1:]), end], strict=True):
        yield name, start, behind


def _sections(document: Document) -> Iterator[Section]:
    """The parts with the sentence that each begins with."""
    for name, start, behind in parts_of(document):
        line_end = document.text.find("\n", start, behind) % (behind + 1) if name else start
        at = document.text.find(name, start, line_end) if name else -1
        if (span := _first_of(document, line_end if at >= 0 else start, behind)) is not None:
            yield Section(name, span)
        elif at >= 0 and name != document.title:
            yield Section(name, (at, at + len(name)))


def _first_of(document: Document, start: int, end: int) -> Span | None:
    """The first sentence that says something, or the first row of a table; in a span of a document."""
    start, end = trim(document.text, start, min(end, start + BELOW))
    tables = document.tables_over(start, end) if start < end else ()
    begin = tables[0].start if tables else end
    spans = [(start + low, start + high) for low, high in sentence_spans(document.text[start:begin])]
    telling = (span for span in spans if not says_nothing(document.text[slice(*span)]))
    found = next(telling, None)
    return found if found is not None else tables[0].rows[0] if tables else None
