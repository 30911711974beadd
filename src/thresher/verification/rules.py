"""Rules that compare a claim with sentences of the evidence: numbers, names, words, negations and opposites.

Three bound the trained checker (`thresher.verification.check`): a number that stands nowhere, a number or name that
does not stand in the sentence that says the rest, and a negation or an opposite there. The others give reasons.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from thresher.text.entities import missing_name, names_in, namesake
from thresher.text.injection import is_command
from thresher.text.language import foreign_language, other_language
from thresher.text.numbers import foreign_number, missing_quantity, quantities
from thresher.text.sentences import sentence_spans
from thresher.text.terms import term_set, term_share
from thresher.types import Evidence
from thresher.verification.arithmetic import computed
from thresher.verification.contradiction import contradiction, other_ordinal

Similarity = Callable[[str, Sequence[str]], Sequence[float]]
"""Cosine of a sentence and each of some others."""

MIN_SUPPORT = 0.5
"""Chosen on SciFact's and Climate-FEVER's cases for choosing: from here on more true claims go than unstated ones."""

COSINE_WEIGHT = 0.5
"""No worse than 0.3 or 0.7 on the same cases; neither part is trusted alone."""

SAME_SENTENCE = 0.6
"""Share of a claim's terms from which a sentence of the evidence is taken to be its source: then numbers and names must
stand there, and not merely somewhere in the evidence."""

SAME_MATTER = 0.4
"""Share of a claim's terms from which a negation or an opposite in a sentence is taken to concern the claim."""

DENYING = 2
"""Nearest sentences that deny a claim: on the cases for choosing the second adds more to what is caught than to what
is wrongly accused, a third as much to both."""

SOURCES = 3
"""Sentences of the evidence that a claim may be put together from."""

ABOUT = 1 / 3
"""Least share of a claim's terms in the evidence whatever a chat model says; as for the markers in `grounded`."""

ADDED = 1 / 2
"""Least share of the terms that a claim adds to its question which stand in the evidence: the question's own words
stand there in any case."""

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
    stray: str = ""
    """Why what says it has nothing to do with the question."""
    share: float = 0.0
    """Of the claim's terms, those that evidence and titles hold, 0 to 1."""
    added: float = 1.0
    """Of the terms that it has and the question has not, those that the evidence holds, 0 to 1."""
    score: float = 0.0
    """Cosine and shared terms with the sentences nearest to it, half each, 0 to 1."""
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

    @property
    def broken(self) -> str:
        """Why it cannot rest on this evidence: numbers and names stand there, and a third of the words."""
        little = NOTHING if self.share < ABOUT else ""
        if not little and self.added < ADDED:
            little = f"{NOT_STATED} what it adds to the question"
        return self.number or self.name or self.namesake or ("" if self.language else little)

    @property
    def reason(self) -> str:
        """Why the rules alone do not take it to be supported; "" where they do."""
        against = self.broken or self.denial or self.misplaced or self.stray
        if self.turned:
            return "" if self.denial or self.misplaced else self.broken or "the evidence says yes"
        weak = not self.language and self.score < MIN_SUPPORT
        return against or (f"support {self.score:.2f} of 1, {MIN_SUPPORT:.2f} is asked for" if weak else "")

    @property
    def supported(self) -> bool:
        """Whether the rules alone take it to be supported."""
        return not self.reason

    @property
    def contradicted(self) -> bool:
        """Whether the rules alone take it to be contradicted."""
        return not self.broken and (bool(self.reason) if self.turned else bool(self.denial or self.misplaced))


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """Compares a claim with sentences by rules; orders to the reader are ignored."""

    similarity: Similarity

    def __call__(
        self, claim: str, sentences: Sequence[str], *, titles: str = "", question: str = "", known: str = ""
    ) -> Signs:
        """The signs; names may stand in `known`, the whole documents. In another language only numbers are checked."""
        text = " ".join([titles, *sentences])
        if not sentences or not text.strip():
            return Signs(share=0.0)
        if language := other_language(claim, text, asked=foreign_language(question)):
            number = foreign_number(claim, f"{text} {question}")
            return Signs(_not_stated(number), share=1.0, score=1.0, language=language)
        follows = computed(claim, text, question)
        case = _case(follows.claim, sentences, titles, question)
        if not case.claim or not case.sentences:
            return Signs(share=0.0)
        return replace(self._read(case, known), computations=follows.computations)

    def _read(self, case: _Case, known: str) -> Signs:
        cosines = [max(0.0, float(cosine)) for cosine in self.similarity(case.claim, case.sentences)]
        each = [_half(cosine, share) for cosine, share in zip(cosines, case.shares, strict=True)]
        order = sorted(range(len(each)), key=lambda at: (-each[at], at))
        together = " ".join(case.sentences[at] for at in order[:SOURCES])
        name = missing_name(case.claim, f"{case.evidence} {known} {case.question}")
        missing = missing_quantity(case.claim, case.evidence)
        # if the digits are found, a column or heading may state the unit or scale ("million euros"): only misplaced
        nowhere = missing and (foreign_number(case.claim, case.evidence) or not any(c.isdigit() for c in missing))
        return Signs(
            number=_not_stated(missing) if nowhere else other_ordinal(case.claim, case.sentences),
            name=f"the evidence does not name {name}" if name else "",
            denial=case.denied(order),
            namesake=case.namesake(),
            misplaced=case.misplaced(order) or _not_stated(missing if not nowhere else ""),
            stray="the sentence that says it has nothing to do with the question" if case.is_stray() else "",
            share=term_share(case.claim, case.evidence),
            added=case.added,
            score=_half(max(cosines), term_share(case.claim, f"{case.titles} {together}")),
            turned=case.turned,
        )

    def nearest(self, claim: str, piece: Evidence) -> tuple[int, int, float]:
        """Begin and end in the piece of its sentence that is nearest to a claim, and how near it is, 0 to 1."""
        spans = [(start, end) for start, end in sentence_spans(piece.text) if not is_command(piece.text[start:end])]
        if not spans:
            return 0, len(piece.text), 0.0
        texts = [piece.text[start:end] for start, end in spans]
        near = [
            _half(max(0.0, float(cosine)), term_share(claim, f"{piece.hit.chunk.title} {text}"))
            for cosine, text in zip(self.similarity(claim, texts), texts, strict=True)
        ]
        best = max(range(len(spans)), key=lambda at: (near[at], -at))
        return *spans[best], near[best]


