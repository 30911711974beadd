"""The last look at an answer that a generator of a user wrote: its sentences are checked as a model's are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from thresher.answering.citations import is_quoted_from, quoted
from thresher.types import Generation, Notes, Query, Refined

if TYPE_CHECKING:
    from collections.abc import Callable

    from thresher.answering.checked_answer import Display
    from thresher.verification.claims import ClaimCheck


@dataclass(frozen=True, slots=True)
class ClaimVerifier:
    """Checks the sentences of a draft, sets and moves its markers, and shows what the display shows.

    A draft of quotes alone is supported by construction; one that was checked while it was written is left as it is.
    """

    check: Callable[[], ClaimCheck]
    """Makes the check, which a draft of quotes alone does without."""
    display: Display = "mark"
    about: ClassVar[str] = "each sentence"

    def __call__(self, query: Query, draft: Generation, refined: Refined) -> Generation:
        """The draft with the states of its sentences, or an abstention when none is shown."""
        if draft.abstained or draft.exact:
            return draft
        evidence = refined.evidence
        places = {
            citation.marker: next((at for at, piece in enumerate(evidence) if is_quoted_from(piece, citation)), None)
            for citation in draft.citations
        }
        rest = draft.text
        for citation in draft.citations:
            rest = rest.replace(quoted(citation), "", 1)
        if draft.citations and not rest.strip() and None not in places.values():
            return replace(draft, notes=draft.notes + Notes(facts={"sentences": len(places), "quoted": len(places)}))
        from thresher.answering.checked_answer import CheckedAnswer

        answer = CheckedAnswer(query, evidence, self.check(), self.display, positions=places.get)
        answer.read(draft.text)
        answer.end()
        return replace(answer.generation(draft.notes), certainty=draft.certainty, answered_by=draft.answered_by)
