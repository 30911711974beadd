"""The systems of the side by side: each runs in an environment of its own, with nothing but the standard library."""
