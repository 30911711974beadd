"""Going and getting more: search words, web search, safe page fetching, another collection."""
