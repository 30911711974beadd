"""What a document says as a whole, draft by a chat model part by part, each sentence checked against its part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePath

from thresher.answering.citations import SUPPORT, renumbered
from thresher.answering.proposers.outline import outline, parts_of
from thresher.protocols import Generator
from thresher.types import NO_NOTES, AnswerSentence, Chunk, Citation, Document, Evidence, Generation, Hit, Query, Score

MOST_PARTS = 12
"""Calls of the model; further parts are not read, and the summary says how many were."""
LEAST, MOST = 1_500, 6_000
"""Characters of a part, made of whole sections; a longer section is several parts."""
ASKED = "Summarise what this part of “{}” says, in at most three sentences."


@dataclass(frozen=True, slots=True)
class Part:
    """Sections that follow each other: their names, and where they stand; of a section that goes on none."""

    names: tuple[str, ...]
    start: int
    end: int

    @property
    def name(self) -> str:
        """The first section's name, and the last one's."""
        called = [name for name in (*self.names[:1], *self.names[-1:]) if name]
        return " to ".join(dict.fromkeys(called))


def summary(document: Document, write: Generator, tell: Callable[[str], None]) -> Generation:
    """The summary; the outline where the model wrote nothing that its part supports. `tell` gets the summary's lines.

    `write` answers a question from evidence with checked sentences; `answered_by` is `reader` where its model failed,
    and no further part is read.
    """
    parts, citations, notes = list(grouped(document)), list[Citation](), NO_NOTES
    sentences, removed = list[AnswerSentence](), list[AnswerSentence]()
    planned, of = (sum(len(part.names) for part in some) for some in (parts[:MOST_PARTS], parts))
    share = sum(part.end - part.start for part in parts[:MOST_PARTS]) / sum(part.end - part.start for part in parts)
    read = f"all {of}" if len(parts) <= MOST_PARTS else f"{planned} of {of}"
    read += f" section{'s' * (of != 1)}" + f", {share:.0%} of the text" * (len(parts) > MOST_PARTS)
    lines = [f"A summary of “{document.title}” ({PurePath(document.source).name}), of {read}:"]
    sections = 0

    def add(line: str) -> None:
        if len(lines) == 1:
            tell(lines[0])
        lines.append(line)
        tell(f"\n{line}")

    for part in parts[:MOST_PARTS]:
        draft = write(_query(document), [_evidence(document, part)])
        notes += draft.notes
        if draft.answered_by == "reader":
            break
        sections += len(part.names)
        removed += draft.removed
        if draft.citations:
            shift = len(citations)
            text = " ".join(renumbered(draft.text, draft.citations, shift).split())
            add(f"- {part.name}: {text}" if part.name else f"- {text}")
            citations += (replace(one, marker=one.marker + shift) for one in draft.citations)
            sentences += (replace(one, citations=tuple(at + shift for at in one.citations)) for one in draft.sentences)
    if not citations:
        return replace(outline(document), notes=notes, removed=tuple(removed))
    if draft.answered_by == "reader":
        add(f"Only {sections} of {of} sections were read.")
    if removed:
        add(f"Left out: {len(removed)} sentence{'s' * (len(removed) != 1)} that the document does not support.")
    return Generation(
        "\n".join(lines),
        tuple(citations),
        notes=notes,
        answered_by="model",
        sentences=tuple(sentences),
        removed=tuple(removed),
    )


def grouped(document: Document) -> Iterator[Part]:
    """The sections of a document, so many together that a model can read them at once and few calls are needed."""
    wanted = min(max(LEAST, document.card // MOST_PARTS), MOST)
    names, begin = list[str](), 0
    for name, start, end in parts_of(document):
        begin = begin if names else start
        names.append(name)
        if end - begin >= wanted or end >= document.card:
            yield from _cut(document.text, tuple(names), begin, end)
            names = []


def _cut(text: str, names: tuple[str, ...], start: int, end: int) -> Iterator[Part]:
    """One part, or several that end with a line where that is possible."""
    while end - start > MOST:
        line_end = text.rfind("\n", start + LEAST, start + MOST)
        cut = line_end if line_end > 0 else start + MOST
        yield Part(names, start, cut)
        names, start = (), cut
    yield Part(names, start, end)


def _query(document: Document) -> Query:
    asked = ASKED.format(document.title)
    return Query(asked, asked)


def _evidence(document: Document, part: Part) -> Evidence:
    text = document.text[part.start : part.end]
    id_ = f"{document.id}:{part.start}"
    chunk = Chunk(id_, document.id, document.source, document.title, part.start, part.end, text)
    return Evidence(Hit(chunk, Score(1.0, SUPPORT), 1), part.start, part.end, text, document.page_at(part.start))
