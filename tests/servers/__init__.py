"""Servers that tests and benchmarks start for themselves."""
