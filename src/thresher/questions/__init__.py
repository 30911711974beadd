"""What a question asks: its kind, its parts, what it is about, and how it goes on from the one before."""
