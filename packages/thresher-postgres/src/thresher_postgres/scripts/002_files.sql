-- What a collection or a home keeps besides its tables: small files by name.
CREATE TABLE files (
    name text COLLATE "C" PRIMARY KEY,
    content bytea NOT NULL,
    modified timestamptz NOT NULL DEFAULT clock_timestamp()
);
