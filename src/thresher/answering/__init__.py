"""From evidence to an answer that can be checked, or to an abstention with its reason."""