def _half(cosine: float, share: float) -> float:
    return min(1.0, COSINE_WEIGHT * cosine + (1 - COSINE_WEIGHT) * share)


def _not_stated(number: str) -> str:
    return f"{NOT_STATED} {number}" if number else ""


@dataclass(frozen=True, slots=True)
class _Case:
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
    def added(self) -> float:
        """Of the terms that the claim has and the question has not, those that the evidence holds."""
        added = term_set(self.claim) - term_set(self.question) if self.question else frozenset()
        return len(added & term_set(self.evidence)) / len(added) if added else 1.0

    @property
    def _sure(self) -> list[int]:
        """The sentences that state the claim."""
        return [at for at, share in enumerate(self.shares) if share >= SAME_SENTENCE]

    def denied(self, order: Sequence[int]) -> str:
        """Why the sentences nearest to the claim, in that order, say otherwise; "" when they do not."""
        claim, sentences = self.claim, self.sentences
        for at in order[:DENYING]:
            a_phrase = len(term_set(claim)) <= PHRASE_TERMS and _bare(claim) in _bare(sentences[at])
            same_matter = self.shares[at] >= SAME_MATTER and not a_phrase
            if same_matter and (denial := contradiction(claim, sentences[at])):
                return denial
            if self.shares[at] >= SAME_SENTENCE and not missing_quantity(claim, sentences[at]):
                return ""  # this one says it, whatever the next one says of something else
        return ""

    def misplaced(self, order: Sequence[int]) -> str:
        """Which number or name does not stand where the rest of the claim does; "" when all do."""
        claim, sentences, sources = self.claim, self.sentences, self._sure
        if not sources:
            return ""
        near = " ".join([self.titles, *(sentences[at] for at in self._sources(sources))])
        if (number := missing_quantity(claim, near)) and quantities(sentences[order[0]]):
            return f"the sentence that speaks of it does not say {number}"
        meant = " ".join(self._before(at) for at in sources)
        name = missing_name(claim, f"{near} {meant} {self.question}")
        return f"the sentence that speaks of it does not name {name}" if name else ""

    def namesake(self) -> str:
        """Another person of the same last name, whom the sentences that state the claim are about; "" for none."""
        near = " ".join(f"{self._before(at)} {self.sentences[at]}" for at in self._sure)
        other = namesake(self.claim, f"{self.titles} {near}") if self._sure else ""
        return f"the sentence that speaks of it is about {other}" if other else ""

    def is_stray(self) -> bool:
        """Whether a short answer stands only in sentences without a question term, title and antecedent included."""
        asked = term_set(self.question)
        if not asked or len(term_set(self.claim)) >= FRAGMENT_TERMS:
            return False
        saying = [at for at, share in enumerate(self.shares) if share == max(self.shares)]
        return not any(asked & term_set(f"{self.titles} {self.sentences[at]} {self._before(at)}") for at in saying)

    def _sources(self, sure: Sequence[int]) -> list[int]:
        """The `sure` sentences, and those that add a word to them; a name or number alone is a mixed-up detail."""
        details = {term for name in names_in(self.claim) for term in term_set(name)}
        held = {term for at in sure for term in term_set(self.sentences[at])}
        wanted = {term for term in term_set(self.claim) if not term[0].isdigit()} - details - held
        return [at for at, sentence in enumerate(self.sentences) if at in sure or wanted & term_set(sentence)]

    def _before(self, at: int) -> str:
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


def _case(claim: str, sentences: Sequence[str], titles: str, question: str) -> _Case:
    """The claim without a leading yes or no; a bare one says what the question asks, where it asks for one."""
    stating = [sentence for sentence in sentences if not is_command(sentence)]
    turned = False
    if verdict := _VERDICT.match(claim):
        body = claim[verdict.end() :]
        turned = not term_set(body) and verdict[1].lower() in _DENYING
        asked = question.rstrip(" ?") if asks_whether(question) else ""
        claim = body if term_set(body) else asked
    return _Case(claim, stating, titles, question, turned, [term_share(claim, f"{titles} {one}") for one in stating])


def _bare(text: str) -> str:
    return " ".join(text.lower().split()).strip(" .\"'“”‘’")
