"""Checks answers against the documents they cite: every quote, marker and number.

No model is called. An answer without a problem need not be right; one with a problem should be read before use.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from thresher.collection import Collection
from thresher.text.numbers import numbers_in
from thresher.types import Document
from thresher_evals.judges.judgements import rows_of

MARKER = re.compile(r"\[(\d{1,2})\]")
"""A citation in an answer; a year in brackets does not match."""

COMPUTED = re.compile(r"=|≈|computed|difference|average|\bsum\b", re.IGNORECASE)
"""Signs of a computed number, which no quote need contain."""


Find = Callable[[str], Document | None]
"""Source to document; None if the collection has none."""


@dataclass(frozen=True, slots=True)
class Audited:
    """An answer and its problems in words; an abstention has none."""

    question: str
    recipe: str
    text: str
    abstained: bool
    citations: int
    outside: int
    """Citations from outside the collection."""
    problems: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "question": self.question,
            "recipe": self.recipe,
            "text": self.text,
            "abstained": self.abstained,
            "citations": self.citations,
            "outside": self.outside,
            "problems": list(self.problems),
        }


def of_run(directory: Path) -> Iterator[Mapping[str, Any]]:
    """The answers of a run, in the API's format."""
    for recipe, rows in rows_of(directory, None).items():
        for row in rows:
            if row.reply is not None:
                citations = [vars(citation) for citation in row.reply.citations]
                reply = {"text": row.reply.text, "abstained": row.reply.abstained, "citations": citations}
                yield {"question": row.question.question, "recipe": recipe, **reply}


def stored(collection: Collection) -> Iterator[Mapping[str, Any]]:
    """The answers that a collection stored, by id."""
    for trace in sorted(trace for trace, _ in collection.traces.asked()):
        yield collection.traces.load(trace)


def audit_answers(answers: Iterable[Mapping[str, Any]], collection: Collection) -> list[Audited]:
    """Audit answers against the documents of the collection."""
    ids = {source: record.id for record in collection.documents() for source in collection.also(record.id)}
    documents: dict[str, Document] = {}
    return [audited(answer, partial(document_of, collection, ids, documents)) for answer in answers]


def document_of(
    collection: Collection, ids: Mapping[str, str], known: dict[str, Document], source: str
) -> Document | None:
    """The document of a source, read once; None if the collection has none."""
    if source not in ids:
        return None
    if ids[source] not in known:
        known[ids[source]] = collection.document(ids[source])
    return known[ids[source]]


def audited(answer: Mapping[str, Any], find: Find) -> Audited:
    """An answer with its problems."""
    text, citations = str(answer["text"]), answer["citations"]
    outside = [one for one in citations if one["origin"] == "outside"]
    problems: list[str] = []
    if not answer["abstained"]:
        problems = [*cited_badly(text, citations), *misquoted(citations, find), *numbers_without(text, citations)]
    return Audited(
        answer["question"],
        answer["recipe"],
        text,
        bool(answer["abstained"]),
        len(citations),
        len(outside),
        tuple(dict.fromkeys(problems)),
    )


def cited_badly(text: str, citations: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Problems of the markers."""
    if not citations:
        yield "cites nothing"
        return
    known, used = {one["marker"] for one in citations}, {int(found) for found in MARKER.findall(text)}
    yield from (f"[{marker}] stands in it and leads nowhere" for marker in sorted(used - known))
    yield from (f"[{marker}] is listed and stands nowhere in it" for marker in sorted(known - used))


def misquoted(citations: Sequence[Mapping[str, Any]], find: Find) -> Iterator[str]:
    """Quotes that differ from the text at their offsets."""
    for one in citations:
        if one["origin"] == "outside":
            continue
        document = find(one["source"])
        if document is None:
            yield f"[{one['marker']}] cites {Path(one['source']).name}, which is not in the collection"
        elif document.text[one["start"] : one["end"]] != one["quote"]:
            yield f"[{one['marker']}] quotes what does not stand at its place in {Path(one['source']).name} (any more)"


def numbers_without(text: str, citations: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Numbers of an answer that are in none of its quotes and not marked as computed."""
    if not citations or COMPUTED.search(text):
        return
    quoted = numbers_in(" ".join(str(one["quote"]) for one in citations))
    for number in sorted(numbers_in(MARKER.sub("", text)) - quoted):
        yield f"{number} stands in no quote"


def summary(found: Sequence[Audited]) -> dict[str, int]:
    """Numbers of answers, refusals, citations, and answers with a problem."""
    counts = Counter("refused" if one.abstained else "problem" if one.problems else "sound" for one in found)
    return {
        "answers": counts["sound"] + counts["problem"],
        "refused": counts["refused"],
        "citations": sum(one.citations for one in found),
        "outside": sum(one.outside for one in found),
        "sound": counts["sound"],
        "with_problems": counts["problem"],
    }
