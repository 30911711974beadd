"""The tools: each file has `add(server, desk)`, which registers its own."""
