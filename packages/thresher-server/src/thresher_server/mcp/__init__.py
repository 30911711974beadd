"""MCP tools for agents: search, ask, check, explain, list and, where allowed, add and delete.

desk       what is offered; caller, collection, execution and errors of a call
tools      the tools, their results' shapes in `shapes`, their texts in `wording`
resources  documents as resources, and their addresses
server     the MCP server, over stdio and at /mcp of `thresher serve`
command    `thresher mcp`
"""
