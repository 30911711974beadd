"""Runs and studies as one HTML page and Markdown."""
