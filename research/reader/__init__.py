"""What the bundled judge reads out of texts: `python -m research.reader`."""
