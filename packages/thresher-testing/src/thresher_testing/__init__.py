"""To test with: contracts of stores and files, servers that play a chat model, a store in memory."""
