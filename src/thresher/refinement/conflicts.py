"""Evidence that contradicts other evidence: shown beside each other, never blended into one statement.

The rules prefer to miss a contradiction over reporting one that is none: two sentences of different documents that say
the same in nearly the same words, but for one number or date, one negation, or one word and its opposite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

from thresher.refinement.statements import (
    ARTICLES,
    ONCE,
    PREPOSITIONS,
    Number,
    Statement,
    Terms,
    statement,
)
from thresher.types import Evidence

Spans = Callable[[str], Sequence[tuple[int, int]]]
Similar = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Texts to the (n_texts, n_texts) cosines of their embeddings."""

Slot = tuple[str, str, str]
"""Kind of a number, the word before it, its unit."""

Titles = tuple[frozenset[str], frozenset[str]]
Pairs = tuple[tuple[int, int], ...]

OVERLAP = 0.6
"""Least share of the content words of two sentences that are in both. Chosen on the pairs of the tests."""

SIMILAR_OVERLAP = 0.45
SIMILAR = 0.85
"""Less overlap is enough for sentences whose embeddings are this near (cosine)."""

NAMED_WORDS, SHARED_WORDS = 2, 3
"""Least content words in both where the titles of the documents are not the same; one more for sentences that begin
with an article and have no name in common: "the tower" may be any tower."""

HEDGED = 0.1
"""An "about 300" says everything from 270 to 330."""


@dataclass(frozen=True, slots=True)
class Conflicts:
    """Pairs of positions in the evidence, from 1, that contradict each other, and facts for the trace."""

    pairs: Pairs
    detail: Mapping[str, Any] = field(default_factory=dict)


ConflictFinder = Callable[[Sequence[Evidence]], Conflicts]


# --- rules ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RuleConflicts:
    """Finds contradictions by rules alone."""

    terms: Terms
    spans: Spans
    similar: Similar | None = None

    def __call__(self, evidence: Sequence[Evidence]) -> Conflicts:
        """The pairs that contradict each other, smaller position first, in order."""
        pairs = find_conflicts(evidence, terms=self.terms, spans=self.spans, similar=self.similar)
        return Conflicts(pairs, {"conflicts": {"by_rules": len(pairs)}})


def find_conflicts(
    evidence: Sequence[Evidence], *, terms: Terms, spans: Spans, similar: Similar | None = None
) -> Pairs:
    """Positions from 1 of evidence from different documents that contradicts each other; tables are left out."""
    found = [
        (position, piece.hit.chunk.document_id, _title(piece, terms), piece.text[start:end])
        for position, piece in enumerate(evidence, start=1)
        if piece.hit.chunk.kind != "table"
        for start, end in spans(piece.text)
    ]
    said = [statement(sentence, terms) for *_, sentence in found]
    once = frozenset(terms(ONCE))
    cosines = similar([sentence for *_, sentence in found]) if similar is not None and len(found) > 1 else None
    pairs: dict[tuple[int, int], None] = {}
    for one, other in combinations(range(len(found)), 2):
        first, document, title, _ = found[one]
        second, other_document, other_title, _ = found[other]
        if document == other_document or (first, second) in pairs:
            continue
        near = cosines is not None and cosines[one][other] >= SIMILAR
        if _contradict(said[one], said[other], near=near, titles=(title, other_title), once=once):
            pairs[first, second] = None
    return tuple(sorted(pairs))


def _title(piece: Evidence, terms: Terms) -> frozenset[str]:
    """The words of a document's title; numbers tell editions apart, not subjects."""
    return frozenset(term for term in terms(piece.hit.chunk.title) if not term.isdecimal())


def _contradict(one: Statement, other: Statement, *, near: bool, titles: Titles, once: frozenset[str]) -> bool:
    if not _comparable(one, other, near=near, titles=titles):
        return False
    differing = _differing_slots(one, other)
    opposed = one.opposites != other.opposites
    denied = bool(one.negated) != bool(other.negated)
    if bool(differing) + opposed + denied != 1 or len(one.negated) > 1 or len(other.negated) > 1:
        # none, or two that may undo each other: "is not forbidden" and "is allowed"
        return False
    if differing:
        return len(differing) == 1 and _excludes(differing[0], one, other, once)
    if _has_new_condition(one, other) or _has_new_condition(other, one):
        return False
    return _opposed(one, other) if opposed else _denied(one, other)


