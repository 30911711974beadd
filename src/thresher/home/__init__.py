"""The folder of a person's collections."""
