"""Makes questions from documents: from sentences, tables and forms, and near misses without an answer."""
