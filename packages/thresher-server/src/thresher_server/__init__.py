"""Thresher as a service: HTTP, MCP, a page, and the shapes that other tools' clients read."""
