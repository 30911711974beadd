"""The routes, one file for each kind of client: each parses a request, calls the engine and formats the reply."""
