"""What an agent may call: each file has `add(server, desk)`, which registers its tools."""
