"""Exact BM25 on PostgreSQL: which chunk contains which of our terms, how often, and chunk lengths.

PostgreSQL's full-text search is not BM25 (`ts_rank` ignores document frequencies) and has its own terms. Here terms are
those of `text.terms`, summed in float32 in the order of the question's terms, as in Lance: scores agree to the last
bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import log
from typing import Any, cast

import numpy as np
from psycopg import sql

from thresher_postgres.connection import Connection
from thresher_postgres.filters import Condition

CLOSE = 1e-4
"""Relative difference allowed between the float32 sum and the float64 sum that selects candidates (100 terms: 6e-6)."""

_TABLES = """
CREATE TABLE {terms} (
    number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    term text COLLATE "C" NOT NULL UNIQUE,
    chunks integer NOT NULL
);
CREATE TABLE {postings} (
    term integer NOT NULL,
    place integer NOT NULL,
    frequency integer NOT NULL,
    length integer NOT NULL
);
CREATE UNIQUE INDEX ON {postings} (term, place) INCLUDE (frequency, length);
CREATE INDEX ON {postings} (place);
"""

_ADD_TERMS = """
INSERT INTO {terms} AS known (term, chunks) SELECT * FROM unnest(%s::text[], %s::integer[])
ON CONFLICT (term) DO UPDATE SET chunks = known.chunks + EXCLUDED.chunks RETURNING term, number
"""

_ADD = "INSERT INTO {postings} SELECT * FROM unnest(%s::integer[], %s::integer[], %s::integer[], %s::integer[])"

_REMOVE = """
WITH gone AS (DELETE FROM {postings} WHERE place = ANY(%s) RETURNING term),
     fewer AS (SELECT term, count(*)::integer AS chunks FROM gone GROUP BY term)
UPDATE {terms} AS known SET chunks = known.chunks - fewer.chunks FROM fewer WHERE known.number = fewer.term
"""

_KNOWN = """
SELECT known.term, known.number, known.chunks, counted.chunks, counted.terms FROM {tables} AS counted
JOIN {terms} AS known ON known.term = ANY(%s) WHERE counted.name = %s
"""

# `rough` sums in float64 in any order; `exact` sums the possible best ones in the order of the formula.
_MATCHING = """
WITH asked AS MATERIALIZED (
    SELECT number, position, rarity, %s::real AS average
    FROM unnest(%s::integer[], %s::real[]) WITH ORDINALITY AS given (number, rarity, position)
), rough AS MATERIALIZED (
    SELECT held.place, sum(asked.rarity::float8 * held.frequency * 2.2
        / (held.frequency + 1.2 * (0.25 + 0.75 * held.length / asked.average))) AS score
    FROM asked JOIN {postings} AS held ON held.term = asked.number {passing} GROUP BY held.place
), least AS (
    SELECT coalesce((SELECT score FROM rough ORDER BY score DESC OFFSET %s LIMIT 1), 0) AS score
), exact AS (
    SELECT rough.place, sum(asked.rarity * ((1.2::real + 1::real) * held.frequency::real / (held.frequency::real
        + 1.2::real * (1::real - 0.75::real + 0.75::real * held.length::real / asked.average)))
        ORDER BY asked.position) AS score
    FROM rough CROSS JOIN asked JOIN {postings} AS held ON held.term = asked.number AND held.place = rough.place
    WHERE rough.score >= (SELECT score FROM least) * (1 - %s) GROUP BY rough.place
)
SELECT exact.score::float8, {columns} FROM exact JOIN {table} AS chunk USING (place)
ORDER BY exact.score DESC, chunk.id LIMIT %s
"""


class Postings:
    """The terms of one chunk table."""

    def __init__(self, name: str, names: Mapping[str, sql.Composable]) -> None:
        """`names` are those of `table`, `terms`, `postings` and `tables`, and the `columns` of search results."""
        self._name = name
        self._names = names

    def _sql(self, text: str, **more: sql.Composable) -> sql.Composed:
        return sql.SQL(text).format(**self._names, **more)

    def create(self, connection: Connection) -> None:
        """Make the tables."""
        connection.execute(self._sql(_TABLES))

    def add(self, connection: Connection, terms_of: Mapping[int, Sequence[str]]) -> None:
        """Add the terms of new chunks, by place."""
        counts = {place: Counter(terms) for place, terms in terms_of.items()}
        holding = Counter(term for counted in counts.values() for term in counted)
        rows = connection.execute(self._sql(_ADD_TERMS), [list(holding), list(holding.values())]).fetchall()
        numbers: dict[str, int] = {str(term): int(number) for term, number in rows}
        lengths = [counted.total() for counted in counts.values()]
        held = [
            (numbers[term], place, frequency, length)
            for (place, counted), length in zip(counts.items(), lengths, strict=True)
            for term, frequency in counted.items()
        ]
        # As texts: psycopg takes four times as long for lists of so many numbers.
        arrays = [f"{{{','.join(map(str, column))}}}" for column in zip(*held, strict=True)]
        connection.execute(self._sql(_ADD), arrays or ["{}"] * 4)

    def remove(self, connection: Connection, places: Sequence[int]) -> None:
        """Remove chunks, and terms that no chunk contains any more."""
        connection.execute(self._sql(_REMOVE), [list(places)])
        connection.execute(self._sql("DELETE FROM {terms} WHERE chunks <= 0"))

    def frequencies(self, connection: Connection, terms: Sequence[str]) -> dict[str, int]:
        """Number of chunks with each term."""
        rows = connection.execute(self._sql("SELECT term, chunks FROM {terms} WHERE term = ANY(%s)"), [list(terms)])
        known = {str(term): int(chunks) for term, chunks in rows}
        return {term: known.get(term, 0) for term in terms}

    def best(
        self, connection: Connection, terms: Sequence[str], *, limit: int, passing: Condition | None = None
    ) -> list[tuple[Any, ...]]:
        """Scores and columns of passing chunks with a term, best first, ties by id; needs a transaction with a
        snapshot.
        """
        rows = connection.execute(self._sql(_KNOWN), [list(terms), self._name]).fetchall()
        if not rows:
            return []
        known = {str(term): (int(number), int(holding)) for term, number, holding, *_ in rows}
        chunks, length = rows[0][3:]
        asked = [known[term] for term in terms if term in known]
        condition, values = (sql.SQL(""), []) if passing is None else passing
        if passing is not None:
            condition = self._sql("WHERE held.place IN (SELECT place FROM {table} WHERE {where})", where=condition)
        given = [
            _average(length, chunks),
            [number for number, _ in asked],
            [_idf(holding, chunks) for _, holding in asked],
            *values,
            max(0, limit - 1),
            CLOSE,
            limit,
        ]
        return connection.execute(self._sql(_MATCHING, passing=condition), given).fetchall()


def _average(terms: int, chunks: int) -> float:
    return float(np.float32(terms) / np.float32(chunks))


@cache
def _logarithm() -> Callable[[float], float]:
    """float32 `logf` of the C library, as Lance calls it; without it scores may differ in the last bit."""
    import ctypes

    try:
        found = ctypes.CDLL(None).logf
    except (OSError, TypeError, AttributeError):  # Windows
        return log
    found.restype, found.argtypes = ctypes.c_float, [ctypes.c_float]
    return cast("Callable[[float], float]", found)


def _idf(holding: int, chunks: int) -> float:
    """ln(1+(N-n+.5)/(n+.5)) in float32, each step rounded (the idf of Lucene)."""
    some, all_, half = np.float32(holding), np.float32(chunks), np.float32(0.5)
    return float(_logarithm()(float((all_ - some + half) / (some + half) + np.float32(1))))
