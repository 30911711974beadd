"""Rules that compare a claim with sentences of the evidence: numbers, names, words, negations and opposites.

Three bound the trained checker (`thresher.verification.check`): a number that stands nowhere, a number or name that
does not stand in the sentence that says the rest, and a negation or an opposite there. The others give reasons.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from thresher.text.entities import missing_name, names_in, namesake
from thresher.text.injection import is_command
from thresher.text.language import foreign_language, other_language
from thresher.text.numbers import foreign_number, missing_quantity, quantities
from thresher.text.terms import term_set, term_share
from thresher.verification.arithmetic import computed
from thresher.verification.contradiction import contradiction, other_ordinal

SAME_SENTENCE = 0.6
"""Share of a claim's terms from which a sentence of the evidence is taken to be its source: then numbers and names must
stand there, and not merely somewhere in the evidence."""

SAME_MATTER = 0.4
"""Share of a claim's terms from which a negation or an opposite in a sentence is taken to concern the claim."""

DENYING = 2
"""Nearest sentences that deny a claim: on the cases for choosing the second adds more to what is caught than to what
is wrongly accused, a third as much to both."""

FRAGMENT_TERMS = 4
"""An answer of fewer terms (a name, a number with its noun) says nothing by itself: the question is part of it."""

PHRASE_TERMS = 2
"""Words of the evidence itself, so few, name something; a negation beside them denies nothing they say."""

_VERDICT = re.compile(r"\W*(yes|no|true|false|correct|incorrect)(?:\s*[,.:;!–—]\W*|\W*$)", re.IGNORECASE)
"""A verdict ends with a stop: "no effect was found" is none."""

_PRONOUN = re.compile(r"\b(?:he|she|it|they|him|them|his|her|its|their|this|these)\b", re.IGNORECASE)
_DENYING = frozenset(("no", "false", "incorrect"))

NOTHING = "nothing in the evidence speaks of it"
NOT_STATED = "the evidence does not say"
NEITHER = "the evidence neither shows nor denies it"


@dataclass(frozen=True, slots=True)
class Signs:
    """What the rules found of one claim beside some sentences; a reason is "" where the rule has nothing against it."""

    number: str = ""
    """A number that the evidence does not state."""
    name: str = ""
    """A name that the evidence, its documents and the question do not have."""
    denial: str = ""
    """Why a sentence that speaks of the matter says otherwise: a negation, an opposite, another number in its place."""
    namesake: str = ""
    """Somebody else of the same last name of whom the evidence says it."""
    misplaced: str = ""
    """A number or name that the evidence has, but not where it says the rest of the claim."""
    share: float = 0.0
    """Of the claim's terms, those that evidence and titles hold, 0 to 1."""
    turned: bool = False
    """The claim is a bare no to a question: what counts against the question counts for it."""
    language: str = ""
    """The language of the claim where it is another than the evidence's: then only its numbers were checked."""
    computations: tuple[str, ...] = ()
    """How its numbers follow that the evidence does not state."""

    @property
    def silent(self) -> bool:
        """Whether a number stands nowhere and no rule shows what the evidence states instead."""
        return bool(self.number) and not (self.denial or self.namesake or self.misplaced)


def read_by_rules(
    claim: str, sentences: Sequence[str], *, titles: str = "", question: str = "", known: str = ""
) -> Signs:
    """The signs; orders to the reader are ignored, and names may stand in `known`, the whole documents."""
    text = " ".join([titles, *sentences])
    if not sentences or not text.strip():
        return Signs()
    if language := other_language(claim, text, asked=foreign_language(question)):
        return Signs(_not_stated(foreign_number(claim, f"{text} {question}")), share=1.0, language=language)
    follows = computed(claim, text, question)
    case = case_of(follows.claim, sentences, titles, question)
    if not case.claim or not case.sentences:
        return Signs()
    name = missing_name(case.claim, f"{case.evidence} {known} {case.question}")
    missing = missing_quantity(case.claim, case.evidence)
    # if the digits are found, a column or heading may state the unit or scale ("million euros"): only misplaced
    nowhere = missing and (foreign_number(case.claim, case.evidence) or not any(c.isdigit() for c in missing))
    return Signs(
        number=_not_stated(missing) if nowhere else other_ordinal(case.claim, case.sentences),
        name=f"the evidence does not name {name}" if name else "",
        denial=case.denied(),
        namesake=case.namesake(),
        misplaced=case.misplaced() or _not_stated(missing if not nowhere else ""),
        share=term_share(case.claim, case.evidence),
        turned=case.turned,
        computations=follows.computations,
    )


