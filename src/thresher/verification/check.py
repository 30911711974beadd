"""Whether the documents support a sentence: quoted, supported, unverified or contradicted, with probability and place.

A claim that no statement says in the same words (`thresher.verification.quoting`) is checked against windows of what it
cites, then of the rest of the evidence, then of the whole cited document (`thresher.verification.attribution`). The
trained model reads the sentences nearest to it, one fitted table weighs its readings, and the rules bound it where they
are exact and give reasons (`thresher.verification.rules`). A claim is contradicted where a rule names what stands
instead; a denial of the model alone is a reason.

`weights.json` (research/fit_checker.py) holds log odds of "supported" and "contradicted" against "unverified"; the
softmax of both and 0 gives three calibrated probabilities. What else the rules find adds nothing to the trained
readings (docs/results/models.md); it explains a finding.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from math import exp
from pathlib import Path

from thresher.protocols import SupportReader
from thresher.text.boilerplate import asks
from thresher.text.injection import is_command
from thresher.text.sentences import sentence_spans
from thresher.text.terms import FRAGMENT_TERMS, term_set, term_share
from thresher.types import ClaimState, Document, Evidence, Notes, SupportReading, log_odds
from thresher.verification.attribution import Attribution
from thresher.verification.claims import Cited, Finding, Findings
from thresher.verification.contradiction import PRONOUNS, contradiction
from thresher.verification.rules import NEITHER, NOTHING, SAME_SENTENCE, RuleSigns, case_of
from thresher.verification.windows import Reads, Rows, Window, cell_instead, nearest_windows, no_rows, spelled_out

SUPPORTED_FROM = 0.8
"""Calibrated probability from which a claim is supported. Of 72 sentences that are false in one place 4 reach it and of
72 true ones 8 (benchmarks/claims, half `choose`); at .7 these are 13 and 27, at .5 they are 41 and 46."""

CONTRADICTED_FROM = 0.7
"""Calibrated probability from which a claim is contradicted where a rule names what stands instead: 2 % of the true
sentences of eleven sets reach it at most and 4 % of ShARC's, of those with another value planted about 40 %."""

READ_AS_SUPPORTED = 0.5
"""Probability, as the model reads it, from which a sentence alone supports a claim."""

IN_ANOTHER_LANGUAGE = 0.75
"""Support of a sentence in another language than the evidence's whose numbers all stand there and which is about the
same as the encoder sees it: the model reads English."""

_REFERS = re.compile(rf"(?:{'|'.join(sorted(PRONOUNS))})\b", re.IGNORECASE)

CLIPPED = 1e-4
"""Probabilities of the model are kept this far from 0 and 1 before their log odds are taken."""

UNSTATED = 1 / 20
"""Highest odds of support where an exact rule finds otherwise: of some 700 cases for fitting with a number that stands
nowhere one in forty is supported (SciFact rounds)."""

SAYS_THE_REST = 0.8
"""Probability, as the model reads it, from which a sentence says the claim but for what a rule finds."""

OUTCOMES = ("support", "denial")
SIGNS = ("constant", "selected", "alone", "denial", "share")


@dataclass(frozen=True, slots=True)
class ClaimSigns:
    """What the trained model reads of a claim beside its evidence, probabilities 0 to 1, and what exact rules find."""

    selected: float
    """Probability, of the trained model, that the sentences nearest to it support it, read together."""
    alone: float
    """Highest that one of them supports it, read alone."""
    denial: float
    """That those sentences, read together, deny it."""
    number: bool
    """A number stands nowhere in the evidence, or the evidence is about a namesake."""
    misplaced: bool
    """A number, or a name that the evidence has, does not stand where the rest of the claim does; no bound."""
    cell: bool
    """The row of a table has another value in its place."""
    share: float
    """Of the claim's terms, those that the evidence holds: what it does not speak of it does not deny."""

    @property
    def bounded(self) -> bool:
        """Whether an exact rule finds otherwise."""
        return self.number or self.cell

    def values(self) -> tuple[float, ...]:
        """The numbers that are weighed, in the order of `SIGNS`."""
        return (
            1.0,
            *(log_odds(read, CLIPPED) for read in (self.selected, self.alone, self.denial)),
            self.share,
        )


