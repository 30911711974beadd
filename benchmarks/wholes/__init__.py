"""Questions whose nearest passage is not the whole answer."""
