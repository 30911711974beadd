"""The documents that a question names go before the chunks that a search finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from thresher.protocols import Retriever, about
from thresher.types import Judged, Query

MOST = 10
"""Documents that go before the others; more are a list, and no answer reads them all."""


class FindsNamed(Protocol):
    """Finds the documents that a question names."""

    def answers(self, question: str) -> bool:
        """Whether a question names documents that are here."""

    def __call__(self, query: Query) -> Judged:
        """A hit for each, with how well its name fits among its scores."""


@dataclass(frozen=True, slots=True)
class NamedRetriever:
    """Another retriever's hits behind the beginnings of the documents that a question names, if it names any."""

    retriever: Retriever
    finders: Sequence[FindsNamed]

    @property
    def about(self) -> str:
        """What the retriever says of itself."""
        return about(self.retriever)

    def __call__(self, query: Query) -> Judged:
        """Named documents first; a restricted search and a question that names none are searched as they are."""
        found = self.retriever(query)
        finders = [find for find in self.finders if query.where is None and find.answers(query.question)]
        named = [one for find in finders for one in find(query).judgements][:MOST]
        if not named:
            return found
        ids = {one.hit.chunk.id for one in named}
        every = [*named, *(one for one in found.judgements if one.hit.chunk.id not in ids)]
        ranked = (replace(one, hit=replace(one.hit, rank=rank)) for rank, one in enumerate(every, start=1))
        return replace(found, judgements=tuple(ranked))
