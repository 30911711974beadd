"""Encoders, cross-encoders, chat models, what they cost, and public deterministic doubles of them."""
