"""Traces: kept, explained and drawn."""
