"""Questions made of documents: of sentences, tables, forms and lists, and near misses that nothing answers."""
