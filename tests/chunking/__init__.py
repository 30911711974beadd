"""Tests of the chunking room."""
