"""What the bundled judge is worth: `python -m research.judge`."""
