"""The sets of questions that `eval run` knows, a loader for each, and what they have in common."""
