"""The stored certificate of a recipe in a collection: what it states, of what, and whether it still holds.

It lies beside the calibrations of the collection, with the certainties of the questions asked under it. Neither holds
a word of a question or a document.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from thresher.errors import StoreError
from thresher.judging.calibration import Entries
from thresher.judging.certify import SHIFT_LEVEL, shift
from thresher.protocols import Files
from thresher.types import Certified, Public

Kind = Literal["wrong among answered", "wrong and answered"]
"""P(wrong | answered) with a confidence, or E[wrong and answered]."""

WINDOW = 100
"""Questions that are compared with the labelled ones: the last of those asked under the certificate."""

LEAST_RECENT = 20
"""Of fewer questions a shift is not looked for."""

MOST_KEPT = 500
"""Certainties of labelled questions that are kept."""


@dataclass(frozen=True, slots=True)
class Terms(Public):
    """What a certificate is of; it is void for anything else."""

    documents: str
    """Fingerprint of all documents: their texts, titles, metadata and structure."""
    models: Mapping[str, str]
    """Each model and what else was fitted, with its fingerprint."""
    settings: Mapping[str, Any]
    """Every setting that an answer depends on, by dotted key."""

    def changes(self, now: Terms) -> str:
        """What is another now, in words; empty where nothing is."""
        models = [name for name in {**self.models, **now.models} if self.models.get(name) != now.models.get(name)]
        keys = {**self.settings, **now.settings}
        settings = [key for key in keys if self.settings.get(key) != now.settings.get(key)]
        changed = ["the documents"] if self.documents != now.documents else []
        return f"{', '.join(changed + models + settings)} changed" if changed + models + settings else ""


@dataclass(frozen=True, slots=True)
class Certificate(Public):
    """A statement about the answers of a recipe in a collection, and the labels that it rests on."""

    kind: Kind
    level: float
    confidence: float | None
    """That the statement is true; None for the risk, which holds on average."""
    threshold: float
    """Certainty from which an answer is asserted; below it is in doubt."""
    labels: int
    """Questions labelled by a person, refused ones included."""
    answered: int
    """Of these, answered at or above the threshold."""
    errors: int
    """Of these, wrong."""
    bound: float
    """Upper bound of the share of wrong answers at the confidence; of the risk its estimate."""
    date: str
    collection: str
    recipe: str
    terms: Terms
    certainties: tuple[float, ...]
    """Of the labelled questions, a refusal as 0: what later ones are compared with."""
    outdated: int = 0
    """Questions whose labels did not count, since another answer is given now."""
    attempts: int = 1
    """Of this recipe and these documents that tested something, this one included."""

    @property
    def statement(self) -> str:
        """What is promised, in one line."""
        return _statement(self.kind, self.level, self.confidence)

    @property
    def evidence(self) -> str:
        """What the statement rests on, in brackets."""
        if self.kind == "wrong and answered":
            return f"({self.labels} labelled questions, {self.errors} answered wrongly, {self.date})"
        return f"({self.answered} labelled answers, {self.errors} wrong, {self.date})"

    def standing(self, void: str, recent: Sequence[float]) -> tuple[Literal["holds", "doubtful", "void"], str]:
        """Whether it holds, and why not; `void` is what it does not cover, `recent` the questions asked under it."""
        if void:
            return "void", void
        latest = list(recent[-WINDOW:])
        if len(latest) < LEAST_RECENT:
            return "holds", ""
        chance = shift(self.certainties, latest)
        if chance > SHIFT_LEVEL:
            return "holds", ""
        unlike = f"the last {len(latest)} questions are unlike the labelled ones"
        return "doubtful", f"{unlike} (p = {chance:.3f} by their certainties); label some of them, and certify again"

    def reached(self, certainty: float | None) -> bool:
        """Whether an answer of that certainty is asserted under it."""
        return certainty is not None and certainty >= self.threshold

    def stated(self, void: str, recent: Sequence[float], *, covers: bool) -> Certified:
        """What an answer says of it; `covers` is whether the statement is about that answer."""
        state, why = self.standing(void, recent)
        return Certified(state, covers and not void, self.statement, self.threshold, self.evidence, why)

    @classmethod
    def from_dict(cls, stored: Any) -> Certificate:
        """What `to_dict` gave, also after a trip through JSON. Raises ValidationError for anything else."""
        return _form().validate_python(stored)


@dataclass(frozen=True, slots=True)
class NotCertified(Public):
    """No threshold passes, and what it would take."""

    kind: Kind
    level: float
    confidence: float | None
    answered: int
    """Answered labels that spoke against it; for the risk all labels."""
    errors: int
    needed: int
    """So many without another error pass."""
    tested: bool
    """Whether there were labels enough to test a threshold."""
    outdated: int = 0
    """Questions whose labels did not count, since another answer is given now."""
    withdrawn: bool = False
    """Whether an earlier certificate was withdrawn, since these labels speak against it."""
    attempts: int = 1
    """As of `Certificate`."""

    def __str__(self) -> str:
        of = "answered label" if self.kind == "wrong among answered" else "label"
        number = f"{self.answered} {of}{'' if self.answered == 1 else 's'} with {_errors(self.errors)}"
        what = (
            f"no threshold can be certified at {percent(self.level)} with {percent(self.confidence)} confidence"
            if self.confidence is not None
            else f"no threshold keeps the risk at {percent(self.level)}"
        )
        return f"{number}: {what}; {self.needed} without {'another' if self.errors else 'an'} error are needed"


def several(made: Certificate | NotCertified) -> str:
    """What several attempts do to the promise, in one line; empty for one."""
    if made.attempts < 2:
        return ""
    each = 1 - (made.confidence or 0)
    chance = (
        f"each certifies something false with a probability of {percent(each)}, together up to "
        f"{percent(min(1.0, made.attempts * each))}"
        if made.confidence is not None
        else "the risk is promised for one level that was chosen before"
    )
    return f"this is attempt {made.attempts} on these documents: {chance}; choose one level before you label"


def percent(share: float) -> str:
    """`10 %`, `2.5 %`."""
    return f"{100 * share:.4g} %"


def _errors(number: int) -> str:
    return f"{number} error{'' if number == 1 else 's'}"


def _statement(kind: Kind, level: float, confidence: float | None) -> str:
    if kind == "wrong and answered" or confidence is None:
        return f"on average at most {percent(level)} of all questions are answered wrongly (the risk)"
    return f"at most {percent(level)} of all answers are wrong, with {percent(confidence)} confidence"


# --- on disk ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Certificates:
    """The certificates of a collection, one a recipe, and the certainties of the questions asked under each."""

    files: Files
    name: str
    asked: str = "asked_under_certificates.json"
    attempts: str = "certificate_attempts.json"

    def get(self, recipe: str) -> Certificate | None:
        """That of a recipe. Raises StoreError for a damaged file."""
        stored = self._entries(self.name).read().get(recipe)
        try:
            return None if stored is None else Certificate.from_dict(stored)
        except ValidationError as error:
            raise self._entries(self.name).damaged() from error

    def put(self, certificate: Certificate) -> None:
        """Keep one in place of an earlier one; nothing was asked under it yet."""
        self._entries(self.asked).put(certificate.recipe, {})
        self._entries(self.name).put(certificate.recipe, asdict(certificate))

    def withdraw(self, recipe: str, failed: NotCertified) -> bool:
        """Remove that of a recipe if labels that fail speak against it: it states the same, at this level or a lower.

        Returns whether one went.
        """
        try:
            known = self.get(recipe)
        except StoreError:
            return False
        if known is None or not failed.tested or known.kind != failed.kind or known.level > failed.level:
            return False
        self._entries(self.name).put(recipe, None)
        self._entries(self.asked).put(recipe, None)
        return True

    def attempted(self, made: Certificate | NotCertified, recipe: str, of: Terms, labels: int) -> int:
        """Note an attempt, and count the different ones on these documents; one that tested nothing is not noted."""
        on = hashlib.sha256(of.documents.encode()).hexdigest()[:16]
        stored = self._entries(self.attempts).read().get(recipe, {})
        tried = list(stored.get("tried", ())) if stored.get("on") == on else []
        one = [made.kind, made.level, made.confidence, labels]
        if one not in tried and (isinstance(made, Certificate) or made.tested):
            tried.append(one)
            self._entries(self.attempts).put(recipe, {"on": on, "tried": tried})
        return len(tried)

    def recent(self, recipe: str) -> dict[str, float]:
        """The certainties of the questions asked under it, the oldest first, by a hash of each."""
        read = self._entries(self.asked).read().get(recipe, {})
        return {str(asked): float(certainty) for asked, certainty in read.items()}

    def note(self, recipe: str, question: str, certainty: float | None) -> None:
        """Add a question, a refusal as 0; one that was asked before counts once."""
        asked = hashlib.sha256(question.encode("utf-8", "replace")).hexdigest()[:12]
        entries = self._entries(self.asked)
        stored = entries.read()
        known = {**stored.get(recipe, {}), asked: certainty or 0.0}
        entries.write({**stored, recipe: dict(list(known.items())[-WINDOW:])})

    def _entries(self, name: str) -> Entries:
        return Entries(self.files, name, "is damaged", "remove it, and certify again")


@cache
def _form() -> TypeAdapter[Certificate]:
    return TypeAdapter(Certificate)
