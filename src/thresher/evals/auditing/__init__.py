"""Claims of the published methods, computed again from what they print."""
