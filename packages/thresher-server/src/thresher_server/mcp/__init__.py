"""The tools of an agent, over MCP: search, ask, check, explain, list, and where it is allowed add and delete.

server   what a server consists of
offer    what an operator lets agents use
desk     who asks, where, and how work and errors go
tools    a file for each tool, or two that belong together
command  `thresher mcp`
mount    the same behind `thresher serve`, at /mcp
"""
