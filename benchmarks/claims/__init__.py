"""Subtle claims: of two sentences about the same place one is true."""
