"""Tenants are roles: each owns the schemas of its collections, and a policy on every table in them says whose it is.

Two walls: another role has no right to use the schema, and where somebody grants it one by mistake, it finds tables
without rows and may add none. The policies hold for the owner too, and nobody but it can change them.
"""

from __future__ import annotations

from psycopg import sql

from thresher_postgres.connection import Connection

_UNPROTECTED = """
SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind = 'r' AND NOT relforcerowsecurity
"""

# Within a SELECT of its own the role is looked up once for a statement, not for every row.
_POLICY = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON {table} USING ((SELECT pg_has_role(current_user, {tenant}, 'usage')))
    WITH CHECK ((SELECT pg_has_role(current_user, {tenant}, 'usage')))
"""


def protect(connection: Connection, schema: str, tenant: str) -> None:
    """Give the tables of a schema that have none yet the policy of its tenant; nothing without a tenant."""
    if not tenant:
        return
    for (name,) in connection.execute(_UNPROTECTED, [f'"{schema}"']).fetchall():
        table = sql.Identifier(schema, name)
        connection.execute(sql.SQL(_POLICY).format(table=table, tenant=sql.Literal(tenant)))
