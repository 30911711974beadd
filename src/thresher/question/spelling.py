"""A mistyped word of a question in place of which the collection has one word: that word is searched and judged."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from string import ascii_lowercase

from thresher.protocols import ChunkTable
from thresher.question.wording import PLAIN_WORD, may_be_mistyped
from thresher.text.entities import names_in
from thresher.text.terms import term_set
from thresher.types import Filter, Query

CHUNKS_READ = 20
"""Chunks with a word one letter away that are read for the others: two words in them are none that was meant."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """Puts a word of the collection in place of one that it lacks, where only one is an edit of a letter away.

    Never a name, which may well be another one's.
    """

    table: ChunkTable
    is_word: Callable[[str], bool]
    """Whether a word is one that many texts have: it is not mistyped, though the collection lacks it."""

    def __call__(self, query: Query) -> Query:
        """The query with its words corrected, what was typed as `asked`; the same where there is nothing to correct."""
        written = PLAIN_WORD.sub(lambda word: self._corrected(word[0], query.where), query.question)
        if written == query.question:
            return query
        return replace(query, question=written, search=written, asked=query.question, outside=query.question)

    def _corrected(self, word: str, where: Filter | None) -> str:
        if not may_be_mistyped(word, self.is_word) or not term_set(word):
            return word
        if any(self.table.document_frequencies(word).values()):
            return word
        near = list(dict.fromkeys(edits(word.lower())))
        chunks = [chunk for chunk, _ in self.table.matching(" ".join(near), limit=CHUNKS_READ, where=where)]
        text = "\n".join(f"{chunk.title}\n{chunk.text}" for chunk in chunks)
        spoken, there = set(re.findall(r"\w+", text)), term_set(text)
        written = {one.lower() for one in spoken}
        fitting = [one for one in near if one in written] or [
            one for one in near if self.is_word(one) and term_set(one) and term_set(one) <= there
        ]
        if len({term_set(one) for one in fitting}) != 1:
            return word
        names = {name.lower() for name in names_in(text)}
        return word if fitting[0] in names - spoken else fitting[0]


def edits(word: str) -> Iterator[str]:
    """The words one letter away: one left out, put in, in place of another, or two exchanged (Damerau 1964)."""
    for at in range(len(word) + 1):
        before, behind = word[:at], word[at:]
        if behind:
            yield before + behind[1:]
            yield from (before + letter + behind[1:] for letter in ascii_lowercase if letter != behind[0])
        if len(behind) > 1:
            yield before + behind[1] + behind[0] + behind[2:]
        yield from (before + letter + behind for letter in ascii_lowercase)
