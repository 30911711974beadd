"""Why a question has no answer, in the words that people and agents read; the numbers behind it are in the steps."""

from __future__ import annotations

from thresher.text.injection import is_command
from thresher.text.markup import flat

NOT_ANSWERED = "Nothing in your documents answers this."

NEAREST = " Nearest: “"

IN_DOUBT = "Nothing in your documents answers this with certainty."

MOST_QUOTED = 200
"""Characters of what is nearest: enough to see whether it is about the question."""


def not_answered(quote: str = "", where: str = "", *, outside: bool = False) -> str:
    """That the documents do not answer, the passage that is nearest, and whether it was looked for outside in vain."""
    reason = NOT_ANSWERED
    if (words := flat(quote)) and not is_command(words):
        short = words if len(words) <= MOST_QUOTED else f"{words[:MOST_QUOTED].rsplit(' ', 1)[0]} …"
        reason += f"{NEAREST}{short}” ({where})."
    return f"{reason} Nothing was found outside either." if outside else reason


def not_certain(evidence: str) -> str:
    """That only sufficient evidence is answered from (`answer.mode=strict`), and what this evidence is called."""
    return f"{IN_DOUBT} With answer.mode=strict only sufficient evidence is answered from; it is {evidence}."
