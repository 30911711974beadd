"""Documents on disk: the store, its words, its filters, and what an incremental change is."""
