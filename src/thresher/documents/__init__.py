"""Documents: path, URL or bytes to a Document (text, page spans, table spans, metadata)."""
