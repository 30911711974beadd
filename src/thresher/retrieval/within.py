"""Filters that look among some rows only."""

from __future__ import annotations

from collections.abc import Sequence

from thresher.types import Chunk


def within(column: str, values: Sequence[str], where: str | None = None) -> str:
    """The filter that holds for rows with one of the values in a column, and for which `where` holds too."""
    listed = ", ".join("'" + value.replace("'", "''") + "'" for value in values)
    among = f"{column} IN ({listed})"
    return among if where is None else f"({where}) AND {among}"


def children_of(chunks: Sequence[Chunk], where: str | None = None) -> str:
    """The filter that holds for the subchunks of some chunks, and for which `where` holds too."""
    documents = list(dict.fromkeys(chunk.document_id for chunk in chunks))
    # Says nothing new, but documents are in an index and parents are not: half the time at 20,000 subchunks.
    return within("parent_id", [chunk.id for chunk in chunks], within("document_id", documents, where))
