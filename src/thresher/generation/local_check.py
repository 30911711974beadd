"""The check that needs no chat model: numbers, names, negations and opposites, shared words and vectors.

It is strong on answers that stay near the words of their evidence, and weak where an answer draws a conclusion; how
weak is measured in benchmarks/planted_errors.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from thresher.generation.commands import is_command
from thresher.generation.contradiction import contradiction
from thresher.generation.names import missing_name, names_in
from thresher.generation.quantities import missing_quantity, quantities
from thresher.generation.support import SUPPORT, Sentence, Spans, Terms
from thresher.generation.verification import Cited, Finding, Findings
from thresher.types import Evidence, Query, Score

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
"""Sentences nearest to a claim that can deny it: on the cases for choosing the second adds more to what is caught than
to what is wrongly accused, a third as much to both."""

SOURCES = 3
"""Sentences of the evidence that a claim may be put together from."""

ABOUT = 1 / 3
"""Least share of a claim's terms in the evidence whatever a chat model says; as for the markers in `grounded`."""

FRAGMENT_TERMS = 4
"""An answer of fewer terms (a name, a number with its noun) says nothing by itself: the question is part of it."""

PHRASE_TERMS = 2
"""Words of the evidence itself, so few, name something; a negation beside them denies nothing they say."""

_VERDICT = re.compile(r"\W*(yes|no|true|false|correct|incorrect)(?:\s*[,.:;!–—]\W*|\W*$)", re.IGNORECASE)
"""A verdict ends with a stop: "no effect was found" is none."""

_PRONOUN = re.compile(r"\b(?:he|she|it|they|him|them|his|her|its|their|this|these)\b", re.IGNORECASE)
_DENYING = frozenset(("no", "false", "incorrect"))


