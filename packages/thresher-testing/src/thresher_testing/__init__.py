"""Test tools: contracts of stores and files, servers that act as a chat model, a store in memory."""
