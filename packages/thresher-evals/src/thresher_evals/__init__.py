"""Measures what a recipe is worth: datasets, runs kept row by row, and scores computed from the rows alone."""