@dataclass(frozen=True, slots=True)
class LocalCheck:
    """A sentence is supported when the evidence lacks none of its numbers and names, does not deny it, and says enough.

    Enough is `min_support` of: cosine_weight * the best cosine of a sentence of the evidence + (1 - cosine_weight) *
    the share of the claim's terms that its best sentences and the titles hold. Sentences of the evidence that tell the
    reader what to answer count for nothing.
    """

    similarity: Similarity
    terms: Terms
    spans: Spans
    min_support: float = MIN_SUPPORT
    cosine_weight: float = COSINE_WEIGHT

    def __call__(self, query: Query, claims: Sequence[Cited], evidence: Sequence[Evidence]) -> Findings:
        """Each sentence against what it cites, and against every other piece alone where that does not support it."""
        return Findings(tuple(self._find(query.question, claim, evidence) for claim in claims), {"check": "local"})

    def against(self, claim: str, pieces: Sequence[Evidence], *, question: str = "") -> Finding:
        """Whether the pieces together support the claim."""
        sentences = [sentence.text for piece in pieces for sentence in self._sentences(piece)]
        return self.compare(claim, sentences, titles=_titles(pieces), question=question)

    def compare(self, claim: str, sentences: Sequence[str], *, titles: str = "", question: str = "") -> Finding:
        """Whether the sentences of some evidence support the claim."""
        claim, sentences, denied = self._resolved(claim, sentences, question)
        if not claim or not sentences:
            return _missing("nothing in the evidence speaks of it")
        shares = [self._share(claim, f"{titles} {sentence}") for sentence in sentences]
        cosines = [max(0.0, float(cosine)) for cosine in self.similarity(claim, sentences)]
        each = [self._support(cosine, share) for cosine, share in zip(cosines, shares, strict=True)]
        order = sorted(range(len(each)), key=lambda at: (-each[at], at))
        together = " ".join(sentences[at] for at in order[:SOURCES])
        score = self._support(max(cosines), self._share(claim, f"{titles} {together}"))
        broken = self._broken(claim, sentences, titles=titles, question=question)
        if broken:
            found = Finding(False, False, score, broken)
        elif denial := self._denied(claim, sentences, shares, order, titles=titles, question=question):
            found = Finding(False, True, score, denial)
        elif self._is_stray(claim, sentences, shares, titles=titles, question=question):
            found = Finding(False, False, score, "the sentence that says it has nothing to do with the question")
        elif score < self.min_support:
            found = Finding(False, False, score, f"support {score:.2f} of 1, {self.min_support:.2f} is asked for")
        else:
            found = Finding(True, False, score)
        return found if not denied else _turned(found)

    def broken_rule(self, claim: str, pieces: Sequence[Evidence], *, question: str) -> str:
        """Why the claim cannot rest on the pieces whatever a chat model says; "" when it can."""
        sentences = [sentence.text for piece in pieces for sentence in self._sentences(piece)]
        claim, sentences, _ = self._resolved(claim, sentences, question)
        if not claim or not sentences:
            return "nothing in the evidence speaks of it"
        return self._broken(claim, sentences, titles=_titles(pieces), question=question)

    def nearest(self, claim: str, piece: Evidence) -> Sentence:
        """The sentence of a piece that is nearest to a claim, scored by their support."""
        sentences = [each for each in self._sentences(piece) if not is_command(each.text)]
        if not sentences:
            return Sentence(piece, piece.start, piece.end, piece.text, Score(0.0, SUPPORT))
        cosines = self.similarity(claim, [sentence.text for sentence in sentences])
        supports = [
            self._support(max(0.0, float(cosine)), self._share(claim, f"{piece.hit.chunk.title} {sentence.text}"))
            for cosine, sentence in zip(cosines, sentences, strict=True)
        ]
        best = max(range(len(sentences)), key=lambda at: (supports[at], -at))
        found = sentences[best]
        return Sentence(piece, found.start, found.end, found.text, Score(supports[best], SUPPORT))

    # --- one claim ----------------------------------------------------------------------------------------------------

    def _find(self, question: str, claim: Cited, evidence: Sequence[Evidence]) -> Finding:
        own = self.against(claim.text, [evidence[at] for at in claim.pieces], question=question)
        if own.supported:
            return Finding(True, False, own.score, pieces=claim.pieces)
        others = [at for at in range(len(evidence)) if (at,) != claim.pieces]
        found = [(at, self.against(claim.text, [evidence[at]], question=question)) for at in others]
        supporting = [(at, finding) for at, finding in found if finding.supported]
        if supporting:
            at, best = max(supporting, key=lambda pair: (pair[1].score, -pair[0]))
            return Finding(True, False, best.score, pieces=(at,))
        return own if claim.pieces or not found else max((each for _, each in found), key=lambda each: each.score)

    def _resolved(self, claim: str, sentences: Sequence[str], question: str) -> tuple[str, list[str], bool]:
        """The claim without a leading yes or no, the sentences that state something, and whether the claim denies.

        A bare yes or no says what the question asks: that is checked in its place, and turned round for a no.
        """
        stating = [sentence for sentence in sentences if not is_command(sentence)]
        verdict = _VERDICT.match(claim)
        if verdict is None:
            return claim, stating, False
        body = claim[verdict.end() :]
        if self.terms(body):
            return body, stating, False
        return question.rstrip(" ?"), stating, verdict[1].lower() in _DENYING

    def _broken(self, claim: str, sentences: Sequence[str], *, titles: str, question: str) -> str:
        """The rules that hold for every check: numbers and names stand in the evidence, and a third of the words."""
        evidence = " ".join([titles, *sentences])
        if number := missing_quantity(claim, evidence):
            return f"the evidence does not say {number}"
        if name := missing_name(claim, f"{evidence} {question}", terms=self.terms):
            return f"the evidence does not name {name}"
        if self._share(claim, evidence) < ABOUT:
            return "the evidence is about something else"
        return ""

    def _denied(
        self,
        claim: str,
        sentences: Sequence[str],
        shares: Sequence[float],
        order: Sequence[int],
        *,
        titles: str,
        question: str,
    ) -> str:
        """Why the sentences nearest to the claim say otherwise; "" when they do not."""
        for at in order[:DENYING]:
            a_phrase = len(set(self.terms(claim))) <= PHRASE_TERMS and _bare(claim) in _bare(sentences[at])
            if shares[at] < SAME_MATTER or a_phrase:
                continue
            if denial := contradiction(claim, sentences[at], terms=self.terms):
                return denial
        sources = [at for at, share in enumerate(shares) if share >= SAME_SENTENCE]
        if not sources:
            return ""
        near = " ".join([titles, *(sentences[at] for at in self._sources(claim, sentences, sources))])
        number = missing_quantity(claim, near)
        if number and quantities(sentences[order[0]]):
            return f"the sentence that speaks of it does not say {number}"
        meant = " ".join(_before(sentences, at) for at in sources)
        name = missing_name(claim, f"{near} {meant} {question}", terms=self.terms)
        return f"the sentence that speaks of it does not name {name}" if name else ""

    def _sources(self, claim: str, sentences: Sequence[str], sure: Sequence[int]) -> list[int]:
        """The sentences a claim is put together from: those that are `sure`, and those that add a plain word to them.

        A sentence that adds a name or a number alone is no source: that is how a mixed-up detail looks.
        """
        details = {term for name in names_in(claim, terms=self.terms) for term in self.terms(name)}
        held = {term for at in sure for term in self.terms(sentences[at])}
        wanted = {term for term in self.terms(claim) if not term[0].isdigit()} - details - held
        return [at for at, sentence in enumerate(sentences) if at in sure or wanted & set(self.terms(sentence))]

    def _is_stray(
        self, claim: str, sentences: Sequence[str], shares: Sequence[float], *, titles: str, question: str
    ) -> bool:
        """Whether a short answer stands only in sentences that share no term with the question.

        The title and what a sentence refers back to count as parts of it.
        """
        asked = set(self.terms(question))
        if not asked or len(set(self.terms(claim))) >= FRAGMENT_TERMS:
            return False
        saying = [at for at, share in enumerate(shares) if share == max(shares)]
        return not any(asked & set(self.terms(f"{titles} {sentences[at]} {_before(sentences, at)}")) for at in saying)

    def _share(self, claim: str, text: str) -> float:
        """Share of the claim's distinct terms that a text holds; 1 for a claim without any."""
        wanted = set(self.terms(claim))
        return len(wanted & set(self.terms(text))) / len(wanted) if wanted else 1.0

    def _support(self, cosine: float, share: float) -> float:
        return min(1.0, self.cosine_weight * cosine + (1 - self.cosine_weight) * share)

    def _sentences(self, piece: Evidence) -> list[Sentence]:
        return [
            Sentence(piece, piece.start + start, piece.start + end, piece.text[start:end], Score(0.0, SUPPORT))
            for start, end in self.spans(piece.text)
        ]


def _bare(text: str) -> str:
    return " ".join(text.lower().split()).strip(" .\"'“”‘’")


def _before(sentences: Sequence[str], at: int) -> str:
    """The sentence before one that refers back: he or it stands for a name in it."""
    return sentences[at - 1] if at and _PRONOUN.search(sentences[at]) else ""


def _titles(pieces: Sequence[Evidence]) -> str:
    titles = dict.fromkeys(piece.hit.chunk.title for piece in pieces)
    return " ".join(title for title in titles if not is_command(title))


def _missing(reason: str) -> Finding:
    return Finding(False, False, 0.0, reason)


def _turned(found: Finding) -> Finding:
    """A no is supported where what was asked is denied, and denied where it is supported."""
    if found.contradicted:
        return Finding(True, False, found.score)
    return Finding(False, found.supported, found.score, found.reason or "the evidence says yes")
