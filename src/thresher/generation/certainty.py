"""How sure a place of the evidence is to answer a question: what speaks for it and against it, weighed as learnt.

The reader's own opinion is one sign of several. It was taught on passages that are mostly about the question's subject;
documents that are alike but for a name, a year or a condition need the others: does the text around the place hold the
question's words, names and numbers, and is the place of the sort that was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log

from thresher.text.answer_types import answer_type, is_of_type
from thresher.text.entities import lacking
from thresher.text.terms import term_set
from thresher.types import logistic

LEAST = 1e-4
"""A probability below it is taken for it, so that its logarithm is bounded."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What is known of one place."""

    relevance: float
    """Logit that the text around it answers the question."""
    place: float
    """Logarithm of the probability of the place among all places of that text."""
    terms: float
    """Share of the question's terms, weighted by rarity, that the text or what stands above it holds, 0 to 1."""
    lacking: float
    """Names and numbers of the question that stand in neither, 3 at most."""
    fits: float
    """1 for a place of the sort that was asked for, -1 for another, 0 where any may be right."""

    def to_dict(self) -> dict[str, float]:
        """The signs by name, rounded for people."""
        return {name: round(getattr(self, name), 3) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class Weights:
    """A logistic regression over `Signs`."""

    relevance: float
    place: float
    terms: float
    lacking: float
    fits: float
    intercept: float

    def probability(self, signs: Signs) -> float:
        """That the place answers the question, 0 to 1."""
        return logistic(
            self.intercept + sum(getattr(self, name) * getattr(signs, name) for name in Signs.__dataclass_fields__)
        )


LEARNT = Weights(relevance=0.5, place=0.5, terms=2.0, lacking=-0.8, fits=0.5, intercept=-1.0)
"""Fitted by research/reader/certainty.py."""


def signs_of(
    question: str, text: str, above: str, answer: str, relevance: float, certainty: float, rarity: Mapping[str, float]
) -> Signs:
    """What is known of an answer that stands in a text; `above` is its title and heading, `rarity` weighs each term."""
    present = term_set(f"{above} {text}")
    total = sum(rarity.values())
    fits = is_of_type(answer, answer_type(question))
    return Signs(
        relevance=relevance,
        place=log(max(certainty, LEAST)),
        terms=sum(weight for term, weight in rarity.items() if term in present) / total if total else 0.0,
        lacking=float(min(3, len(lacking(question, f"{above}. {text}")))),
        fits=0.0 if fits is None else 1.0 if fits else -1.0,
    )
