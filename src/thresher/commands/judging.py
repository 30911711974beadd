"""`thresher eval judge`, `sheet` and `ratings`: what a model or people say about the answers of a run."""
