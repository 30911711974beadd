"""The store on PostgreSQL with pgvector: one database that several servers share."""
