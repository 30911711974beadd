"""The view of chunks that Open WebUI's provider `pgvector` reads."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import sql

from thresher_postgres.connection import Connection

VIEW = "document_chunk"
"""The provider's name for its table."""

_BRANCH = """
SELECT chunk.id, {name}::text AS collection_name, chunk.text, held.vector::vector AS vector,
    jsonb_strip_nulls(jsonb_build_object(
        'name', coalesce(nullif(chunk.title, ''), chunk.source), 'source', chunk.source, 'title', chunk.title,
        'page', chunk.page, 'start_index', chunk.start, 'end_index', chunk.stop, 'file_id', chunk.document_id,
        'document_id', chunk.document_id, 'kind', chunk.kind, 'label', chunk.label)) AS vmetadata
FROM {table} AS chunk JOIN {vectors} AS held USING (place)
"""


def create(connection: Connection, schema: str, tables: Sequence[str]) -> None:
    """Make the view of all chunk tables anew; `collection_name` is the chunk table, as in `thresher status`."""
    branches = [
        sql.SQL(_BRANCH).format(
            name=sql.Literal(name),
            table=sql.Identifier(schema, name),
            vectors=sql.Identifier(schema, f"{name}_vectors"),
        )
        for name in tables
    ]
    view = sql.Identifier(schema, VIEW)
    connection.execute(sql.SQL("DROP VIEW IF EXISTS {}").format(view))
    connection.execute(sql.SQL("CREATE VIEW {} AS {}").format(view, sql.SQL(" UNION ALL ").join(branches)))
