"""Judges of the answers of a run: rules, a chat model, people."""

from __future__ import annotations

from collections.abc import Mapping

JUDGES: Mapping[str, str] = {"offline": "thresher_evals.judges.rules", "llm": "thresher_evals.judges.llm"}
"""Name to the module whose `make` makes the judge. A new judge is a file and a line here."""
