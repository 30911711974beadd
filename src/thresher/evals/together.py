"""Runs whose questions were put to every recipe in turn (`eval run --together`): what an answer took says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TAKEN = frozenset({"seconds_p50", "seconds_p95", "cpu_seconds", "memory_mib"})
"""Measures of what an answer took."""

WHY = (
    "Seconds, processor time and memory are left out: the recipes were asked in turn, question by question "
    "(--together), and whichever is asked first reads what the others then find remembered."
)


def is_together(described: Mapping[str, Any]) -> bool:
    """Whether a run.json tells of such a run; one of an earlier version, which does not say, was none."""
    return bool(described.get("together", False))


def order_of(described: Mapping[str, Any]) -> str:
    """In which order the questions of a run were asked, in words."""
    return "question by question" if is_together(described) else "recipe by recipe"
