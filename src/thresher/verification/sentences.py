"""The sentences of an answer after the check: those shown, those removed, and their counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from thresher.types import NO_NOTES, AnswerSentence, ClaimState, Notes
from thresher.verification.claims import Added, Claim
from thresher.verification.findings import Finding


@dataclass(slots=True)
class CheckedSentences:
    """Sentences as they are checked, one after the other."""

    shown: list[AnswerSentence] = field(default_factory=list)
    removed: list[AnswerSentence] = field(default_factory=list)
    notes_of_check: Notes = NO_NOTES
    _counts: Counter[str] = field(default_factory=Counter)

    def take(self, claim: Claim, finding: Finding, added: Added, cited: Sequence[int], *, wrong: int) -> None:
        """A sentence that is shown; `cited` is what it cited itself, `wrong` counts markers that were moved."""
        end = added.start + len(claim.text)
        state, support = finding.state, round(finding.support, 4)
        self.shown.append(AnswerSentence(added.start, end, claim.text, state, support, added.markers, finding.reason))
        self._count(finding, wrong)
        if added.markers and not cited:
            self._counts["markers_set"] += 1
        elif added.markers and finding.state is ClaimState.SUPPORTED and not set(finding.pieces) <= set(cited):
            self._counts["repaired"] += 1

    def remove(self, claim: Claim, finding: Finding, markers: int) -> None:
        """A sentence that is not shown, which had so many markers."""
        support = round(finding.support, 4)
        self.removed.append(AnswerSentence(0, 0, claim.text, finding.state, support, (), finding.reason))
        self._count(finding, markers)

    def _count(self, finding: Finding, wrong: int) -> None:
        self._counts[str(finding.state)] += 1
        self._counts["markers_removed"] += wrong

    @property
    def notes(self) -> Notes:
        """For the trace: how many sentences have each state, were repaired, removed, and what was removed, with why."""
        counts = {
            "sentences": len(self.shown) + len(self.removed),
            **{str(state): self._counts[str(state)] for state in ClaimState},
            **{name: self._counts[name] for name in ("repaired", "markers_set", "markers_removed")},
            "removed": len(self.removed),
            "removed_sentences": [{"text": one.text, "reason": one.reason} for one in self.removed],
        }
        return self.notes_of_check + Notes(facts=counts)
