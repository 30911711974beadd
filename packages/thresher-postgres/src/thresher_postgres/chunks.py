"""The chunks of one chunking, level and encoder on PostgreSQL: rows, vectors, filters; each change a transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from psycopg import sql

from thresher.errors import StoreError
from thresher.text.terms import chunk_terms, query_terms
from thresher.types import Chunk, ChunkRow, Filter
from thresher_postgres.connection import Connection, Database, store_errors
from thresher_postgres.filters import Condition, to_sql
from thresher_postgres.postings import Postings

if TYPE_CHECKING:
    from thresher.types import Vectors

ANN_ROWS = 100_000
"""Rows from which an approximate index is built, as in the LanceDB store; below, all vectors are compared."""

REFINED = 4
"""So many times the wanted neighbours come from the half-precision index and are compared again exactly."""

EXACT_ROWS = 10_000
"""Filtered rows (planner's estimate) up to which all are compared: the index would visit more.

Of 100,000 rows with 1 % passing, the index took 330 ms and found 71 % of the ten nearest."""

INDEXED_DIMENSIONS = 4000
"""Longest half-precision vector of an index in pgvector; longer ones are compared without one."""

INLINE_DIMENSIONS = 1900
"""Vectors up to here fit a page of 8 KiB and stay in their row; PostgreSQL moves those from 2 KB on otherwise."""

READ_ROWS = 1024
"""Rows of one batch in a full read: about 2 MB with vectors."""

DECIMALS = 6
"""Of a cosine, as in the LanceDB store."""

_RENAMED = {"end": "stop", "kind": "chunk_kind"}
"""Columns with another name than the chunk's field: `end` is a keyword of SQL, `kind` is the document's."""

_CHUNK = [one.name for one in fields(Chunk)]
_COLUMNS = [_RENAMED.get(name, name) for name in _CHUNK]
_STORED = ["place", "length", *_COLUMNS, "kind", "added", "date"]
_ADD = f"INSERT INTO {{table}} ({', '.join(_STORED)}) VALUES ({', '.join(['%s'] * len(_STORED))})"

_TABLES = """
CREATE TABLE {table} (
    place integer PRIMARY KEY,
    length integer NOT NULL,
    id text COLLATE "C" NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    title text COLLATE "C" NOT NULL,
    start bigint NOT NULL,
    stop bigint NOT NULL,
    text text COLLATE "C" NOT NULL,
    page bigint,
    chunk_kind text COLLATE "C" NOT NULL,
    level text COLLATE "C" NOT NULL,
    parent_id text COLLATE "C",
    number bigint NOT NULL,
    label text COLLATE "C" NOT NULL,
    kind text COLLATE "C",
    added text COLLATE "C",
    date text COLLATE "C"
);
CREATE INDEX ON {table} (id);
CREATE INDEX ON {table} (document_id);
CREATE INDEX ON {table} (parent_id) WHERE parent_id IS NOT NULL;
"""

_NEAREST = """
WITH near AS MATERIALIZED (
    SELECT held.place, held.vector <#> %s AS distance FROM {vectors} AS held {passing}
    ORDER BY distance FETCH FIRST (%s::bigint) ROWS WITH TIES
)
SELECT -near.distance AS cosine, {columns} FROM near JOIN {table} AS chunk USING (place)
ORDER BY near.distance, chunk.id LIMIT %s
"""

_NEAREST_BY_INDEX = """
WITH near AS MATERIALIZED (
    SELECT held.place, held.vector FROM {vectors} AS held {passing}
    ORDER BY held.vector::halfvec({dimension}) <#> %s::vector::halfvec({dimension}) LIMIT %s
)
SELECT -(near.vector <#> %s) AS cosine, {columns} FROM near JOIN {table} AS chunk USING (place)
ORDER BY near.vector <#> %s, chunk.id LIMIT %s
"""


def _chunk(row: Sequence[Any]) -> Chunk:
    return Chunk(**dict(zip(_CHUNK, row, strict=True)))


def _best_first(scored: tuple[Chunk, float]) -> tuple[float, str]:
    chunk, score = scored
    return -score, chunk.id


def table_names(schema: str, name: str) -> dict[str, sql.Identifier]:
    """The tables of one chunk table, and the list of chunk tables."""
    parts = {"table": name, "vectors": f"{name}_vectors", "terms": f"{name}_terms", "postings": f"{name}_postings"}
    return {part: sql.Identifier(schema, one) for part, one in {**parts, "tables": "chunk_tables"}.items()}


def create(connection: Connection, schema: str, name: str, dimension: int) -> bool:
    """Make an empty chunk table; False if it exists already."""
    names = table_names(schema, name)
    inserting = "INSERT INTO {tables} (name, dimension) VALUES (%s, %s) ON CONFLICT DO NOTHING RETURNING name"
    if connection.execute(sql.SQL(inserting).format(**names), [name, dimension]).fetchone() is None:
        return False
    connection.execute(sql.SQL(_TABLES).format(**names))
    making = "CREATE TABLE {vectors} (place integer PRIMARY KEY, vector vector({dimension}) NOT NULL)"
    connection.execute(sql.SQL(making).format(**names, dimension=sql.Literal(dimension)))
    if dimension <= INLINE_DIMENSIONS:
        connection.execute(sql.SQL("ALTER TABLE {vectors} ALTER vector SET STORAGE PLAIN").format(**names))
    Postings(name, names).create(connection)
    return True


def discard(connection: Connection, schema: str, name: str) -> None:
    """Remove a chunk table; nothing where it is not there."""
    names = table_names(schema, name)
    connection.execute(sql.SQL("DELETE FROM {tables} WHERE name = %s").format(**names), [name])
    connection.execute(sql.SQL("DROP TABLE IF EXISTS {table}, {vectors}, {terms}, {postings} CASCADE").format(**names))


class PostgresChunkTable:
    """The chunks of one chunking, level and encoder (implements `ChunkTable`)."""

    versions = 1
    """The database keeps only rows that readers still see."""

    def __init__(self, database: Database, schema: str, name: str, *, dimension: int, ann_rows: int = ANN_ROWS) -> None:
        self._database = database
        self._name = name
        self._dimension = dimension
        self._ann_rows = ann_rows if dimension <= INDEXED_DIMENSIONS else None
        self._index = f"{name}_near"
        self._schema = schema
        self._names = {
            **table_names(schema, name),
            "columns": sql.SQL(", ").join(sql.Identifier("chunk", column) for column in _COLUMNS),
            "dimension": sql.Literal(dimension),
        }
        self._postings = Postings(name, self._names)

    def _sql(self, text: str, **more: sql.Composable) -> sql.Composed:
        return sql.SQL(text).format(**self._names, **more)

    # --- counts

    @property
    def version(self) -> int:
        """Grows with every change by any process."""
        with store_errors(self._name):
            version = self._database.versions(self._schema).get(self._name)
        if version is None:
            raise self._gone()
        return version

    def count(self) -> int:
        """Number of chunks."""
        return int(self._counted("chunks"))

    def average_terms(self) -> float:
        """Mean number of index terms of a chunk (BM25's average length); 0 for an empty table."""
        return float(self._counted("coalesce(terms::float8 / nullif(chunks, 0), 0)"))

    def _counted(self, what: str) -> Any:
        with store_errors(self._name), self._database.connection() as connection:
            return self._counted_in(connection, what)

    def _counted_in(self, connection: Connection, what: str) -> Any:
        query = self._sql("SELECT {what} FROM {tables} WHERE name = %s", what=sql.SQL(what))
        row = connection.execute(query, [self._name]).fetchone()
        if row is None:
            raise self._gone()
        return row[0]

    def _gone(self) -> StoreError:
        return StoreError("is gone", subject=self._name, next_step="index the documents again")

    def document_ids(self) -> dict[str, int]:
        """Number of chunks of each document."""
        query = self._sql("SELECT document_id, count(*) FROM {table} GROUP BY document_id")
        with store_errors(self._name), self._database.connection() as connection:
            return {str(id_): int(chunks) for id_, chunks in connection.execute(query)}

    def chunk_counts(self, document_ids: Iterable[str]) -> dict[str, int]:
        """The same for some documents."""
        query = self._sql("SELECT document_id, count(*) FROM {table} WHERE document_id = ANY(%s) GROUP BY document_id")
        with store_errors(self._name), self._database.connection() as connection:
            return {str(id_): int(chunks) for id_, chunks in connection.execute(query, [list(set(document_ids))])}

    def document_frequencies(self, query: str) -> dict[str, int]:
        """For each index term of the query, the number of chunks with it."""
        with store_errors(self._name), self._database.connection() as connection:
            return self._postings.frequencies(connection, query_terms(query))

    # --- searching

    def matching(self, query: str, *, limit: int, where: Filter | None = None) -> list[tuple[Chunk, float]]:
        """Chunks and their BM25 (k1 1.2, b 0.75, idf ln(1+(N-n+.5)/(n+.5))), best first; ties by id."""
        terms = query_terms(query)
        if not terms:
            return []
        with store_errors(self._name), self._database.transaction(snapshot=True) as connection:
            passing = self._condition(connection, where)
            rows = self._postings.best(connection, terms, limit=limit, passing=passing)
        return [(_chunk(row), float(score)) for score, *row in rows]

    def nearest(self, vector: Vectors, *, limit: int, where: Filter | None = None) -> list[tuple[Chunk, float]]:
        """Chunks and their cosine, best first; ties by id."""
        with store_errors(self._name):
            is_indexed = self._index in self._database.versions(self._schema)
        with store_errors(self._name), self._database.connection() as connection:
            passing = self._condition(connection, where)
            rows: list[tuple[Any, ...]] = []
            if is_indexed and (passing is None or self._estimated(connection, passing) > EXACT_ROWS):
                rows = self._nearest_by_index(connection, vector, limit, passing)
            if len(rows) < limit:  # without an index, or if it found too few passing rows
                rows = self._nearest_of_all(connection, vector, limit, passing)
        return sorted(((_chunk(row), round(float(cosine), DECIMALS)) for cosine, *row in rows), key=_best_first)

    def _estimated(self, connection: Connection, passing: Condition) -> int:
        condition, values = passing
        explaining = self._sql("EXPLAIN (FORMAT JSON) SELECT FROM {table} WHERE {where}", where=condition)
        row = connection.execute(explaining, values).fetchone()
        return 0 if row is None else int(row[0][0]["Plan"]["Plan Rows"])

    def _nearest_of_all(
        self, connection: Connection, vector: Vectors, limit: int, passing: Condition | None
    ) -> list[tuple[Any, ...]]:
        restriction, values = self._restriction(passing)
        query = self._sql(_NEAREST, passing=restriction)
        return connection.execute(query, [vector, *values, limit, limit]).fetchall()

    def _nearest_by_index(
        self, connection: Connection, vector: Vectors, limit: int, passing: Condition | None
    ) -> list[tuple[Any, ...]]:
        restriction, values = self._restriction(passing)
        query = self._sql(_NEAREST_BY_INDEX, passing=restriction)
        return connection.execute(query, [*values, vector, REFINED * limit, vector, vector, limit]).fetchall()

    def _restriction(self, passing: Condition | None) -> Condition:
        if passing is None:
            return sql.SQL(""), []
        condition, values = passing
        return self._sql("JOIN {table} AS chunk USING (place) WHERE {where}", where=condition), values

    def _condition(self, connection: Connection, where: Filter | None) -> Condition | None:
        return None if where is None else to_sql(where, server=connection.info.server_version)

    # --- reading

    def vectors(self, ids: Sequence[str]) -> Vectors:
        """(n_ids, dimension) float32 in the order of `ids`. Raises KeyError for an unknown id."""
        import numpy as np

        query = self._sql("SELECT id, vector FROM {table} JOIN {vectors} USING (place) WHERE id = ANY(%s)")
        with store_errors(self._name), self._database.connection() as connection:
            by_id = dict(connection.execute(query, [list(set(ids))], binary=True).fetchall()) if ids else {}
        return np.array([by_id[id_] for id_ in ids], np.float32).reshape(len(ids), self._dimension)

    def chunks(self, document_ids: Iterable[str] | None = None) -> Iterator[list[tuple[Chunk, Vectors]]]:
        """The chunks of some or all documents with their vectors, in batches from one snapshot."""
        wanted = None if document_ids is None else list(set(document_ids))
        where = "" if wanted is None else "WHERE chunk.document_id = ANY(%s)"
        query = self._sql(
            "SELECT held.vector, {columns} FROM {table} AS chunk JOIN {vectors} AS held USING (place) {where}"
            " ORDER BY place",
            where=sql.SQL(where),
        )
        with (
            store_errors(self._name),
            self._database.transaction(snapshot=True) as connection,
            connection.cursor("thresher_chunks", binary=True) as cursor,
        ):
            cursor.execute(query, None if wanted is None else [wanted])
            while rows := cursor.fetchmany(READ_ROWS):
                yield [(_chunk(row), vector) for vector, *row in rows]

    # --- writing

    def append(self, rows: Sequence[ChunkRow]) -> None:
        """Add chunks in one transaction."""
        if not rows:
            return
        terms = [chunk_terms(row.indexed_title, row.chunk.text) for row in rows]
        begin = self._sql(
            "UPDATE {tables} SET version = version + 1, next_number = next_number + %s, chunks = chunks + %s,"
            " terms = terms + %s WHERE name = %s RETURNING next_number"
        )
        with store_errors(self._name), self._database.transaction() as connection:
            given = [len(rows), len(rows), sum(map(len, terms)), self._name]
            row = connection.execute(begin, given).fetchone()
            if row is None:
                raise self._gone()
            places = range(int(row[0]) - len(rows), int(row[0]))
            own = [
                (place, len(words), *(getattr(one.chunk, name) for name in _CHUNK), one.kind, one.added, one.date)
                for place, words, one in zip(places, terms, rows, strict=True)
            ]
            cursor = connection.cursor()
            cursor.executemany(self._sql(_ADD), own)
            adding = self._sql("INSERT INTO {vectors} (place, vector) VALUES (%s, %s)")
            cursor.executemany(adding, [(place, one.vector) for place, one in zip(places, rows, strict=True)])
            self._postings.add(connection, dict(zip(places, terms, strict=True)))

    def delete(self, document_ids: Iterable[str]) -> None:
        """Remove all chunks of the documents in one transaction, with their counts."""
        ids = list(set(document_ids))
        if not ids:
            return
        with store_errors(self._name), self._database.transaction() as connection:
            self._begin(connection)
            removing = self._sql("DELETE FROM {table} WHERE document_id = ANY(%s) RETURNING place, length")
            gone = connection.execute(removing, [ids]).fetchall()
            places = [place for place, _ in gone]
            if places:
                connection.execute(self._sql("DELETE FROM {vectors} WHERE place = ANY(%s)"), [places])
                self._postings.remove(connection, places)
                fewer = "UPDATE {tables} SET chunks = chunks - %s, terms = terms - %s WHERE name = %s"
                connection.execute(self._sql(fewer), [len(gone), sum(length for _, length in gone), self._name])

    def rename(self, document_id: str, *, source: str, title: str) -> None:
        """Change source and title of a document's chunks; their terms do not change."""
        changing = self._sql("UPDATE {table} SET source = %s, title = %s WHERE document_id = %s")
        with store_errors(self._name), self._database.transaction() as connection:
            self._begin(connection)
            connection.execute(changing, [source, title, document_id])

    def _begin(self, connection: Connection) -> None:
        """Advance the version; other writers of this table wait from here on."""
        query = self._sql("UPDATE {tables} SET version = version + 1 WHERE name = %s")
        connection.execute(query, [self._name])

    # --- upkeep

    def stale(self) -> list[str]:
        """What upkeep would repair: only the vector index of a large table."""
        with store_errors(self._name), self._database.connection() as connection:
            return ["the vector index is missing"] if self._wants_index(connection) else []

    def maintain(self, *, drop_versions: bool = False) -> None:
        """Vacuum after changes, and build the vector index of a large table.

        With `drop_versions` the tables are rewritten, so that their files contain nothing deleted.
        """
        with store_errors(self._name), self._database.connection() as connection:
            version = self._counted_in(connection, "version")
            if drop_versions or version != self._counted_in(connection, "tidied"):
                form = sql.SQL("FULL, ANALYZE" if drop_versions else "ANALYZE")
                for part in ("table", "vectors", "terms", "postings"):
                    tidying = sql.SQL("VACUUM ({}) {}").format(form, self._names[part])
                    connection.execute(tidying)
                done = self._sql("UPDATE {tables} SET tidied = %s WHERE name = %s")
                connection.execute(done, [version, self._name])
            if self._wants_index(connection):
                self._create_index(connection)

    def _wants_index(self, connection: Connection) -> bool:
        if self._ann_rows is None or self._counted_in(connection, "chunks") < self._ann_rows:
            return False
        return not self._indexed(connection)

    def _indexed(self, connection: Connection) -> bool:
        query = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
        row = connection.execute(query, [f'"{self._schema}"."{self._index}"']).fetchone()
        return row is not None and bool(row[0])

    def _create_index(self, connection: Connection) -> None:
        """Build the index concurrently, after removing the rest of an interrupted build."""
        left = sql.SQL("DROP INDEX IF EXISTS {}").format(sql.Identifier(self._schema, self._index))
        connection.execute(left)
        building = self._sql(
            "CREATE INDEX CONCURRENTLY {index} ON {vectors} USING hnsw ((vector::halfvec({dimension})) halfvec_ip_ops)",
            index=sql.Identifier(self._index),
        )
        connection.execute(building)
        self._database.forget_versions()
