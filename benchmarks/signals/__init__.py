"""Questions that turn on one sign, as an identifier is one."""
