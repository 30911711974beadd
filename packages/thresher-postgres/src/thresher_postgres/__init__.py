"""The store on PostgreSQL with pgvector: a database shared by several servers."""
