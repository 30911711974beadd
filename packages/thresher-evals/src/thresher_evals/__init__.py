"""Measures recipes: datasets, runs stored row by row, and scores computed from the rows alone."""
