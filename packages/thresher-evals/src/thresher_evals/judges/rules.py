"""The judge without a chat model: the rules of `verification.rules` and the bundled encoder.

It is independent of the answering side: it does not use the trained checker, which decides what a recipe shows. Planted
errors that the rules find, alone and with the checker, are in docs/models.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from thresher.protocols import Encoder
from thresher.recipes.components import Components
from thresher.recipes.settings import RagSettings
from thresher.text.terms import FRAGMENT_TERMS, index_terms, term_set, term_share
from thresher.verification.rules import Case as ClaimCase
from thresher.verification.rules import case_of
from thresher_evals.judges.base import (
    FACTS,
    UNSUPPORTED,
    Case,
    Judge,
    Look,
    Outcome,
    sentences,
    share_unsupported,
)
from thresher_evals.judges.factscore import GAMMA, checked_facts

RULES = "2"

MIN_SUPPORT = 0.5
"""Least mean of cosine and shared terms with the nearest sentences. Chosen on SciFact's and Climate-FEVER's cases for
choosing: from here on more true claims go than unstated ones."""

SOURCES = 3
"""Sentences of the evidence that a claim may be put together from."""

ABOUT = 1 / 3
"""Least share of a claim's terms in the evidence."""

ADDED = 1 / 2
"""Least share of the terms that a claim adds to its question which stand in the evidence."""

NOTE = (
    "offline: rules, words and cosines instead of a reader; its factscore takes sentences for facts and is offline, "
    "not comparable with published FActScore"
)


def offline_judge(*, gamma: float = GAMMA, encoder: Encoder | None = None) -> Judge:
    """The offline judge, for `unsupported` and `factscore`."""
    used = encoder or Components.sketch().encoder(RagSettings(), reading=True)

    def similarity(text: str, others: Sequence[str]) -> Sequence[float]:
        return [float(cosine) for cosine in used.encode(others) @ used.encode([text])[0]]

    support = Support(similarity)
    looks: dict[str, Look] = {UNSUPPORTED: support.answer, FACTS: partial(support.facts, gamma=gamma)}
    described = {"kind": "offline", "encoder": used.name, "rules": RULES, "note": NOTE}
    return Judge(f"offline rules, {used.name}", RULES, looks, described, NOTE)


@dataclass(frozen=True, slots=True)
class Support:
    """Whether texts support a sentence."""

    similarity: Callable[[str, Sequence[str]], Sequence[float]]
    """Cosine of a sentence and each of some others."""

    def answer(self, case: Case) -> Outcome:
        """The sentences of an answer against its context; `verbatim` counts those that the context contains."""
        context = case.context or ()
        verbatim = [self.is_verbatim(sentence, context) for sentence in case.sentences]
        supported = [
            copied or self.supports(sentence, context, question=case.row.question.question)
            for sentence, copied in zip(case.sentences, verbatim, strict=True)
        ]
        return share_unsupported(case.sentences, supported, verbatim=sum(verbatim))

    def facts(self, case: Case, *, gamma: float) -> Outcome:
        """FActScore with the sentences as facts."""
        found = checked_facts(case, lambda sentence: [sentence], self.verify, gamma=gamma)
        return Outcome(found.values, {**found.detail, "note": "offline, not comparable with published FActScore"})

    def verify(self, topic: str, fact: str, passages: Sequence[str]) -> bool:
        """Whether the passages support a fact about the topic."""
        return self.is_verbatim(fact, passages) or self.supports(fact, passages, titles=topic)

    def is_verbatim(self, sentence: str, texts: Sequence[str]) -> bool:
        """Whether a text contains the sentence, apart from line breaks; never for a name or number alone."""
        if len(set(index_terms(sentence))) < FRAGMENT_TERMS:
            return False
        wanted = " ".join(sentence.split())
        return any(wanted in " ".join(text.split()) for text in texts)

    def supports(self, claim: str, texts: Sequence[str], *, question: str = "", titles: str = "") -> bool:
        """Whether the texts support the claim, together or one of them alone."""
        each = [sentences(text) for text in texts]
        together = [sentence for text in each for sentence in text]
        tried = [together, *(each if len(each) > 1 else ())]
        return any(self._supports(claim, held, titles, question) for held in tried)

    def _supports(self, claim: str, texts: Sequence[str], titles: str, question: str) -> bool:
        case = case_of(claim, texts, titles=titles, question=question)
        found = case.signs()
        if found.language:
            return not found.number
        if found.turned:
            return bool(found.denial or found.misplaced)
        broken = found.number or found.name or found.namesake or found.share < ABOUT or added(case) < ADDED
        against = broken or found.denial or found.misplaced or is_stray(case)
        return not against and self._score(case) >= MIN_SUPPORT

    def _score(self, case: ClaimCase) -> float:
        """The mean of the highest cosine and of the terms that the nearest sentences share with the claim, 0 to 1."""
        cosines = [max(0.0, float(cosine)) for cosine in self.similarity(case.claim, case.sentences)]
        near = [cosine + share for cosine, share in zip(cosines, case.shares, strict=True)]
        best = sorted(range(len(near)), key=lambda at: (-near[at], at))[:SOURCES]
        together = " ".join(case.sentences[at] for at in best)
        return min(1.0, (max(cosines) + term_share(case.claim, f"{case.titles} {together}")) / 2)


def added(case: ClaimCase) -> float:
    """Of the terms that the claim has and the question has not, those that the evidence holds, 0 to 1."""
    new = term_set(case.claim) - term_set(case.question) if case.question else frozenset()
    return len(new & term_set(case.evidence)) / len(new) if new else 1.0


def is_stray(case: ClaimCase) -> bool:
    """Whether a short answer stands only in sentences without a question term, title and antecedent included."""
    asked = term_set(case.question)
    if not asked or len(term_set(case.claim)) >= FRAGMENT_TERMS:
        return False
    saying = [at for at, share in enumerate(case.shares) if share == max(case.shares)]
    return not any(asked & term_set(f"{case.titles} {case.sentences[at]} {case.before(at)}") for at in saying)