@dataclass(frozen=True, slots=True)
class Observation:
    """What model and rules find in some windows for a claim."""

    signs: ClaimSigns
    rules: RuleSigns
    supporting: tuple[Window, ...]
    """Of each piece the window with a sentence that supports it alone, else those with the sentences nearest to it."""
    nearest: Window
    """The window that shares most terms with it."""


@dataclass(frozen=True, slots=True)
class Checker:
    """The trained model, weighed, within the bounds of the exact rules."""

    read: SupportReader
    documents: Callable[[Sequence[str]], Mapping[str, Document]] = field(default=lambda ids: {})
    """The whole documents of some ids: a name may stand anywhere in the one that is cited."""
    rows: Rows = no_rows
    """The rows of tables in a span of a document, in words."""

    def __call__(self, question: str, claims: Sequence[Cited], evidence: Sequence[Evidence]) -> Findings:
        """One finding for each claim."""
        of = Attribution(question, evidence, partial(self.against, question), self.documents, self.rows)
        return Findings(tuple(map(of.find, claims)), Notes(facts={"check": self.read.name}))

    def nearest(self, claim: str, piece: Evidence) -> tuple[int, int, float]:
        """Begin and end in the piece of its sentence that is nearest to a claim, and how near it is, 0 to 1.

        Half of it is the probability, as the model reads it, that it supports the claim or, as far as it shares terms
        with it, that it denies it; half is the share of the claim's terms that it has.
        """
        stated = [(start, end) for start, end in sentence_spans(piece.text) if not is_command(piece.text[start:end])]
        spans = [(start, end) for start, end in stated if not asks(piece.text[start:end])] or stated
        if not spans:
            return 0, len(piece.text), 0.0
        texts, title = [piece.text[start:end] for start, end in spans], piece.hit.chunk.title
        readings = self.read.check(claim, texts, [title] * len(texts))
        shares = [term_share(claim, f"{title} {text}") for text in texts]
        near = [
            (reading.supported + share * reading.contradicted + share) / 2
            for reading, share in zip(readings, shares, strict=True)
        ]
        best = max(range(len(spans)), key=lambda at: (near[at], -at))
        return *spans[best], near[best]

    def against(self, question: str, claim: str, windows: Sequence[Window], known: str) -> Finding:
        """What some windows together say to a claim; `known` is what else names may stand in."""
        seen = self.observe(claim, windows, question=question, known=known)
        if seen is None:
            return Finding(ClaimState.UNVERIFIED, 0.0, reason=NOTHING)
        if seen.rules.language:
            return _abroad(seen.rules, seen.nearest)
        found = weighed(seen.signs)
        return _finding(claim, found, seen)

    def observe(
        self, claim: str, windows: Sequence[Window], *, question: str = "", known: str = ""
    ) -> Observation | None:
        """What model and rules see, not yet weighed; None without windows."""
        if not (windows := nearest_windows(claim, windows)):
            return None
        titles = " ".join(dict.fromkeys(window.title for window in windows))
        sentences = [sentence for window in windows for sentence in window.sentences]
        expanded = spelled_out(claim)  # as the sentences are
        rules = case_of(expanded, sentences, titles=titles, question=question).signs(known)
        cell = cell_instead(claim, windows)
        if not rules.denial and cell:
            rules = replace(rules, denial=cell)
        read = Reads.of(claim, windows)
        readings = self.read.check(with_question(expanded, question), read.texts, read.titles)
        if question and _REFERS.match(claim):  # the evidence may say it of the same thing that the question names
            bare = self.read.check(expanded, read.texts, read.titles)
            readings = [max(both, key=lambda one: one.supported) for both in zip(readings, bare, strict=True)]
        if rules.turned:
            readings = [SupportReading(one.contradicted, one.supported) for one in readings]
        together, each = readings[0], readings[1:]
        alone = max(each, key=lambda one: one.supported)
        holding: dict[int, Window] = {}
        for (window, _), reading in zip(read.alone, each, strict=True):
            if alone.supported < READ_AS_SUPPORTED or reading.supported >= READ_AS_SUPPORTED:
                holding.setdefault(window.piece, window)
        supporting = tuple(holding[piece] for piece in sorted(holding))
        return Observation(signs_of(rules, together, alone, cell=bool(cell)), rules, supporting, windows[0])


