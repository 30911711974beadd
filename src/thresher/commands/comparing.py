"""`thresher eval compare` and `make-questions`: what correction is worth on one's own documents."""
