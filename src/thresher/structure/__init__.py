"""What the structure of a document says: tables, forms, lists, entries, front matter and places in a file."""
