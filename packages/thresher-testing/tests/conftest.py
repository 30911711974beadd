"""Scripted servers for these tests."""

from __future__ import annotations

from tests.conftest import bundled_models, serve

__all__ = ["bundled_models", "serve"]
