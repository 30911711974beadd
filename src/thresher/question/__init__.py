"""What is asked: its wording, parts and intent, its spelling, and the conversation that it goes on with."""
