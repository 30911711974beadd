"""Measures correction on a user's own documents: drafted questions, recipes compared, advice."""
