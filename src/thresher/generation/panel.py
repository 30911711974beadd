"""Answers without a chat model: answerers propose candidates for each part of a question, the selector takes one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from thresher.generation.candidates import Answerer, quoting
from thresher.generation.citations import abstention, in_turn
from thresher.generation.material import Material, naming
from thresher.generation.select import Selector
from thresher.types import NO_NOTES, PERHAPS, Evidence, Generation, Notes, Query

NAMED = "Not answered, but named here:"
"""Before a sentence that names what was asked about and does not answer."""


@dataclass(frozen=True, slots=True)
class Panel:
    """Each part of a question is put to all answerers; which of their candidates answers it, `select` decides.

    One number at one place is not how many of two things: the part that is less certain of it is not answered.
    """

    answerers: Sequence[Answerer]
    select: Selector
    material: Callable[[Query, Sequence[Evidence]], Material]
    """Of a question and its evidence, what answerers read."""

    @property
    def about(self) -> str:
        """The answerers."""
        return ", ".join(one.name for one in self.answerers)

    def joined_by(self, answerers: Sequence[Answerer]) -> Panel:
        """The panel with further answerers; one with the name of another stands in its place."""
        own = {one.name: one for one in answerers}
        every = [*(one for one in self.answerers if one.name not in own), *own.values()]
        rows = {name: one.certainty for name, one in own.items() if hasattr(one, "certainty")}
        select = replace(self.select, table={**self.select.table, **rows})
        for name in own:
            select.row(name)  # what has none is told before a question is asked
        return replace(self, answerers=every, select=select)

    def __call__(self, query: Query, evidence: Sequence[Evidence]) -> Generation:
        """The answers of the parts in their order, a line each; an abstention where none is answered."""
        parts = query.intent.parts
        answers = [self._answer(replace(query, question=part), evidence) for part in parts]
        if len(parts) == 1:
            return answers[0]
        for one, other in combinations(range(len(parts)), 2):
            if _same_number(answers[one], answers[other]):
                less = min((one, other), key=lambda at: answers[at].certainty or 0.0)
                answers[less] = abstention("What it seems to be is the answer to another part.", answers[less].notes)
        answered = [not answer.abstained for answer in answers]
        notes = sum((answer.notes for answer in answers), NO_NOTES)
        notes += Notes(facts={"parts": [{"question": p, "answered": a} for p, a in zip(parts, answered, strict=True)]})
        if not any(answered):
            return replace(answers[0], notes=notes)
        answers = [_or_named(part, answer, evidence) for part, answer in zip(parts, answers, strict=True)]
        return replace(in_turn(list(zip(parts, answers, strict=True))), notes=notes)

    def _answer(self, query: Query, evidence: Sequence[Evidence]) -> Generation:
        material = self.material(query, evidence)
        candidates = [one for answerer in self.answerers for one in answerer(query, material)]
        answer = self.select(candidates, material.lacks)
        return replace(answer, notes=answer.notes + Notes(facts={"kind": str(query.intent.kind)}))


def _or_named(part: str, answer: Generation, evidence: Sequence[Evidence]) -> Generation:
    """The answer, or of one that is missing the sentence that names what the part is about."""
    named = naming(Query(part, part).intent.subject, evidence) if answer.abstained else []
    return replace(found, text=f"{NAMED} {found.text}") if named and (found := quoting(named, NO_NOTES)) else answer


def _same_number(one: Generation, other: Generation) -> bool:
    """Whether both answers are the same number, taken from the same sentence."""
    texts = [answer.text.removeprefix(PERHAPS) for answer in (one, other)]
    places = [[(cited.document_id, cited.start) for cited in answer.citations] for answer in (one, other)]
    number = one.exact and other.exact and re.search(r"\d", texts[0].partition(" [")[0]) is not None
    return number and texts[0] == texts[1] and places[0] == places[1]
