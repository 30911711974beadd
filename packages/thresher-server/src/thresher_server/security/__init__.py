"""Who may ask and change what, from where, and how much of it at once."""
