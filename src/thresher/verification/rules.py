"""Rules that compare a claim with sentences of the evidence: numbers, names, words, negations and opposites.

Two bound the trained checker (`thresher.verification.check`): a number that stands nowhere, and a number or name that
does not stand in the sentence that says the rest. The others give reasons.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from thresher.text.entities import missing_name, names_in, namesake
from thresher.text.injection import is_command
from thresher.text.language import foreign_language, other_language
from thresher.text.numbers import foreign_number, missing_quantity, quantities
from thresher.text.terms import term_set, term_share
from thresher.verification.contradiction import PRONOUNS, contradiction

SAME_SENTENCE = 0.6
"""Share of a claim's terms from which a sentence of the evidence is taken to be its source: then numbers and names must
stand there, and not merely somewhere in the evidence."""

SAME_MATTER = 0.4
"""Share of a claim's terms from which a negation or an opposite in a sentence is taken to concern the claim."""

DENYING = 2
"""Nearest sentences that deny a claim: on the cases for choosing the second adds more to what is caught than to what
is wrongly accused, a third as much to both."""

PHRASE_TERMS = 2
"""Words of the evidence itself, so few, name something; a negation beside them denies nothing they say."""

_VERDICT = re.compile(r"\W*(yes|no|true|false|correct|incorrect)(?:\s*[,.:;!–—]\W*|\W*$)", re.IGNORECASE)
"""A verdict ends with a stop: "no effect was found" is none."""

_PRONOUN = re.compile(rf"\b(?:him|them|{'|'.join(sorted(PRONOUNS - {'that', 'those'}))})\b", re.IGNORECASE)
_DENYING = frozenset(("no", "false", "incorrect"))
_QUESTION_WORD = re.compile(r"\b(?:who|whom|whose|what|which|when|where|why|how)\b", re.IGNORECASE)

NOTHING = "nothing in the evidence speaks of it"
NOT_STATED = "the evidence does not say"
NEITHER = "the evidence neither shows nor denies it"


@dataclass(frozen=True, slots=True)
class RuleSigns:
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

    @property
    def denies(self) -> bool:
        """Whether a rule names what stands instead: another number, another one of the name, the opposite."""
        return bool(self.denial or self.namesake or (self.number and self.misplaced))


