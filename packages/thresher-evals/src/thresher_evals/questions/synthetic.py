"""Makes questions from a collection's texts, each with the documents that answer it; see `thresher.questions`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thresher.recipes.calibrate import SyntheticQuestion
from thresher.text.sentences import line_spans
from thresher.types import Chunk, Document, Table
from thresher_evals.questions.question_maker import MadeOf, QuestionMaker

ONE_IN = 5
"""One unanswerable question in so many is a near miss. Without any, the verdict trusts evidence too much for near
misses of people; with half, too little where the answer exists (docs/decisions.md)."""


def synthetic_questions(chunks: Sequence[Chunk], *, number: int, seed: int = 0) -> list[SyntheticQuestion]:
    """Up to `number` brief questions, from different documents as far as possible; the same for a fixed seed."""
    by_document: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        by_document.setdefault(chunk.document_id, []).append(chunk)
    maker = QuestionMaker([put_together(found) for found in by_document.values()], seed=seed)
    made = maker.made(number, brief=True)
    answered_by = _answered_by(made, chunks)
    near = iter(maker.near_misses(len(made) // ONE_IN))
    missed = ((next(near, None) if at % ONE_IN == 0 else None) for at in range(len(made)))
    return [
        SyntheticQuestion(
            one.made.brief,
            one.document.id,
            documents,
            "" if miss is None else miss.question,
            _place(one),
        )
        for one, documents, miss in zip(made, answered_by, missed, strict=True)
    ]


def _place(one: MadeOf) -> tuple[int, int]:
    """The span of the answer's words, else of their sentence or row."""
    made = one.made
    at = one.document.text.find(made.answer, made.start, made.end)
    return (made.start, made.end) if at < 0 else (at, at + len(made.answer))


def put_together(chunks: Sequence[Chunk]) -> Document:
    """The document of some chunks; the text between them becomes line breaks."""
    found = sorted(chunks, key=lambda chunk: chunk.start)
    text = ""
    for chunk in found:
        text = text[: chunk.start].ljust(chunk.start, "\n") + chunk.text + text[chunk.end :]
    first = found[0]
    return Document(first.document_id, first.source, first.title, text, "text", tables=tuple(_tables(text, found)))


def _tables(text: str, chunks: Sequence[Chunk]) -> Iterator[Table]:
    spans: list[tuple[int, int]] = []
    for chunk in chunks:
        if chunk.kind == "table":
            joined = spans and "\n\n" not in text[spans[-1][1] : chunk.start]
            start = spans.pop()[0] if joined else chunk.start
            spans.append((start, chunk.end))
    for start, end in spans:
        rows = tuple((start + low, start + high) for low, high in line_spans(text[start:end]))
        yield Table(start, end, rows)


def _answered_by(made: Sequence[MadeOf], chunks: Sequence[Chunk]) -> list[tuple[str, ...]]:
    """For each question, the documents of chunks with its answer and its subject (in text or title)."""
    documents = [{one.document.id: None} for one in made]
    wanted = [((one.made.subject or one.name).casefold(), one.made.answer.casefold()) for one in made]
    for chunk in chunks:
        text = f"{chunk.title}\n{chunk.text}".casefold()
        for (subject, answer), found in zip(wanted, documents, strict=True):
            if subject in text and answer in text:
                found[chunk.document_id] = None
    return [tuple(found) for found in documents]
