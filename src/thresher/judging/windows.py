"""What a judge reads of a chunk: the entry that is asked for, and rows of a table in words.

Where a question names an identifier, a hit is judged by the entry that stands under it, and by no other entry. A model
that reads text is given a table as "caption. header: cell; header: cell".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from thresher.judging.judge import parts_of, value_of
from thresher.judging.scorers import WrappedScorer
from thresher.structure.answers import grids_near
from thresher.structure.entries import Named, entry_probability, named_in
from thresher.text.entities import heads_in
from thresher.text.sentences import Span
from thresher.text.terms import term_set
from thresher.types import NO_NOTES, UNIT, Document, Hit, Query, Score, Scores

Known = tuple[Score | None, Mapping[str, Score]]
"""A score and its parts."""

ROWS = 3
"""Rows of a piece of a table that are judged, together, those that share most words with the question. On 25 questions
to 6 office files the logit of three is above that of the best one for 21, and above that of the bare table for 24."""


@dataclass(frozen=True, slots=True)
class EntryScorer(WrappedScorer):
    """Another scorer, 0 to 1, which reads the entry that is asked for; a hit under other identifiers alone scores 0."""

    documents: Callable[[Sequence[str]], Mapping[str, Document]]

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
        """One score per hit; a hit that reaches into entries asked for has the score of the best of them."""
        if not any(heads_in(query.question)):
            return self.scorer(query, hits)
        documents = self.documents(sorted({hit.chunk.document_id for hit in hits}))
        named = {id_: named_in(document, query.question, _spans(id_, hits)) for id_, document in documents.items()}
        entries = {hit.chunk.id: _entries(hit, documents, named) for hit in hits}
        distinct = {(one.chunk.document_id, one.chunk.start): one for each in entries.values() for one in each}
        rest = [hit for hit in hits if not entries[hit.chunk.id] and not _is_other(hit, named)]
        plain, found = self.scorer(query, rest), self.scorer(query, [*distinct.values()])
        scored = dict(zip(distinct, _known(query, found, lifted=True), strict=True))
        unnamed = dict(zip((hit.chunk.id for hit in rest), _known(query, plain), strict=True))

        def of(hit: Hit) -> Known:
            own = [scored[one.chunk.document_id, one.chunk.start] for one in entries[hit.chunk.id]]
            if not own:
                return unnamed.get(hit.chunk.id, (Score(0.0, UNIT), {}))
            return max(own, key=lambda known: value_of(known[0]))

        each = [of(hit) for hit in hits]
        notes = (plain if rest else found).notes if hits else NO_NOTES
        return Scores(tuple(score for score, _ in each), notes, tuple(others for _, others in each))


def _spans(document_id: str, hits: Sequence[Hit]) -> list[Span]:
    """Where the hits of a document stand."""
    return [(hit.chunk.start, hit.chunk.end) for hit in hits if hit.chunk.document_id == document_id]


def _entries(hit: Hit, documents: Mapping[str, Document], named: Mapping[str, Named]) -> list[Hit]:
    """The entries asked for that a hit reaches into, each as a hit without scores."""
    chunk = hit.chunk
    if chunk.document_id not in documents:
        return []
    text = documents[chunk.document_id].text
    return [
        replace(hit, chunk=replace(chunk, start=one.start, end=one.end, text=text[one.start : one.end]), scores={})
        for one in named[chunk.document_id].of(chunk.start, chunk.end)
    ]


def _is_other(hit: Hit, named: Mapping[str, Named]) -> bool:
    known = named.get(hit.chunk.document_id)
    return known is not None and known.is_other(hit.chunk.start, hit.chunk.end)


def _known(query: Query, scores: Scores, *, lifted: bool = False) -> list[Known]:
    """Each score with its parts; `lifted`, an entry scores at least what the trained judge's `answers` is worth."""
    return [
        (Score(max(score.value, entry_probability(query.question, made["answers"].value)), UNIT), made)
        if lifted and score is not None and "answers" in made
        else (score, made)
        for score, made in zip(scores.scores, parts_of(scores), strict=True)
    ]


# --- tables -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TableScorer(WrappedScorer):
    """Another scorer, which reads the rows of a table in words."""

    documents: Callable[[Sequence[str]], Mapping[str, Document]]
    """Header and caption may stand in another chunk."""

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
        """One score per hit."""
        documents = self.documents(sorted({hit.chunk.document_id for hit in hits if hit.chunk.kind == "table"}))
        return self.scorer(query, [_in_words(hit, documents, query.question) for hit in hits])


def _in_words(hit: Hit, documents: Mapping[str, Document], question: str) -> Hit:
    """The hit with the text around its table and the rows that share most words with the question.

    The scores of the old text, that of its vector above all, do not hold for it.
    """
    chunk = hit.chunk
    document = documents.get(chunk.document_id) if chunk.kind == "table" else None
    grids = () if document is None else grids_near(document, chunk.start, chunk.end)
    if (grid := next(iter(grids), None)) is None:
        return hit
    rows = [grid.row_form(at) for at, row in enumerate(grid.rows) if chunk.start <= row[0].start < chunk.end]
    if not rows:
        return hit
    asked = term_set(question)
    best = sorted(rows, key=lambda form: -len(asked & term_set(form)))[:ROWS]
    text = " ".join(map(_stopped, (*(cell.text for cell in grid.around), *best)))
    return replace(hit, chunk=replace(chunk, text=text), scores={})


def _stopped(text: str) -> str:
    return text if text.endswith((".", ":", "!", "?")) else f"{text}."
