"""The claims of the sources, and what comes of computing them again."""