@dataclass(frozen=True)
class Case:
    """A claim beside the sentences of some evidence, without orders to the reader."""

    claim: str
    """Without a leading yes or no; "" for one that says nothing."""
    sentences: Sequence[str]
    titles: str = ""
    question: str = ""
    turned: bool = False
    """The claim is what was asked, and it was answered with no."""
    language: str = ""
    """The language of the claim where it is another than the evidence's."""

    def signs(self, known: str = "") -> RuleSigns:
        """What the rules find; names may stand in `known` too, the whole documents."""
        claim, evidence = self.claim, self.evidence
        if not claim or not self.sentences:
            return RuleSigns()
        if self.language:
            foreign = _not_stated(foreign_number(claim, f"{evidence} {self.question}"))
            return RuleSigns(foreign, share=1.0, language=self.language)
        name = missing_name(claim, f"{evidence} {known} {self.question}")
        missing = missing_quantity(claim, evidence)
        # if the digits are found, a column or heading may state the unit or scale ("million euros"): only misplaced
        nowhere = missing and (foreign_number(claim, evidence) or not any(c.isdigit() for c in missing))
        return RuleSigns(
            number=_not_stated(missing if nowhere else ""),
            name=f"the evidence does not name {name}" if name else "",
            denial=self._denied(),
            namesake=self._namesake(),
            misplaced=self._misplaced() or _not_stated(missing if not nowhere else ""),
            share=term_share(claim, evidence),
            turned=self.turned,
        )

    @cached_property
    def shares(self) -> list[float]:
        """Share of the claim's terms in each sentence and the titles."""
        return [term_share(self.claim, f"{self.titles} {one}") for one in self.sentences]

    @cached_property
    def evidence(self) -> str:
        """Titles and sentences."""
        return " ".join([self.titles, *self.sentences])

    @cached_property
    def _sure(self) -> list[int]:
        """The sentences that state the claim."""
        return [at for at, share in enumerate(self.shares) if share >= SAME_SENTENCE]

    @cached_property
    def _order(self) -> list[int]:
        """The sentences, those that share most terms with the claim first."""
        return sorted(range(len(self.shares)), key=lambda at: (-self.shares[at], at))

    def _denied(self) -> str:
        """Why the sentences nearest to the claim say otherwise; "" when they do not."""
        claim, sentences = self.claim, self.sentences
        for at in self._order[:DENYING]:
            a_phrase = len(term_set(claim)) <= PHRASE_TERMS and _bare(claim) in _bare(sentences[at])
            concerned = self.shares[at] >= SAME_MATTER and not a_phrase
            if concerned and (denial := contradiction(claim, sentences[at])):
                return denial
            if self.shares[at] >= SAME_SENTENCE and not missing_quantity(claim, sentences[at]):
                return ""  # this one says it, whatever the next one says of something else
        return ""

    def _misplaced(self) -> str:
        """Which number or name does not stand where the rest of the claim does; "" when all do."""
        if not self._sure:
            return ""
        near = " ".join([self.titles, *(self.sentences[at] for at in self._sources())])
        if (number := missing_quantity(self.claim, near)) and quantities(self.sentences[self._order[0]]):
            return f"the sentence that speaks of it does not say {number}"
        meant = " ".join(map(self.before, self._sure))
        name = missing_name(self.claim, f"{near} {meant} {self.question}")
        return f"the sentence that speaks of it does not name {name}" if name else ""

    def _namesake(self) -> str:
        """Another person of the same last name, whom the sentences that state the claim are about; "" for none."""
        near = " ".join(f"{self.before(at)} {self.sentences[at]}" for at in self._sure)
        other = namesake(self.claim, f"{self.titles} {near}") if self._sure else ""
        return f"the sentence that speaks of it is about {other}" if other else ""

    def _sources(self) -> list[int]:
        """The sentences that state the claim, and those that add a word that is no name or number."""
        details = {term for name in names_in(self.claim) for term in term_set(name)}
        held = {term for at in self._sure for term in term_set(self.sentences[at])}
        wanted = {term for term in term_set(self.claim) if not term[0].isdigit()} - details - held
        return [at for at, sentence in enumerate(self.sentences) if at in self._sure or wanted & term_set(sentence)]

    def before(self, at: int) -> str:
        """The sentence before one that refers back by a pronoun."""
        return self.sentences[at - 1] if at and _PRONOUN.search(self.sentences[at]) else ""


def case_of(claim: str, sentences: Sequence[str], *, titles: str = "", question: str = "") -> Case:
    """A claim beside its evidence; a bare yes or no says what the question asks, where it asks for one."""
    stating = [sentence for sentence in sentences if not is_command(sentence)]
    text = " ".join([titles, *stating])
    if language := other_language(claim, text, asked=foreign_language(question)):
        return Case(claim, stating, titles, question, language=language)
    turned = False
    if verdict := _VERDICT.match(claim):
        body = claim[verdict.end() :]
        turned = not term_set(body) and verdict[1].lower() in _DENYING
        asked = question.rstrip(" ?") if asks_whether(question) else ""
        claim = body if term_set(body) else asked
    return Case(claim, stating, titles, question, turned)


def asks_whether(question: str) -> bool:
    """Whether a question has no question word: it is answered by yes or no."""
    return bool(question) and _QUESTION_WORD.search(question) is None


def is_bare_verdict(claim: str) -> bool:
    """Whether a claim is a yes or no with nothing behind it."""
    verdict = _VERDICT.match(claim)
    return verdict is not None and not term_set(claim[verdict.end() :])


def _not_stated(number: str) -> str:
    return f"{NOT_STATED} {number}" if number else ""


def _bare(text: str) -> str:
    return " ".join(text.lower().split()).strip(" .\"'“”‘’")
