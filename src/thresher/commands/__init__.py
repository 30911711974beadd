"""The commands of `thresher`, a file for each group; `cli.py` puts them together."""
