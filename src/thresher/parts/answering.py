"""How a method corrects, refines, answers and checks: the parts that recipes share."""

from __future__ import annotations

from thresher.recipes.build import corrector, generator, quote_checker, strips
from thresher.refinement.refine import PassageRefiner

__all__ = [
    "PassageRefiner",
    "corrector",
    "generator",
    "quote_checker",
    "strips",
]
