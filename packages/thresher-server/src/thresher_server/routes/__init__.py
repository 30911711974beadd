"""The doors, a file for each kind of client: a route reads a request, calls the engine, and shapes the reply."""
