-- What tables there are, and what is counted of each; every change of a table begins with its row here.
CREATE TABLE record_tables (
    name text COLLATE "C" PRIMARY KEY,
    version bigint NOT NULL DEFAULT 1
);
CREATE TABLE chunk_tables (
    name text COLLATE "C" PRIMARY KEY,
    dimension integer NOT NULL,
    version bigint NOT NULL DEFAULT 1,
    tidied bigint NOT NULL DEFAULT 0,      -- the version that upkeep last saw
    next_number integer NOT NULL DEFAULT 0, -- of the next chunk
    chunks bigint NOT NULL DEFAULT 0,
    terms bigint NOT NULL DEFAULT 0         -- of all chunks, repeats included
);
