"""What may answer a question: candidates, what speaks for each of them, and who proposes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Protocol

from thresher.generation.citations import cite, quoted
from thresher.types import Generation, Notes, Query

if TYPE_CHECKING:
    from thresher.generation.material import Material
    from thresher.generation.sentence_support import Sentence


@dataclass(frozen=True, slots=True)
class Signs:
    """What is known of a candidate, in one vocabulary for all answerers; None for what does not apply to it."""

    judged: float | None = None
    """Probability that the chunk answers, by the judge of the recipe; None where that gives none."""
    relevance: float | None = None
    """Logit that the text around it answers the question."""
    whole: float | None = None
    """Logit of the judge that the passage as it is shown answers the question."""
    place: float | None = None
    """Logarithm of the probability of the place among all places of that text."""
    terms: float | None = None
    """Share of the question's terms, weighted by rarity, that the text or what stands above it holds, 0 to 1."""
    sentence: float | None = None
    """The same of the sentence of the place: what is said of the herring gull is not said of the common gull."""
    uncovered: float | None = None
    """Names and numbers of the question that stand neither in the text nor above it, 3 at most."""
    support: float | None = None
    """Support of its sentences for each description of the thing that is asked for."""
    ahead: float | None = None
    """How far that is above the support of the next candidate."""
    name: float | None = None
    """How well the name in the question fits the title of the document, 0 to 1."""
    rival: float | None = None
    """Certainty of an answer of another document, shown beside it, that cannot be right where it is."""

    def to_dict(self) -> dict[str, float]:
        """The signs that apply, by name, rounded for people."""
        values = ((one.name, getattr(self, one.name)) for one in fields(self))
        return {name: round(value, 3) for name, value in values if value is not None}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that may answer the question, with its citations."""

    answer: Generation
    by: str
    """The answerer that proposes it."""
    signs: Signs = Signs()
    is_passage: bool = False
    """Whether it is a text to read, in which the answer may stand, rather than the answer."""
    objection: str = ""
    """Why it is no answer though nothing is nearer: "another year: 2019". It is never chosen."""


class Answerer(Protocol):
    """Proposes what may answer; it knows no other answerer and never abstains: it proposes nothing."""

    @property
    def name(self) -> str:
        """Its row in the table of certainties; one of your own has its row as `certainty`."""

    def __call__(self, query: Query, material: Material) -> Sequence[Candidate]:
        """The candidates, in any order."""


def quoting(sentences: Sequence[Sentence], notes: Notes) -> Generation:
    """Quotes one behind the other, with a citation each."""
    citations = tuple(cite(marker, sentence) for marker, sentence in enumerate(sentences, start=1))
    return Generation(" ".join(map(quoted, citations)), citations, notes=notes, exact=True)
