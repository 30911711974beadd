"""Judges of the answers of a run: rules, a chat model, people."""
