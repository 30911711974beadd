"""The judge without a chat model: the rules of `verification.rules` and the bundled encoder.

It is independent of the answering side: it does not use the trained checker, which decides what a recipe shows. Planted
errors that the rules find, alone and with the checker, are in docs/models.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from thresher.errors import UsageError
from thresher.models.encoders import BundledEncoder, RememberingEncoder
from thresher.protocols import Encoder
from thresher.text.terms import index_terms
from thresher.verification.rules import FRAGMENT_TERMS, RuleCheck
from thresher_evals.judges.base import (
    FACTS,
    UNSUPPORTED,
    Bench,
    Case,
    Judge,
    Look,
    Outcome,
    sentences,
    share_unsupported,
)
from thresher_evals.judges.factscore import GAMMA, checked_facts

RULES = "1"

NOTE = (
    "offline: rules, words and cosines instead of a reader; its factscore takes sentences for facts and is offline, "
    "not comparable with published FActScore"
)


def make(bench: Bench) -> Judge:
    """The offline judge. Raises UsageError for settings: it has none."""
    if bench.given:
        raise UsageError(
            "the offline judge has no settings", subject=next(iter(bench.given)), next_step="the judge llm has"
        )
    return offline_judge(gamma=bench.gamma)


def offline_judge(*, gamma: float = GAMMA, encoder: Encoder | None = None) -> Judge:
    """The offline judge, for `unsupported` and `factscore`."""
    used = encoder or RememberingEncoder(BundledEncoder())

    def similarity(text: str, others: Sequence[str]) -> Sequence[float]:
        return [float(cosine) for cosine in used.encode(others) @ used.encode([text])[0]]

    support = Support(RuleCheck(similarity))
    looks: dict[str, Look] = {UNSUPPORTED: support.answer, FACTS: partial(support.facts, gamma=gamma)}
    described = {"kind": "offline", "encoder": used.name, "rules": RULES, "note": NOTE}
    return Judge(f"offline rules, {used.name}", RULES, looks, described, NOTE)


@dataclass(frozen=True, slots=True)
class Support:
    """Whether texts support a sentence."""

    check: RuleCheck

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
        return any(self.check(claim, held, titles=titles, question=question).supported for held in tried)