def _abroad(rules: RuleSigns, near: Window) -> Finding:
    state, support = (ClaimState.UNVERIFIED, 0.0) if rules.number else (ClaimState.SUPPORTED, IN_ANOTHER_LANGUAGE)
    remarks = () if rules.number else (f"in {rules.language}: only its numbers were checked",)
    return Finding(state, support, 0.0, rules.number, (near.piece,), (near.place,), remarks)


def with_question(claim: str, question: str) -> str:
    """A claim as the model reads it: what says nothing without its question has the question in front."""
    leans = len(term_set(claim)) < FRAGMENT_TERMS or _REFERS.match(claim)
    return f"{question.rstrip(' ?')}? {claim}" if question and leans else claim


def signs_of(rules: RuleSigns, together: SupportReading, alone: SupportReading, *, cell: bool = False) -> ClaimSigns:
    """The readings that the table weighs, and what bounds them."""
    exact = (bool(rules.number or rules.namesake), bool(rules.misplaced and not rules.name), cell)
    return ClaimSigns(together.supported, alone.supported, together.contradicted, *exact, rules.share)


def state_of(found: SupportReading, *, denied: bool) -> ClaimState:
    """What calibrated probabilities make of a claim, where a rule names what stands instead (`denied`) or not."""
    if found.supported >= SUPPORTED_FROM:
        return ClaimState.SUPPORTED
    return ClaimState.CONTRADICTED if denied and found.contradicted >= CONTRADICTED_FROM else ClaimState.UNVERIFIED


def _finding(claim: str, found: SupportReading, seen: Observation) -> Finding:
    rules, reason = seen.rules, ""
    state = state_of(found, denied=rules.denies)
    if state is ClaimState.SUPPORTED and (otherwise := _otherwise(claim, seen.supporting)):
        state, reason = ClaimState.UNVERIFIED, otherwise
    elif state is not ClaimState.SUPPORTED:
        seems = "the evidence seems to say otherwise" if found.contradicted >= CONTRADICTED_FROM else NEITHER
        reason = rules.denial or rules.number or rules.namesake or rules.name or rules.misplaced or seems
    windows = seen.supporting if found.supported >= SUPPORTED_FROM else (seen.nearest,)
    pieces, places = tuple(window.piece for window in windows), tuple(window.place for window in windows)
    bounded = seen.signs.bounded
    return Finding(state, found.supported, found.contradicted, reason, pieces, places, bounded=bounded)


def _otherwise(claim: str, windows: Sequence[Window]) -> str:
    """Why a sentence of the passages that support a claim contradicts it; "" for none."""
    sentences = (one for window in windows for one in window.sentences if term_share(claim, one) >= SAME_SENTENCE)
    return next(filter(None, (contradiction(claim, one) for one in sentences)), "")


# --- weighing ---------------------------------------------------------------------------------------------------------


@cache
def fitted() -> Mapping[str, Mapping[str, float]]:
    """The weight of each sign for `support` and for `denial`."""
    stored = json.loads((Path(__file__).parent / "weights.json").read_text(encoding="utf-8"))
    return {outcome: stored[outcome] for outcome in OUTCOMES}


def weighed(signs: ClaimSigns) -> SupportReading:
    """Calibrated probabilities that the claim is supported and that it is contradicted, of as many such as others."""
    values = dict(zip(SIGNS, signs.values(), strict=True))
    odds = [exp(sum(weight * values[name] for name, weight in fitted()[outcome].items())) for outcome in OUTCOMES]
    if signs.bounded:
        bounded = min(odds[0], UNSTATED * (odds[1] + 1.0))
        # One sentence says all but that, and another number or value in its place: that denies the claim.
        instead = (signs.cell or (signs.number and signs.misplaced)) and signs.alone >= SAYS_THE_REST
        odds = [bounded, odds[1] + (odds[0] - bounded if instead else 0.0)]
    total = sum(odds) + 1.0
    return SupportReading(odds[0] / total, odds[1] / total)
