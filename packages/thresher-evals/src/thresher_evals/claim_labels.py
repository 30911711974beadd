"""Labels claims by what the checker finds in the evidence of an answer, where no chat model names a label.

A reader of spans quotes, and a quotation names no label: without this the claims of PubHealth and Climate-FEVER would
be refused or unreadable for every recipe. The evidence is what the recipe handed on; without it there is no label.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from thresher.types import Check, CheckedClaim, ClaimState, Evidence, Refined, Step
from thresher_evals.dataset import Question
from thresher_evals.metrics.answers import SYNONYMS, plain
from thresher_evals.rows import Reply

CHECKER = "checker"
"""As the generator of such an answer."""

MEANS = dict(zip((ClaimState.SUPPORTED, ClaimState.CONTRADICTED, ClaimState.UNVERIFIED), SYNONYMS, strict=True))
MEANS[ClaimState.QUOTED] = MEANS[ClaimState.SUPPORTED]
"""State of a claim to the labels that say so."""

Checking = Callable[[str, Sequence[Evidence]], Check]
"""Checks a claim against evidence."""


def labelled(reply: Reply | None, question: Question, steps: Sequence[Step], check: Checking) -> Reply | None:
    """The reply with the label of the question's claim as its text.

    None without a reply, a claim or evidence, and if no option means what the checker finds.
    """
    refined = next((step.value for step in steps if isinstance(step.value, Refined)), None)
    if reply is None or not question.claim or refined is None or not refined.evidence:
        return None
    state = state_of(check(question.claim, refined.evidence).claims)
    label = next((option for option in question.options if plain(option) in MEANS[state]), None)
    return None if label is None else replace(reply, text=label, abstained=False, reason=None)


def state_of(claims: Sequence[CheckedClaim]) -> ClaimState:
    """What holds for all sentences of a claim: one that is denied denies it, and each has to be supported."""
    states = {claim.state for claim in claims}
    if ClaimState.CONTRADICTED in states:
        return ClaimState.CONTRADICTED
    return ClaimState.SUPPORTED if states and all(state.holds for state in states) else ClaimState.UNVERIFIED
