"""Who answers: the chat model, whose sentences were checked, or the reader that works without one.

A sentence that the evidence supports need not answer the question, and a weak model writes many that do not. What the
reader says is measured: its certainty is the share of such answers that are right. So the model's answer stands
where the reader says the same in no fewer words, or is not sure and the text that the model wrote answers the question
as far as the trained judge can tell: no model makes answers much worse than the reader's, whatever it writes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from thresher.protocols import PairReader
from thresher.text.answer_types import answer_type, is_of_type
from thresher.text.entities import lacking, names_in
from thresher.text.numbers import NUMBER_WORDS, numbers_stated
from thresher.text.options import is_option
from thresher.text.questions import Kind, asked_for
from thresher.text.terms import term_set
from thresher.types import PERHAPS, Citation, Generation

VERDICT = re.compile(r"\W*(yes|no)\b\W*", re.IGNORECASE)

_MARKER = re.compile(r"\s*\[\d+\]")

AFTER_REFUSAL = 0.9
"""Probability that the model's text answers where the reader, which read the same passages, refused: of 12 questions
without an answer, models that copy evidence at random passed 0.8 with two answers and 0.9 with none."""

MOST_WORDS_OF_A_FACT = 60
"""Words that a model may write before it says what the reader says in few: who copies a table or a page has said
everything, and a person asked for one thing."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a model has written so far of its answer, all of it supported."""

    text: str
    """Without markers."""
    citations: Sequence[Citation]
    context: str = ""
    """The pieces of evidence that support it, whole: a sentence seldom names again what its passage is about."""
    computed: bool = False
    """Whether a number of it was computed from cited ones."""
    foreign: bool = False
    """Whether it is in another language than the documents: the trained judge reads what it cites instead."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """Whether the model's text is the answer, and why."""

    stands: bool
    why: str
    sure: bool = True
    """Whether it is shown without "Perhaps:"."""


@dataclass(frozen=True, slots=True)
class Arbiter:
    """Decides between a model's checked text and the reader's answer."""

    reader: PairReader
    sure_from: float
    """Certainty of the reader's answer from which it stands against another one."""
    min_relevance: float = 0.5
    """Probability that the model's text answers the question, where nothing else speaks for it."""
    trusting: bool = False
    """Let every checked text stand that says something."""

    def __call__(self, question: str, written: Written, offline: Generation) -> Ruling:
        """The ruling on what is written so far; more of it may be ruled otherwise."""
        if self.trusting and is_option(question, written.text):
            return Ruling(True, "the model is trusted to choose (answer.decide)")
        if says_nothing_new(question, written.text) and not _same_verdict(written.text, offline):
            return Ruling(False, "it says nothing that the question does not say")
        if says_the_same(question, written, offline):
            if not self.trusting and says_too_much(question, written.text):
                return Ruling(False, "the reader says the same in few words")
            return Ruling(True, "the reader says the same")
        if written.computed:
            return Ruling(True, "it is computed from numbers that it cites")
        if self.trusting:
            return Ruling(True, "the model is trusted (answer.decide)")
        if not is_such(question, written.text):
            return Ruling(False, "it is not what was asked for")
        said = _said(offline)
        if (
            "“" in said
            and not VERDICT.match(said)
            and not VERDICT.match(written.text)
            and cites_the_same(written, offline)
            and (written.foreign or self._answers_as_well(question, written.text, offline))
        ):
            return Ruling(True, "it rests on what the reader quotes")
        undecided = asked_for(question).kind is Kind.YES_NO and not VERDICT.match(said)
        by_rule = offline.certainty is None and ("“" not in said or VERDICT.match(said))
        if not offline.abstained and by_rule:
            return Ruling(False, "the reader found another answer by rule")
        if not undecided and offline.certainty is not None and offline.certainty >= self.sure_from:
            return Ruling(False, f"the reader's other answer is right with a probability of {offline.certainty:.2f}")
        cited = " ".join(one.quote for one in written.citations)
        titles = ". ".join(dict.fromkeys(one.title for one in written.citations))
        if absent := lacking(question, f"{titles}. {cited} {written.context}"):
            return Ruling(False, f"what it cites does not speak of {absent[0]}")
        # a text that repeats the question always looks like an answer to it: what it cites must answer as well
        texts = [cited] if written.foreign else [written.text, cited]
        quotes = [] if offline.certainty is not None else [" ".join(one.quote for one in offline.citations)]
        quotes = [quote for quote in quotes if quote]
        read = [reading.probability for reading in self.reader.read(question, [*texts, *quotes])]
        own, theirs = min(read[: len(texts)]), read[len(texts) :]
        least = max([AFTER_REFUSAL if offline.abstained else self.min_relevance, *theirs])
        if own < least:
            return Ruling(False, f"it answers with a probability of {own:.2f}, and {least:.2f} is asked for")
        return Ruling(True, f"it answers with a probability of {own:.2f}", sure=bool(quotes) and not undecided)

    def _answers_as_well(self, question: str, text: str, offline: Generation) -> bool:
        """Whether a text looks like an answer, or as much like one as what the reader quotes."""
        own, theirs = (one.probability for one in self.reader.read(question, [text, _said(offline)]))
        return own >= min(self.min_relevance, theirs)


def says_nothing_new(question: str, text: str) -> bool:
    """Whether a text has no word, number or name that its question has not."""
    rest = VERDICT.sub(" ", text, count=1) if VERDICT.match(text) else text
    return _content(rest) <= _content(question)


def _same_verdict(text: str, offline: Generation) -> bool:
    one, other = VERDICT.match(text), VERDICT.match(offline.text)
    return bool(one and other and one[1].lower() == other[1].lower()) and not offline.abstained


def is_such(question: str, text: str) -> bool:
    """Whether a text holds what a question of its kind asks for, and the question itself does not."""
    kind = answer_type(question)
    if asked_for(question).kind is not Kind.FACT or is_of_type(text, kind) is None:
        return True
    if kind in ("number", "time"):
        return bool(numbers_stated(text) - numbers_stated(question))
    return any(not term_set(name) <= term_set(question) for name in names_in(f"by {text}"))


def says_too_much(question: str, text: str) -> bool:
    """Whether a text goes on for long where a fact was asked for."""
    return asked_for(question).kind is Kind.FACT and len(text.split()) > MOST_WORDS_OF_A_FACT


def says_the_same(question: str, written: Written, offline: Generation) -> bool:
    """Whether a text has the verdict or the words of the reader's answer; in another language its names and numbers."""
    said = _said(offline)
    one, other = VERDICT.match(written.text), VERDICT.match(said)
    if one or other:
        return bool(one and other) and one[1].lower() == other[1].lower()  # type: ignore[index]
    content = _content(said) - _content(question)
    if written.foreign:
        content &= numbers_stated(said) | {term for name in names_in(f"by {said}") for term in term_set(name)}
    return bool(content) and "“" not in said and content <= _content(written.text)


def cites_the_same(written: Written, offline: Generation) -> bool:
    """Whether a place that the reader cites is cited."""
    return any(_overlap(citation, place) for citation in written.citations for place in offline.citations)


def _said(offline: Generation) -> str:
    return "" if offline.abstained else _MARKER.sub("", offline.text.removeprefix(PERHAPS)).strip()


def _overlap(one: Citation, other: Citation) -> bool:
    return one.document_id == other.document_id and one.start < other.end and other.start < one.end


def _content(text: str) -> frozenset[str]:
    """Its terms, numbers in words as digits."""
    plain = {term for term in term_set(text) if not term[0].isdigit() and term not in NUMBER_WORDS}
    return frozenset(plain | numbers_stated(text))
