"""Makes questions from documents: from sentences, tables, forms and lists, and near misses without an answer."""
