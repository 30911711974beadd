"""Text that is set between marks of ours in a prompt, and cannot close them."""

from __future__ import annotations


def fenced(text: str) -> str:
    """Text that cannot open or close a block of ours."""
    return text.replace("<", "‹").replace(">", "›")
