"""Numbers that papers print (published.json), which were not measured here and are never mixed with what was.

All shares are in 0..1. A published table prints no intervals, so none are drawn. What the papers call accuracy is
Self-RAG's `match`, a gold string is part of the answer, and FActScore of biographies. CRAG's seconds were taken on the
authors' machine. ECRAG's 250 papers and questions were not published: another set of papers stands in for them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

LABEL = "claimed, not measured here, other generator"
"""What stands beside every published number."""

ABLATED_ON = "popqa"
"""In the name of the datasets that CRAG's ablations were published on."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One printed number: of which system, on which dataset, written by which generator, from which table."""

    kind: str
    """Kind of the dataset (`eval run --dataset KIND:PATH`)."""
    measure: str
    system: str
    """Of an ablation, what was left out."""
    generator: str
    value: float
    source: str


_PUBLISHED = json.loads(Path(__file__).with_name("published.json").read_text(encoding="utf-8"))
CLAIMS, CRAG_ABLATIONS = (tuple(Claim(**claim) for claim in _PUBLISHED[part]) for part in ("claims", "crag ablations"))
