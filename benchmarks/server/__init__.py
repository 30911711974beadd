"""What the service bears: many askers at once, and requests that mean harm."""
