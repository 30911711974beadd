"""Access control: callers, rights, origins and limits."""
