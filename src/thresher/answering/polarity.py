"""What is and what is not: a sentence that says that something is so does not answer what is not, and the reverse.

A sentence that makes an exception tells both.
"""

from __future__ import annotations

import re

from thresher.verification.contradiction import denials, statement

_ASKS_WHICH = re.compile(r"\W*(?:(?:on|in|at|for|by|from|to) )?(?:what|which|who|whom|where)\b", re.IGNORECASE)
_UNDER_CONDITIONS = re.compile(r"\b(?:if|when|while|because|unless|after|before|once)\b", re.IGNORECASE)
"""A negation in such a clause is not what is asked."""
_EXCEPTS = re.compile(r"\b(?:except\w*|excluding|apart from|other than|only|unless|without|but not)\b", re.IGNORECASE)


def tells_opposite(question: str, sentence: str) -> bool:
    """Whether a sentence says of what is asked for that it is so where the question asks what is not, or the reverse.

    >>> tells_opposite("What does the plan not cover?", "The plan covers fillings.")
    True
    >>> tells_opposite("Which repairs are not paid?", "All repairs are paid except those of tyres.")
    False
    """
    if not _ASKS_WHICH.match(question) or _UNDER_CONDITIONS.search(question) or _EXCEPTS.search(sentence):
        return False
    asked, said = statement(question), statement(sentence)
    both = asked.negations and said.negations  # what each denies need not be one word: not covered, does not apply
    return not both and next(denials(asked, said), None) is not None
