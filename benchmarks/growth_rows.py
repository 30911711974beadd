"""Rows of any number for `benchmarks.growth`, and what a search of them has to find, computed without a store.

They are the same at every run and made in batches, so that the memory does not grow with their number: words of a
vocabulary of 200,000 by Zipf's law, 40 to 120 in a chunk, five chunks in a document. The 50 most frequent ranks are
left out, as stop words are: the most frequent word stands in about 17 % of the chunks. A vector is one of 2,000
centres, the document's own direction (.7) and the chunk's (.5). All of them have the variance of (1 + j/16)^-1.5 along
the j-th of 384 directions (about 80 effective ones, as encoders have, not 384).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.text.terms import TITLE_WEIGHT, chunk_terms, index_terms, query_terms
from thresher.types import Chunk, ChunkRow

DIMENSION = 384
BATCH = 1000
"""Rows made, and added, at once."""

QUESTIONS = 100
KIND = "pdf"
"""The kind of a tenth of the documents; the others are of another."""

ADDED = 100
"""Rows that are added to a full table."""

CHUNKS = 5
"""Of a document, and rows that replace those of a changed one."""

DELETED, REPLACED = 400, 600
"""Rows whose documents are removed and replaced."""

KEPT_TRUE = 200
"""So many of the best by BM25 are kept with their scores: copies of a text have the same score."""

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Question:
    """What is asked by words and by a vector."""

    text: str
    vector: Matrix


@dataclass(frozen=True)
class Tokens:
    """The index terms of a batch as numbers, row after row."""

    flat: NDArray[np.int32]
    lengths: NDArray[np.int64]


def hexadecimal(*parts: object) -> str:
    """An id as real ones are: hexadecimal, in no order."""
    return blake2b(repr(parts).encode(), digest_size=12).hexdigest()


def kind_of(document: int) -> str:
    """The kind of a document by its number."""
    return KIND if document % 10 == 0 else "text"


def unit(matrix: Matrix) -> Matrix:
    """The rows at unit length."""
    scaled: Matrix = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    return scaled


# --- synthetic --------------------------------------------------------------------------------------------------------

WORDS = 200_000
LEFT_OUT = 50
CENTRES = 2000
DOCUMENT_SHARE, CHUNK_SHARE, QUESTION_SHARE = 0.7, 0.5, 0.5
TITLE_WORDS, QUESTION_WORDS = 3, 6


class Synthetic:
    """Words by Zipf's law and clusters of vectors."""

    @cached_property
    def _words(self) -> list[str]:
        syllables = ["".join(pair) for pair in product("bdfgklmnprstvz", "aeiou")]
        words = np.array(["".join(three) for three in product(syllables, repeat=3)])
        return [str(word) for word in np.random.default_rng(1).permutation(words)[:WORDS]]

    @cached_property
    def _cumulated(self) -> NDArray[np.float64]:
        shares = np.cumsum(1 / (np.arange(1, WORDS + 1) + LEFT_OUT))
        scaled: NDArray[np.float64] = shares / shares[-1]
        return scaled

    @cached_property
    def _terms(self) -> list[str]:
        """The term that each word becomes."""
        return [index_terms(word)[0] for word in self._words]

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The number of each index term."""
        return {term: number for number, term in enumerate(dict.fromkeys(self._terms))}

    @cached_property
    def _term_numbers(self) -> NDArray[np.int32]:
        """The number of the term that each word becomes."""
        return np.array([self.numbers[term] for term in self._terms], np.int32)

    def _drawn(self, number: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The words of a batch's texts, how many each text has, and the words of its titles."""
        random = np.random.default_rng([2, number])
        lengths = random.integers(40, 121, BATCH)
        words = np.searchsorted(self._cumulated, random.random(int(lengths.sum())))
        titles = np.searchsorted(self._cumulated, random.random((BATCH // CHUNKS, TITLE_WORDS)))
        return words, lengths, titles

    def id_of(self, row: int) -> str:
        """The chunk's id of a row by its number."""
        return hexadecimal("chunk", row)

    def batch(self, number: int) -> list[ChunkRow]:
        """The rows from `number * BATCH` on."""
        words, lengths, titles = self._drawn(number)
        texts = [" ".join(map(self._words.__getitem__, part)) for part in np.split(words, np.cumsum(lengths)[:-1])]
        named = [" ".join(map(self._words.__getitem__, title)) for title in titles]
        vectors = self.vectors(number)
        return [self._row(number * BATCH + at, text, named[at // CHUNKS], vectors[at]) for at, text in enumerate(texts)]

    def _row(self, number: int, text: str, title: str, vector: Matrix) -> ChunkRow:
        document, at = divmod(number, CHUNKS)
        id_ = hexadecimal("document", document)
        chunk = Chunk(self.id_of(number), id_, f"{id_}.txt", title, 800 * at, 800 * at + len(text), text, number=at + 1)
        return ChunkRow(chunk, kind_of(document), "2026-01-01", None, vector)

    def kinds(self, number: int) -> NDArray[np.str_]:
        """The kinds of the documents of a batch's rows."""
        return np.array([kind_of((number * BATCH + row) // CHUNKS) for row in range(BATCH)])

    @cached_property
    def _directions(self) -> Matrix:
        """What makes the even variance of random numbers the uneven one of vectors."""
        turned = np.linalg.qr(np.random.default_rng(3).standard_normal((DIMENSION, DIMENSION)))[0]
        shares = (1 + np.arange(DIMENSION) / 16) ** -0.75
        return np.asarray(shares[:, None] * turned, np.float32)

    @cached_property
    def _centres(self) -> Matrix:
        return np.random.default_rng(4).standard_normal((CENTRES, DIMENSION), np.float32)

    def vectors(self, number: int) -> Matrix:
        """The vectors of a batch."""
        random = np.random.default_rng([5, number])
        documents = random.standard_normal((BATCH // CHUNKS, DIMENSION), np.float32) * np.float32(DOCUMENT_SHARE)
        documents += self._centres[random.integers(0, CENTRES, BATCH // CHUNKS)]
        own = random.standard_normal((BATCH, DIMENSION), np.float32) * np.float32(CHUNK_SHARE)
        return unit((np.repeat(documents, CHUNKS, axis=0) + own) @ self._directions)

    def tokens(self, number: int) -> Tokens:
        """The index terms of a batch."""
        words, lengths, titles = self._drawn(number)
        title = np.tile(titles, TITLE_WEIGHT)
        width = title.shape[1]
        places = np.repeat(np.cumsum(lengths) - lengths, width)
        flat = np.insert(words, places, np.repeat(title, CHUNKS, axis=0).ravel())
        return Tokens(self._term_numbers[flat], lengths + width)

    def questions(self) -> list[Question]:
        """Six words of a chunk among the first 10,000, and a direction near its vector."""
        random = np.random.default_rng(6)
        asked = []
        near_batches = {number: (*self._drawn(number), self.vectors(number)) for number in range(10)}
        for at in random.integers(0, 10 * BATCH, QUESTIONS):
            batch, row = divmod(int(at), BATCH)
            words, lengths, _, vectors = near_batches[batch]
            begin = int(lengths[:row].sum())
            chosen = random.choice(words[begin : begin + lengths[row]], QUESTION_WORDS, replace=False)
            noise = random.standard_normal((1, DIMENSION), np.float32) @ self._directions
            near = vectors[row] + QUESTION_SHARE * unit(noise)[0]
            asked.append(Question(" ".join(map(self._words.__getitem__, chosen)), unit(near[None])[0]))
        return asked


# --- changes ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Changes:
    """What is done to a full table of so many rows."""

    added: Sequence[ChunkRow]
    deleted: str
    """A document's id."""

    replaced: str
    """A document's id."""

    replacing: Sequence[ChunkRow]
    """Its new rows."""


def changes(rows: Synthetic, size: int) -> Changes:
    """Rows that follow the last one, and two documents of the first batch."""
    first, extra = rows.batch(0), rows.batch(size // BATCH)
    deleted, replaced = (first[at].chunk.document_id for at in (DELETED, REPLACED))
    replacing = [replace(row, chunk=replace(row.chunk, document_id=replaced)) for row in extra[ADDED : ADDED + CHUNKS]]
    return Changes(extra[:ADDED], deleted, replaced, replacing)


# --- what has to be found ---------------------------------------------------------------------------------------------


class Exact:
    """Neighbours and BM25 of the questions over the rows made so far, in numpy."""

    def __init__(self, rows: Synthetic, size: int, *, changed: bool) -> None:
        """The first `size` rows, and with `changed` those of `changes` in place of what they remove."""
        self._rows, self._questions = rows, rows.questions()
        self._batches = [*range(size // BATCH)]
        self._last = [size // BATCH] if changed else []
        self._gone: set[str] = set()
        if changed:
            self._gone = {changes(rows, size).deleted, changes(rows, size).replaced}

    def _present(self, number: int) -> NDArray[np.int64]:
        """Which rows of a batch are in the table."""
        if number in self._last:
            return np.arange(ADDED + CHUNKS)
        if number or not self._gone:
            return np.arange(BATCH)
        documents = [row.chunk.document_id for row in self._rows.batch(0)]
        return np.array([at for at, id_ in enumerate(documents) if id_ not in self._gone])

    def neighbours(self, *, kind: str | None = None) -> list[list[str]]:
        """For each question the ids of the ten nearest rows, of all or of a kind."""
        asked = np.stack([question.vector for question in self._questions])
        best = np.full((len(asked), 10), -2, np.float32)
        places = np.zeros((len(asked), 10), np.int64)
        for number in [*self._batches, *self._last]:
            present = self._present(number)
            if kind is not None:
                present = present[self._rows.kinds(number)[present] == kind]
            cosines = np.hstack([best, asked @ self._rows.vectors(number)[present].T])
            numbered = np.hstack([places, np.broadcast_to(number * BATCH + present, (len(asked), len(present)))])
            chosen = np.argpartition(-cosines, 9, axis=1)[:, :10]
            best = np.take_along_axis(cosines, chosen, axis=1)
            places = np.take_along_axis(numbered, chosen, axis=1)
        return [[self._rows.id_of(place) for place in found] for found in places.tolist()]

    def best_by_words(self) -> list[dict[str, float]]:
        """For each question the ids of the best rows by BM25 with their scores, best first, in float64."""
        numbers = self._rows.numbers
        asked = [[numbers.get(term, -1) for term in query_terms(question.text)] for question in self._questions]
        wanted = sorted({term for terms in asked for term in terms if term >= 0})
        holding, lengths, places = self._holding(wanted)
        average = float(lengths.mean())
        found = []
        for terms in asked:
            scores = np.zeros(len(lengths))
            for term in terms:
                rows, frequencies = holding.get(term, (np.zeros(0, np.int64), np.zeros(0)))
                rarity = np.log(1 + (len(lengths) - len(rows) + 0.5) / (len(rows) + 0.5))
                damped = frequencies + 1.2 * (0.25 + 0.75 * lengths[rows] / average)
                scores[rows] += rarity * 2.2 * frequencies / damped
            order = np.argsort(-scores, kind="stable")[:KEPT_TRUE]
            order = order[scores[order] > 0]
            ids = [self._rows.id_of(place) for place in places[order].tolist()]
            found.append(dict(zip(ids, scores[order].tolist(), strict=True)))
        return found

    def _holding(
        self, wanted: Sequence[int]
    ) -> tuple[dict[int, tuple[NDArray[np.int64], NDArray[np.float64]]], NDArray[np.int64], NDArray[np.int64]]:
        """For each wanted term the rows that hold it and how often; the rows' lengths; the rows' numbers."""
        slots = np.full(len(self._rows.numbers), -1, np.int64)
        slots[list(wanted)] = np.arange(len(wanted))
        counted: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        lengths, places, before = [], [], 0
        for number in [*self._batches, *self._last]:
            tokens, present = self._rows.tokens(number), self._present(number)
            place_of = np.full(BATCH, -1, np.int64)
            place_of[present] = before + np.arange(len(present))
            holders = np.repeat(place_of, tokens.lengths)
            slot = slots[tokens.flat]
            kept = (slot >= 0) & (holders >= 0)
            counted.append(np.unique(slot[kept] + holders[kept] * len(wanted), return_counts=True))
            lengths.append(tokens.lengths[present])
            places.append(number * BATCH + present)
            before += len(present)
        keys = np.concatenate([key for key, _ in counted])
        counts = np.concatenate([count for _, count in counted]).astype(np.float64)
        holders, slot = keys // len(wanted), keys % len(wanted)
        order = np.argsort(slot, kind="stable")
        ends = np.searchsorted(slot[order], np.arange(len(wanted) + 1))
        by_term = {
            term: (holders[order[begin:end]], counts[order[begin:end]])
            for term, begin, end in zip(wanted, ends, ends[1:], strict=False)
        }
        return by_term, np.concatenate(lengths), np.concatenate(places)

    def check(self) -> None:
        """End the run where the numbers of the terms are not those that a store would index."""
        for number in (self._batches[0], self._batches[-1]):
            tokens = self._rows.tokens(number)
            ends = np.cumsum(tokens.lengths)
            for row, end, length in zip(self._rows.batch(number), ends, tokens.lengths, strict=True):
                terms = chunk_terms(row.indexed_title, row.chunk.text)
                expected = Counter(self._rows.numbers[term] for term in terms)
                if expected != Counter(tokens.flat[end - length : end].tolist()):
                    raise SystemExit(f"the terms of row {row.chunk.id} are not those that a store indexes")


def exact(rows: Synthetic, size: int, *, changed: bool) -> dict[str, Any]:
    """What the questions have to find."""
    computed = Exact(rows, size, changed=changed)
    computed.check()
    return {
        "neighbours": computed.neighbours(),
        "neighbours_of_kind": computed.neighbours(kind=KIND),
        "words": computed.best_by_words(),
    }
