"""The tables and figures of the five sources, ours beside them: see `python -m benchmarks.seeds --help`."""
