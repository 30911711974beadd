"""How the two models that Thresher brings were made, and what was measured to choose them.

`python -m research.NAME` in a checkout; research/README.md says which there are.
"""
