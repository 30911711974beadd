"""MCP tools for agents: search, ask, check, explain, list and, where allowed, add and delete.

server   the MCP server
offer    what the operator offers to agents
desk     caller, collection, execution and errors of a call
tools    one file for each tool, or two that belong together
command  `thresher mcp`
mount    the same at /mcp of `thresher serve`
"""
