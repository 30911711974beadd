"""Goes outside when the verdict asks for it, and never makes a question fail (CRAG guide; Z5, Z11 in docs/methods.md).

    search words -> results -> pages -> passages (judged where a judge is given)

What fails is told in the trace, and what is there is gone on with: the snippets of the search results, then (ambiguous)
the collection alone, then (incorrect) nothing, on which the recipe abstains.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from thresher.correction.source import NOTHING, Found, OutsideSource
from thresher.correction.words import SearchWords
from thresher.errors import BudgetSpent, ProviderError
from thresher.protocols import Judge
from thresher.types import Correction, Decision, Judgement, Query, Verdict

GOES_OUTSIDE = frozenset({Verdict.AMBIGUOUS, Verdict.INCORRECT, Verdict.UNSURE})
"""One heading of the guide has `incorrect` alone, its text and its table `ambiguous` too (Z5); `unsure` acts so."""

COLLECTION, NOT_ASKED = "collection", "not asked"
"""Outcomes besides those of the sources: the collection is all there is to answer from; there was no need to look."""


@dataclass(frozen=True, slots=True)
class SearchingCorrector:
    """Searches `source` for `words` on the given verdicts; `judge` sifts what was found.

    With `sure`, a second opinion is asked for on any verdict whose confidence is below it or unknown. Not published.

    In `detail`: the `words` that left, who was asked (`provider`), how many `results` there were, what became of each
    of the `pages`, and the `outcome`: pages, snippets, collection, nothing or not asked.
    """

    words: SearchWords
    source: OutsideSource
    judge: Judge | None = None
    verdicts: frozenset[Verdict] = GOES_OUTSIDE
    sure: float = 0.0

    def __call__(self, query: Query, decision: Decision) -> Correction:
        """What was found outside; empty when there was no need, or no way."""
        doubtful = self.sure > 0 and (decision.confidence is None or decision.confidence < self.sure)
        if decision.verdict not in self.verdicts and not doubtful:
            return Correction(detail={"outcome": NOT_ASKED})
        without, instead = _without(decision.verdict)
        words = self.words(query)
        told = {"words": words.text, "rewriting": _facts(words.detail)}
        try:
            found = self.source(query, words.text)
        except (ProviderError, BudgetSpent) as error:
            lack = {"degraded": [f"correct: {error}; {instead}"]}
            return Correction(
                detail={**told, "outcome": without, "pages": [], "results": 0, **_lacks(words.detail, lack)}
            )
        judgements, judged = self._judged(query, found)
        facts = {**told, **_facts(found.detail), **_lacks(words.detail, found.detail, judged)}
        if not any(judgement.keep for judgement in judgements):
            facts["outcome"] = without
        return Correction(judgements, facts)

    def _judged(self, query: Query, found: Found) -> tuple[tuple[Judgement, ...], Mapping[str, Any]]:
        """What the judge says of what was kept, then what the source itself had dropped."""
        kept = [judgement.hit for judgement in found.judgements if judgement.keep]
        if self.judge is None or not kept:
            return found.judgements, {}
        sifted = self.judge(query, kept)
        dropped = (judgement for judgement in found.judgements if not judgement.keep)
        return (*sifted.judgements, *dropped), sifted.detail


def _without(verdict: Verdict | None) -> tuple[str, str]:
    """What is left to answer from when nothing was found, as an outcome and in words."""
    if verdict is Verdict.INCORRECT:
        return NOTHING, "nothing to answer from"
    return COLLECTION, "answered from the collection alone"


def _facts(detail: Mapping[str, Any]) -> dict[str, Any]:
    return {key: fact for key, fact in detail.items() if key not in ("degraded", "unreadable")}


def _lacks(*details: Mapping[str, Any]) -> dict[str, Any]:
    """What the parts had to do without, and how many replies they could not read; nothing where that is nothing."""
    degraded = [lack for detail in details for lack in detail.get("degraded", ())]
    unreadable = sum(detail.get("unreadable", 0) for detail in details)
    return {**({"degraded": degraded} if degraded else {}), **({"unreadable": unreadable} if unreadable else {})}