def _comparable(one: Statement, other: Statement, *, near: bool, titles: Titles) -> bool:
    """Whether both speak of the same thing under the same conditions."""
    if one.question or other.question or one.bounded or other.bounded or one.conditions != other.conditions:
        return False
    if one.tense and other.tense and one.tense != other.tense:
        return False
    shared = one.content & other.content
    either = one.content | other.content
    if not _same_subject(one, other, titles):
        return False
    if len(shared) < (SIMILAR_OVERLAP if near else OVERLAP) * len(either):
        return False
    # words on both sides that the other has not: another subject, another predicate
    if one.content - shared and other.content - shared:
        return False
    return not (_is_narrowed(one, shared) or _is_narrowed(other, shared))


def _same_subject(one: Statement, other: Statement, titles: Titles) -> bool:
    """Whether both are about the same thing, as far as their words and the titles above them tell.

    In documents about different things a sentence speaks for itself only where its subject is a name, or stands in a
    title: "the county" is another one in each article.
    """
    ours, theirs = titles
    if ours and ours == theirs:
        return True
    if one.anaphoric or other.anaphoric:
        return False
    shared = one.content & other.content
    named = one.subject & other.subject
    if ours - theirs and theirs - ours and not named:
        return bool({one.first} & {other.first} & (ours | theirs))
    vague = (one.definite or other.definite) and not one.names & other.names
    return len(shared) >= (SHARED_WORDS if vague else NAMED_WORDS)


def _is_narrowed(said: Statement, shared: frozenset[str]) -> bool:
    """Whether a word of its own stands right beside a shared one: the large model, World War II."""
    keys = said.keys
    for at, key in enumerate(keys):
        if key and key not in shared:
            beside = [keys[near] for near in (at - 1, at + 1) if 0 <= near < len(keys)]
            if any(neighbour in shared for neighbour in beside):
                return True
    return False


def _has_new_condition(said: Statement, other: Statement) -> bool:
    """Whether a preposition leads to a word or number the other has not: "on SQuAD", "with 8 cores"."""
    stated = {number.value for number in other.numbers}
    slots = {_slot(number) for number in other.numbers}
    if any(n.conditional and n.value not in stated and _slot(n) not in slots for n in said.numbers):
        return True
    for at, key in enumerate(said.keys):
        if key and key not in other.content:
            lead = at - 1
            while lead >= 0 and said.tokens[lead] in ARTICLES:
                lead -= 1
            if lead >= 0 and said.tokens[lead] in PREPOSITIONS:
                return True
    return False


# --- numbers and dates


def _differing_slots(one: Statement, other: Statement) -> list[Slot]:
    """Slots that both fill, with values of which none agrees with any of the other's."""
    differing = []
    for slot in dict.fromkeys(_slot(number) for number in one.numbers):
        ours = [number for number in one.numbers if _slot(number) == slot]
        theirs = [number for number in other.numbers if _slot(number) == slot]
        if theirs and not any(_agree(a, b) for a, b in product(ours, theirs)):
            differing.append(slot)
    return differing


def _excludes(slot: Slot, one: Statement, other: Statement, once: frozenset[str]) -> bool:
    """Whether two values of a slot exclude each other: dates of what happens once, numbers of the same date."""
    kind, before, _ = slot
    if kind == "date":
        return before in once
    dates, others = ({n.value for n in said.numbers if n.kind == "date"} for said in (one, other))
    return dates == others and not (_has_new_condition(one, other) or _has_new_condition(other, one))


def _slot(number: Number) -> Slot:
    """What the number is the number of: its unit where it has one, otherwise the word before it."""
    return (number.kind, "" if number.unit else number.before, number.unit)


def _agree(one: Number, other: Number) -> bool:
    if one.kind == "date":
        return all(a == b for a, b in zip(one.value, other.value, strict=False))
    (a,), (b,) = one.value, other.value
    coarser = max(one.step, other.step) / 2 if one.step != other.step else 0.0
    near = HEDGED * max(abs(a), abs(b)) if one.hedged or other.hedged else 0.0
    return abs(a - b) <= max(coarser, near)


# --- negations and opposites


def _denied(one: Statement, other: Statement) -> bool:
    """Whether what one negates is what the other says."""
    negating, saying = (one, other) if one.negated else (other, one)
    denied = negating.negated[0]
    return denied in saying.content if denied else bool(saying.opposites)


def _opposed(one: Statement, other: Statement) -> bool:
    """Whether they differ in one word and its opposite, and none says both."""
    ours, theirs = set(one.opposites) - set(other.opposites), set(other.opposites) - set(one.opposites)
    if len(ours) != 1 or len(theirs) != 1:
        return False
    (line, side), (their_line, their_side) = *ours, *theirs
    return line == their_line and side != their_side
