"""FActScore: the share of a long answer's atomic facts that a knowledge source supports (Min et al. 2023).

The algorithm is theirs (section 4, github.com/shmsw25/FActScore): the answer is cut into sentences, each sentence into
atomic facts, each fact is checked by itself against the five nearest passages of the topic's own texts, shown in
reverse order, and few facts are penalised. Ours departs in three ways: who cuts and who checks can be chosen, replies
are asked for at temperature 0 (theirs at 0.7), and passages are found by BM25 (theirs by GTR).
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence

from thresher_evals.judges.base import Case, Outcome
from thresher_evals.judges.knowledge import GAMMA, factscore

LEADS = ("Sure", "Please", "Here are")
"""What lines begin with that speak to the reader and state no fact."""

DENYING = frozenset(("not", "cannot", "unknown", "information"))
"""Words that make a reply without true or false a no."""

Decompose = Callable[[str], Sequence[str] | None]
"""A sentence to its facts; None where the reply could not be read."""

Verify = Callable[[str, str, Sequence[str]], bool]
"""Topic, fact and passages (the best one last) to whether they support it."""


def checked_facts(case: Case, decompose: Decompose, verify: Verify, *, gamma: float = GAMMA) -> Outcome:
    """The facts of an answer, each of them checked; nothing but that it responded where a sentence was not cut."""
    knowledge = case.references
    if knowledge is None or not knowledge.passages:
        return Outcome({"responded": 1.0}, {"references": 0})
    topic = case.row.question.topic
    facts: list[str] = []
    unreadable = 0
    for sentence in case.sentences:
        found = () if sentence.startswith(LEADS) else decompose(sentence)
        unreadable += found is None
        facts += found or ()
    if unreadable:
        return Outcome({"responded": 1.0}, {"unreadable": unreadable}, failed=True)
    if not facts:  # as in the released code, an answer that states no facts does not respond
        return Outcome({"responded": 0.0}, {"facts": 0})
    holds = [verify(topic, fact, knowledge.nearest(f"{topic} {fact}")[::-1]) for fact in facts]
    without = [fact for fact, holds_so in zip(facts, holds, strict=True) if not holds_so]
    detail = {"supported": sum(holds), "facts": len(facts), "gamma": gamma, "unsupported_facts": without}
    return Outcome({"responded": 1.0, "factscore": factscore(sum(holds), len(facts), gamma)}, detail)


def read_bullets(text: str) -> list[str]:
    """The lines of a reply that begin with a bullet, rid of it and of those that only speak to the reader."""
    lines = (re.match(r"\s*(?:[-*•]|\d+[.)])\s+(.*\S)", line) for line in text.splitlines())
    return [found[1] for found in lines if found and not found[1].startswith(LEADS)]


def read_verdict(text: str) -> bool:
    """Whether a reply says that a fact is true.

    Where it says both true and false, the later word counts; where neither, it is true unless it denies something.
    """
    said = text.lower()
    true, false = said.rfind("true"), said.rfind("false")
    if true != false:
        return true > false
    return not DENYING & set(said.translate(str.maketrans("", "", string.punctuation)).split())
