"""The judge trained further, from the weights that are bundled: what it reads, the run, and what came of it."""