def _not_stated(number: str) -> str:
    return f"{NOT_STATED} {number}" if number else ""


@dataclass(frozen=True, slots=True)
class Case:
    """A claim beside the sentences of some evidence, without orders to the reader."""

    claim: str
    sentences: Sequence[str]
    titles: str
    question: str
    turned: bool = False
    """The claim is what was asked, and it was answered with no."""
    shares: Sequence[float] = ()
    """Share of the claim's terms in each sentence and the titles."""

    @property
    def evidence(self) -> str:
        """Titles and sentences."""
        return " ".join([self.titles, *self.sentences])

    @property
    def _sure(self) -> list[int]:
        """The sentences that state the claim."""
        return [at for at, share in enumerate(self.shares) if share >= SAME_SENTENCE]

    @property
    def _order(self) -> list[int]:
        """The sentences, those that share most terms with the claim first."""
        return sorted(range(len(self.shares)), key=lambda at: (-self.shares[at], at))

    def denied(self) -> str:
        """Why the sentences nearest to the claim say otherwise; "" when they do not."""
        claim, sentences = self.claim, self.sentences
        for at in self._order[:DENYING]:
            a_phrase = len(term_set(claim)) <= PHRASE_TERMS and _bare(claim) in _bare(sentences[at])
            same_matter = self.shares[at] >= SAME_MATTER and not a_phrase
            if same_matter and (denial := contradiction(claim, sentences[at])):
                return denial
            if self.shares[at] >= SAME_SENTENCE and not missing_quantity(claim, sentences[at]):
                return ""  # this one says it, whatever the next one says of something else
        return ""

    def misplaced(self) -> str:
        """Which number or name does not stand where the rest of the claim does; "" when all do."""
        claim, sentences, sources = self.claim, self.sentences, self._sure
        if not sources:
            return ""
        near = " ".join([self.titles, *(sentences[at] for at in self._sources(sources))])
        if (number := missing_quantity(claim, near)) and quantities(sentences[self._order[0]]):
            return f"the sentence that speaks of it does not say {number}"
        meant = " ".join(self.before(at) for at in sources)
        name = missing_name(claim, f"{near} {meant} {self.question}")
        return f"the sentence that speaks of it does not name {name}" if name else ""

    def namesake(self) -> str:
        """Another person of the same last name, whom the sentences that state the claim are about; "" for none."""
        near = " ".join(f"{self.before(at)} {self.sentences[at]}" for at in self._sure)
        other = namesake(self.claim, f"{self.titles} {near}") if self._sure else ""
        return f"the sentence that speaks of it is about {other}" if other else ""

    def _sources(self, sure: Sequence[int]) -> list[int]:
        """The `sure` sentences, and those that add a word to them; a name or number alone is a mixed-up detail."""
        details = {term for name in names_in(self.claim) for term in term_set(name)}
        held = {term for at in sure for term in term_set(self.sentences[at])}
        wanted = {term for term in term_set(self.claim) if not term[0].isdigit()} - details - held
        return [at for at, sentence in enumerate(self.sentences) if at in sure or wanted & term_set(sentence)]

    def before(self, at: int) -> str:
        """The sentence before one that refers back by a pronoun."""
        return self.sentences[at - 1] if at and _PRONOUN.search(self.sentences[at]) else ""


_QUESTION_WORD = re.compile(r"\b(?:who|whom|whose|what|which|when|where|why|how)\b", re.IGNORECASE)


def asks_whether(question: str) -> bool:
    """Whether a question has no question word: it is answered by yes or no."""
    return bool(question) and _QUESTION_WORD.search(question) is None


def is_bare_verdict(claim: str) -> bool:
    """Whether a claim is a yes or no with nothing behind it."""
    verdict = _VERDICT.match(claim)
    return verdict is not None and not term_set(claim[verdict.end() :])


def case_of(claim: str, sentences: Sequence[str], titles: str, question: str) -> Case:
    """The claim without a leading yes or no; a bare one says what the question asks, where it asks for one."""
    stating = [sentence for sentence in sentences if not is_command(sentence)]
    turned = False
    if verdict := _VERDICT.match(claim):
        body = claim[verdict.end() :]
        turned = not term_set(body) and verdict[1].lower() in _DENYING
        asked = question.rstrip(" ?") if asks_whether(question) else ""
        claim = body if term_set(body) else asked
    return Case(claim, stating, titles, question, turned, [term_share(claim, f"{titles} {one}") for one in stating])


def _bare(text: str) -> str:
    return " ".join(text.lower().split()).strip(" .\"'“”‘’")
