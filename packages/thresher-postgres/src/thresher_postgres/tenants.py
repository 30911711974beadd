"""Tenants as roles: each owns the schemas of its collections, and row-level policies protect every table.

Two barriers: other roles lack the right to use the schema, and with an accidental grant they see no rows and may add
none. The policies also apply to the owner, and only the owner can change them.
"""

from __future__ import annotations

from psycopg import sql

from thresher_postgres.connection import Connection

_UNPROTECTED = """
SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind = 'r' AND NOT relforcerowsecurity
"""

# In a separate SELECT the role is checked once per statement, not per row.
_POLICY = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON {table} USING ((SELECT pg_has_role(current_user, {tenant}, 'usage')))
    WITH CHECK ((SELECT pg_has_role(current_user, {tenant}, 'usage')))
"""


def protect(connection: Connection, schema: str, tenant: str) -> None:
    """Add the tenant's policy to the schema's tables that lack it; nothing without a tenant."""
    if not tenant:
        return
    for (name,) in connection.execute(_UNPROTECTED, [f'"{schema}"']).fetchall():
        table = sql.Identifier(schema, name)
        connection.execute(sql.SQL(_POLICY).format(table=table, tenant=sql.Literal(tenant)))
