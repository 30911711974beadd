"""The gate of a change: what answers without a chat model are worth, beside what the judge knows."""
