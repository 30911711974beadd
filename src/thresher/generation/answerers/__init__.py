"""What may answer, each proposed by a part that knows no other: spans, passages, tables, lists and further ones."""
