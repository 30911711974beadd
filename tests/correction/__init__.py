"""Tests of the correction room."""
