"""How sure a place of the evidence is to answer a question: what speaks for it and against it, weighed as learnt.

The reader's own opinion is one sign of several. It was taught on passages that are mostly about the question's subject;
documents that are alike but for a name, a year or a condition need the others: does the text around the place hold the
question's words, names and numbers, and is the place of the sort that was asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log
from typing import Any

from thresher.text.answer_types import answer_type, is_of_type
from thresher.text.entities import lacking
from thresher.text.sentences import sentence_spans
from thresher.text.terms import term_set
from thresher.types import PERHAPS, Generation, Reading, logistic

_WORD = re.compile(r"\w+")

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
    sentence: float
    """The same of the sentence of the place: what is said of the herring gull is not said of the common gull."""
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
    sentence: float
    lacking: float
    fits: float
    intercept: float

    def probability(self, signs: Signs) -> float:
        """That the place answers the question, 0 to 1."""
        return weighed(self, signs)


def weighed(weights: Any, signs: Any) -> float:
    """What a logistic regression makes of signs, 0 to 1; `weights` has a number for each of them, and `intercept`."""
    values = ((getattr(weights, name), getattr(signs, name)) for name in signs.__dataclass_fields__)
    return logistic(weights.intercept + sum(weight * value for weight, value in values))


@dataclass(frozen=True, slots=True)
class Sureness:
    """What becomes of an answer that is not sure."""

    withhold_below: float
    """Probability that it is right below which there is none."""
    perhaps_below: float
    """Probability below which it says so."""

    def withheld(self, certainty: float) -> str:
        """How unlikely an answer is that is not given, as the end of a sentence; "" for one that is."""
        if certainty >= self.withhold_below:
            return ""
        return f"right with a probability of {certainty:.2f}, and {self.withhold_below:.2f} is asked for"

    def marked(self, answer: Generation, certainty: float) -> Generation:
        """The answer with its certainty, beginning with "Perhaps:" where that is low."""
        unsure = certainty < self.perhaps_below and not answer.abstained
        return replace(answer, text=f"{PERHAPS}{answer.text}" if unsure else answer.text, certainty=certainty)


LEARNT = Weights(relevance=0.618, place=0.618, terms=0.911, sentence=0.671, lacking=0.0, fits=0.0, intercept=-2.9)
"""Fitted by research/reader/certainty.py."""


def signs_of(
    question: str, text: str, above: str, place: tuple[int, int], reading: Reading, rarity: Mapping[str, float]
) -> Signs:
    """What is known of the answer at a place of a text; `above` is its title and heading, `rarity` weighs each term."""
    start, end = place
    touched = [span for span in sentence_spans(text) if span[0] < max(end, start + 1) and span[1] > start]
    sentence = text[touched[0][0] : touched[-1][1]] if touched else text
    fits = is_of_type(text[start:end], answer_type(question))
    return Signs(
        relevance=reading.relevance,
        place=log(max(reading.certainty, LEAST)),
        terms=_share(rarity, question, f"{above} {text}"),
        sentence=_share(rarity, question, f"{above} {sentence}"),
        lacking=float(min(3, len(lacking(question, f"{above}. {text}")))),
        fits=0.0 if fits is None else 1.0 if fits else -1.0,
    )


def _share(rarity: Mapping[str, float], question: str, text: str) -> float:
    """Of the question's terms those that the text has, also where it runs two of them together: BERTBASE."""
    present, total = term_set(text), sum(rarity.values())
    held = set(rarity) & present
    for one, other in pairwise(_WORD.findall(question)):
        if not term_set(one + other).isdisjoint(present):
            held |= term_set(f"{one} {other}") & set(rarity)
    return sum(rarity[term] for term in held) / total if total else 0.0
