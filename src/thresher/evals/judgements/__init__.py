"""What a model, rules or people say about the answers of a run, kept beside its rows."""
