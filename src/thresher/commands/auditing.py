"""`thresher eval audit`: published claims, computed again."""
