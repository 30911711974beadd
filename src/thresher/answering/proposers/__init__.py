"""What may answer a question, each kind in a file of its own: passages, cells, entries, a comparison, an outline."""
