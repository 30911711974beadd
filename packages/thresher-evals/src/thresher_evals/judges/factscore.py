"""FActScore: the share of a long answer's atomic facts that a knowledge source supports (Min et al. 2023).

As published (section 4, github.com/shmsw25/FActScore): the answer is split into sentences, each sentence into atomic
facts; each fact is checked alone against the five nearest passages of the topic's own texts, in reverse order; few
facts are penalised. Departs in three ways: splitter and checker can be chosen, temperature is 0 (theirs: 0.7), and
passages are found by BM25, without another model (theirs: GTR).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from thresher.text.terms import index_terms
from thresher_evals.judges.base import Case, Outcome, sentences
from thresher_methods.confidence import Statistics

LEADS = ("Sure", "Please", "Here are")
"""Starts of lines that address the user and state no fact."""

PASSAGE_WORDS = 190
"""FActScore's passages have 256 tokens; four tokens are about three English words."""

SHOWN = 5
"""Passages for a fact; FActScore's k."""

GAMMA = 10  # fewer facts are penalised; as in the published numbers (Min et al. 2023, released code)

Decompose = Callable[[str], Sequence[str] | None]
"""Sentence to facts; None for an unreadable reply."""

Verify = Callable[[str, str, Sequence[str]], bool]
"""Topic, fact and passages (best last) to whether the passages support the fact."""


def checked_facts(case: Case, decompose: Decompose, verify: Verify, *, gamma: float = GAMMA) -> Outcome:
    """FActScore of an answer; only `responded` if a sentence could not be split."""
    knowledge = Knowledge(case.references)
    if not knowledge.passages:
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
    if not facts:  # as in the released code: without facts it does not respond
        return Outcome({"responded": 0.0}, {"facts": 0})
    holds = [verify(topic, fact, knowledge.nearest(f"{topic} {fact}")[::-1]) for fact in facts]
    without = [fact for fact, holds_so in zip(facts, holds, strict=True) if not holds_so]
    detail = {"supported": sum(holds), "facts": len(facts), "gamma": gamma, "unsupported_facts": without}
    return Outcome({"responded": 1.0, "factscore": factscore(sum(holds), len(facts), gamma)}, detail)


# --- the knowledge source ---------------------------------------------------------------------------------------------


class Knowledge:
    """The passages of some texts, in order; a passage stays within one text."""

    def __init__(self, texts: Sequence[str], *, words: int = PASSAGE_WORDS) -> None:
        self.passages = tuple(passage for text in texts for passage in packed(sentences(text), words))

    def nearest(self, query: str, *, limit: int = SHOWN) -> list[str]:
        """The passages with the highest BM25, best first; ties keep the order of the texts."""
        wanted, counted = index_terms(query), self._statistics
        scores = [counted.bm25(wanted, terms) for terms in self._terms]
        best = sorted(range(len(scores)), key=lambda at: -scores[at])[:limit]
        return [self.passages[at] for at in best]

    @cached_property
    def _terms(self) -> list[list[str]]:
        return [index_terms(passage) for passage in self.passages]

    @cached_property
    def _statistics(self) -> Statistics:
        return Statistics.of(self._terms)


def packed(pieces: Sequence[str], words: int) -> Iterator[str]:
    """Sentences joined to passages of at most `words` words; a longer sentence is a passage."""
    held: list[str] = []
    for piece in pieces:
        if held and sum(len(one.split()) for one in (*held, piece)) > words:
            yield " ".join(held)
            held = []
        held.append(piece)
    if held:
        yield " ".join(held)


def factscore(supported: int, facts: int, gamma: float = GAMMA) -> float:
    """Supported share of the facts, times exp(1 - gamma / facts) for fewer facts than gamma; 0..1, 0 without facts.

    Raises ValueError if more facts are supported than there are.
    """
    if not 0 <= supported <= facts:
        raise ValueError(f"{supported} of {facts} facts cannot be supported")
    if not facts:
        return 0.0
    return supported / facts * (1.0 if facts > gamma else math.exp(1 - gamma / facts))
