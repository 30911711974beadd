"""Conversations of three turns."""
