"""The words of the evidence that answer, with the sentence they stand in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp
from typing import ClassVar

from thresher.generation.candidates import Candidate
from thresher.generation.citations import cite
from thresher.generation.material import Material
from thresher.generation.places import Place
from thresher.questions.kinds import OF_DOCUMENTS, Kind
from thresher.text.answer_types import is_of_type
from thresher.text.document_names import is_asked_for
from thresher.text.entities import names_in
from thresher.types import Generation, Notes, Query
from thresher.verification.rivals import Said

ANSWERED = OF_DOCUMENTS | {Kind.FACT, Kind.LIST}
"""Kinds of questions that a few words answer."""

RIVAL_CERTAINTY, RIVAL_SHARE = 0.2, 0.4
"""Least certainty of an answer that is shown as contradicting another one, and least share of that one's. Chosen on the
half of the facts and questions of benchmarks/planted_conflicts.py that is for choosing."""

MOST = 3
"""Answers that are proposed: a table or a list elsewhere may agree with one that is not the first."""


@dataclass(frozen=True, slots=True)
class SpanAnswerer:
    """Proposes the best places of the evidence.

    Where the best place is one of many, the answer is no name, number or phrase, and no place is proposed.
    """

    min_place: float
    """Probability of a place among those of its text, below which it is not proposed."""
    rivals: Callable[[str, Said, Said], bool] | None = None
    """Whether two answers to a question cannot both be right; None shows the likelier one alone."""
    name: ClassVar[str] = "spans"

    def __call__(self, query: Query, material: Material) -> Sequence[Candidate]:
        """The answers that the places agree on most; what the nearest one says instead, where none agrees."""
        intent = query.intent
        if intent.kind not in ANSWERED or intent.choice is not None:
            return ()
        places = material.places
        if places.found and not places.agreeing:
            nearest = max(places.found, key=lambda place: place.certainty)
            why = f"What is nearest to the question is {nearest.other}."
            return [Candidate(_said(nearest.text, nearest), self.name, nearest.signs, objection=why)]
        likely = [place for place in places.answers if exp(place.signs.place or 0.0) >= self.min_place]
        if not likely or likely[0] is not places.answers[0]:
            return ()
        return [self._candidate(query.question, place, places.agreeing) for place in likely[:MOST]]

    def _candidate(self, question: str, place: Place, others: Sequence[Place]) -> Candidate:
        if meant := _document_meant(question, place):
            return Candidate(_said(meant, place), self.name, place.signs)
        rival = self.rival(question, place, others)
        if rival is None:
            return Candidate(_said(place.text, place), self.name, place.signs)
        return Candidate(_both(place, rival), self.name, replace(place.signs, rival=rival.certainty))

    def rival(self, question: str, best: Place, places: Sequence[Place]) -> Place | None:
        """The likeliest answer of another document that cannot be right where the best one is."""
        if self.rivals is None:
            return None
        least = max(RIVAL_CERTAINTY, RIVAL_SHARE * best.certainty)
        likeliest: dict[str, Place] = {}
        for place in sorted(places, key=lambda place: -place.certainty):
            likeliest.setdefault(place.document, place)
        for place in likeliest.values():
            apart = place.certainty >= least and place.document != best.document
            if apart and self.rivals(question, best.said, place.said):
                return place
        return None


def _said(text: str, place: Place) -> Generation:
    """An answer with a citation of the sentence it stands in."""
    return Generation(f"{text} [1]", (cite(1, place.sentence),), exact=True)


def _both(best: Place, rival: Place) -> Generation:
    """Two answers of which at most one is right: nothing says which document is."""
    text = f"{best.text} [1]; another document says {rival.text} [2]"
    citations = (cite(1, best.sentence), cite(2, rival.sentence))
    notes = Notes(facts={"rival": {"text": rival.text, "certainty": round(rival.certainty, 3)}})
    return Generation(text, citations, conflicts=((1, 2),), notes=notes, exact=True)


def _document_meant(question: str, place: Place) -> str:
    """The title of a document where one of its sort is asked for and the place names none; "" elsewhere.

    "Which branch had its cash machine blown up?": a branch report says by whom, and its title says which branch.
    """
    title = place.piece.hit.chunk.title
    coded = any(mark.isdigit() for mark in place.text) and not is_of_type(place.text, "number")
    named = names_in(f"by {place.text}") or coded
    return title if not named and is_asked_for(question, title) else ""
