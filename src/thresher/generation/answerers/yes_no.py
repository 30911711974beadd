"""Yes or no, where a sentence of the evidence decides it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from thresher.generation.candidates import Candidate, Signs
from thresher.generation.citations import cite, quoted
from thresher.generation.material import Material
from thresher.generation.sentence_support import Sentence, SupportJudge
from thresher.questions.kinds import Kind
from thresher.text.boilerplate import is_bibliography, says_nothing
from thresher.text.entities import missing_name, name_places
from thresher.text.injection import is_command
from thresher.text.numbers import missing_quantity
from thresher.text.terms import index_terms, term_set
from thresher.types import Generation, Notes, Query
from thresher.verification.contradiction import contradiction, statement

LOOKED_AT = 3
"""Sentences nearest to the question that may decide it, and must not disagree."""

HELD = 0.85
"""Share of the question's terms, weighted by their rarity, that a deciding sentence and its title hold."""

LEAST_SAID = 2
"""Terms besides the names that a deciding sentence holds where only the title has the names."""

_LIGHT = term_set("use used using have has make does do get give be work happen there possible true need")
"""What a sentence that answers may say in other words."""

_STRICT = frozenset("all every always only each any never exactly both".split())  # noqa: SIM905
"""A sentence that decides a question with one of these has it as well."""

_DOUBT = re.compile(
    r"\b(?:if|whether|unless|may|might|could|would|perhaps|possibly|probably|likely|suggests?|hypothesi[sz]e|assum\w+|"
    r"except|unclear|unknown|future|planned|propos\w+|previously|formerly)\b",
    re.IGNORECASE,
)
_ASKS_LEAVE = re.compile(r"(?:can|may|could)\b|(?:am|are|is) .*\ballowed\b", re.IGNORECASE)
"""What is not allowed then denies it."""

_GRADE = re.compile(r"\b\w+ [A-Z]$")
"""A letter at the end names a sort: grade A."""

_ONE_OF = re.compile(r"\b(grade|class|category|rating|mark|level|rank) ([A-Z]|\d)\b")
"""Of these a thing has one."""

LEAD_IN = 400
"""Characters between a line of a list and what leads in to the list."""

_MODAL = re.compile(r"\b(?:can|could|may|might|must|should|shall|would|will|allowed|possible|if|when)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class YesNoAnswerer:
    """Proposes yes or no where the sentences nearest to the question decide it, with the one that decides.

    A sentence decides that holds the question's words, names and numbers: with yes where it says them, with no where it
    contradicts them. One that doubts, or has the names in another order, decides nothing.
    """

    support: SupportJudge
    name: ClassVar[str] = "yes_no"

    def __call__(self, query: Query, material: Material) -> Sequence[Candidate]:
        """The verdict first, the deciding sentence behind it."""
        if query.intent.kind is not Kind.YES_NO or query.intent.choice is not None or not material.places.agreeing:
            return ()
        texts = [piece for piece in material.text if not is_bibliography(piece.text)]
        stating = [s for s in self.support(query.question, texts) if not _asks_or_orders(s.text)]
        weights = self.support.rarity(query.question)
        deciding = [(s, said) for s in stating[: 2 * LOOKED_AT] if (said := decision(query.question, s, weights))]
        if not deciding or len({said for _, said in deciding[:LOOKED_AT]}) > 1:
            return ()
        sentence, said = deciding[0]
        citation = cite(1, sentence)
        answer = Generation(f"{said} {quoted(citation)}", (citation,), notes=Notes(facts={"decided": said}), exact=True)
        relevance = max(place.signs.relevance or 0.0 for place in material.places.agreeing)
        return [Candidate(answer, self.name, Signs(relevance=relevance))]


def _asks_or_orders(text: str) -> bool:
    return text.rstrip(" \"'”’)").endswith("?") or is_command(text) or says_nothing(text)


def decision(question: str, sentence: Sentence, weights: Mapping[str, float]) -> str:
    """Yes., No. or "" for neither: what a sentence says to a question that asks whether something is so."""
    claim, text = question.rstrip(" ?"), sentence.text
    said = f"{_lead_in(sentence)} {text}".strip()
    known = f"{sentence.evidence.hit.chunk.title} {said}"
    names = {term for _, name in name_places(f"- {claim}") for term in index_terms(name)}
    # numbers are held against each other below
    weights = {term: weight for term, weight in weights.items() if term not in _LIGHT and not term[0].isdigit()}
    # the title says whom a sentence is about, not what is said of him
    wanted = {term: weight for term, weight in weights.items() if term not in names}
    held = sum(weight for term, weight in wanted.items() if term in term_set(said))
    told_by_title = not names <= term_set(said)
    if held < HELD * sum(wanted.values()) or not weights or missing_name(claim, known) or not _same_order(claim, said):
        return ""
    if _another_grade(claim, text):
        return "No."
    if told_by_title and (statement(text).subject - names or len(wanted) < LEAST_SAID):
        return ""
    if contradiction(f"{claim} allowed" if _ASKS_LEAVE.match(question) else claim, text):
        return "No."
    letters = {word for word in re.findall(r"\b[A-Z]\b", claim) if word not in "AI"} | set(_GRADE.findall(claim))
    strict = (_STRICT & set(question.lower().split())) <= set(text.lower().split()) and all(
        one in text for one in letters
    )
    doubts = _DOUBT.search(text) is not None and _MODAL.search(question) is None
    return "" if doubts or missing_quantity(claim, known) or not strict else "Yes."


def _another_grade(claim: str, text: str) -> bool:
    """Whether a text says another grade, class or level than a claim, and not that one."""
    claimed, said = set(_ONE_OF.findall(claim)), set(_ONE_OF.findall(text))
    return not claimed & said and bool({sort for sort, _ in claimed} & {sort for sort, _ in said})


def _lead_in(sentence: Sentence) -> str:
    """The line with a colon that a line stands below: "The following rules hold for company vans:"."""
    before = sentence.evidence.text[: sentence.start - sentence.evidence.start].rstrip("-–•*‣◦ ")
    if before and not before.endswith("\n"):
        return ""  # in the middle of a line
    near = [line.strip() for line in before[-LEAD_IN:].splitlines()]
    return next((line for line in reversed(near) if line.endswith(":")), "")


def _same_order(claim: str, text: str) -> bool:
    """Whether the names of a claim stand in the text in their order: who is better than whom, who sued whom."""
    lower = text.lower()
    places = [lower.find(name.lower()) for _, name in name_places(f"- {claim}")]
    found = [place for place in places if place >= 0]
    return found == sorted(found)
