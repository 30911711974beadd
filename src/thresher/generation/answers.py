"""Readers without a chat model that give each question the kind of answer it asks for.

Each stands before another generator, `otherwise`, which answers what it cannot. They quote; the words around the
quotes ("Yes.", what a part is about, "Not stated.") are their own and claim nothing that the quotes do not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

from thresher.generation.certainty import Sureness
from thresher.generation.citations import abstention, cite, in_turn, quoted
from thresher.generation.passages import PassageChooser
from thresher.generation.sentence_support import Sentence, SupportJudge
from thresher.protocols import Generator, about
from thresher.text.answer_types import answer_type
from thresher.text.boilerplate import is_bibliography, says_nothing
from thresher.text.contradiction import contradiction, statement
from thresher.text.entities import missing_name, name_places
from thresher.text.injection import is_command
from thresher.text.measured import measured
from thresher.text.numbers import Quantity, missing_quantity, quantities_and_dates
from thresher.text.questions import Kind, asked_for, parts_of, searches_of, subject_of
from thresher.text.sentences import sentence_spans
from thresher.text.terms import index_terms, term_set
from thresher.types import NO_NOTES, PERHAPS, Evidence, Generation, Notes, Query

NAMED = "Not answered, but named here:"
"""Before a sentence that names what was asked about and does not answer."""


@dataclass(frozen=True, slots=True)
class KindReader:
    """Hands each question to the reader of its kind."""

    readers: Mapping[Kind, Generator]
    otherwise: Generator

    @property
    def about(self) -> str:
        """What every other question is answered by."""
        return about(self.otherwise)

    def __call__(self, query: Query, evidence: Sequence[Evidence]) -> Generation:
        """The answer of the reader for its kind, with the kind in the notes."""
        kind = asked_for(query.question).kind
        answer = self.readers.get(kind, self.otherwise)(query, evidence)
        return replace(answer, notes=answer.notes + Notes(facts={"kind": str(kind)}))


@dataclass(frozen=True, slots=True)
class PartsReader:
    """Answers each of several questions in one by itself; one that nothing answers is said to be.

    One number at one place is not how many of two things: the part that is less sure of it is not answered.
    """

    otherwise: Generator

    @property
    def about(self) -> str:
        """What each part is answered by."""
        return about(self.otherwise)

    def __call__(self, query: Query, evidence: Sequence[Evidence]) -> Generation:
        """The parts in their order, a line each; an abstention where none is answered."""
        parts = parts_of(query.question)
        if len(parts) == 1:
            return self.otherwise(query, evidence)
        answers = [self.otherwise(replace(query, question=part), evidence) for part in parts]
        for one, other in combinations(range(len(parts)), 2):
            if _same_number(answers[one], answers[other]):
                less = min((one, other), key=lambda at: answers[at].certainty or 0.0)
                answers[less] = abstention("What it seems to be is the answer to another part.", answers[less].notes)
        notes = sum((answer.notes for answer in answers), NO_NOTES)
        answered = [not answer.abstained for answer in answers]
        notes += Notes(facts={"parts": [{"question": p, "answered": a} for p, a in zip(parts, answered, strict=True)]})
        if not any(answered):
            return replace(answers[0], notes=notes)
        answers = [_or_named(part, answer, evidence) for part, answer in zip(parts, answers, strict=True)]
        return replace(in_turn([(part, answer) for part, answer in zip(parts, answers, strict=True)]), notes=notes)


def _or_named(part: str, answer: Generation, evidence: Sequence[Evidence]) -> Generation:
    """The answer, or of one that is missing the sentence that names what the part is about."""
    named = naming(subject_of(part), evidence) if answer.abstained else []
    return replace(found, text=f"{NAMED} {found.text}") if named and (found := quoting(named)) else answer


def _same_number(one: Generation, other: Generation) -> bool:
    """Whether both answers are the same number, taken from the same sentence."""
    said = [answer.text.removeprefix(PERHAPS) for answer in (one, other)]
    places = [[(cited.document_id, cited.start) for cited in answer.citations] for answer in (one, other)]
    number = one.exact and other.exact and re.search(r"\d", said[0].partition(" [")[0]) is not None
    return number and said[0] == said[1] and places[0] == places[1]


# --- explanations, comparisons, keywords ------------------------------------------------------------------------------


def _sure(sure: Sureness, answer: Generation, certainty: float) -> Generation:
    """Quoted sentences with their certainty, or an abstention that tells them."""
    if low := sure.withheld(certainty):
        told = " ".join(answer.text.split())
        return abstention(f"The likeliest sentences are {low}. They are: {told}", answer.notes)
    return sure.marked(answer, certainty)


@dataclass(frozen=True, slots=True)
class PassageReader:
    """Quotes up to `most` sentences that answer together, in the order of their document.

    Of sentences that are not sure the other reader is asked too; where it finds no answer there is none.
    """

    choose: PassageChooser
    most: int
    sure: Sureness
    otherwise: Generator

    def __call__(self, query: Query, evidence: Sequence[Evidence]) -> Generation:
        """The sentences with a citation each; what `otherwise` says where none is good enough."""
        question = query.question
        is_keyword = asked_for(question).kind is Kind.KEYWORD
        fits = (lambda sentence: _names(sentence, question)) if is_keyword else None
        passage = self.choose(question, evidence, most=self.most, fits=fits)
        if not passage.sentences:
            return self.otherwise(query, evidence)
        facts = {"reader": "passage", "relevance": passage.relevance, "min_relevance": self.choose.min_relevance}
        unsure = passage.certainty < self.sure.perhaps_below and not is_keyword
        sentences = of_one_piece(passage.sentences) if unsure else passage.sentences
        answer = replace(quoting(sentences), notes=Notes(facts=facts | {"certainty": passage.certainty}))
        if is_keyword:
            return answer  # one who types a word asks nothing that could be answered wrongly
        names = answer_type(question) == "person"  # the other reader would look for one, and no name says who X is
        if self.sure.withhold_below <= passage.certainty < self.sure.perhaps_below and not names:
            second = self.otherwise(query, evidence)
            if second.abstained:
                return second
        return _sure(self.sure, answer, passage.certainty)


def of_one_piece(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Those of the piece that the first stands in: what is not sure misleads most when it is put together."""
    return [sentence for sentence in sentences if sentence.evidence == sentences[0].evidence]


def quoting(sentences: Sequence[Sentence]) -> Generation:
    """Quotes one behind the other."""
    citations = tuple(cite(marker, sentence) for marker, sentence in enumerate(sentences, start=1))
    return Generation(" ".join(map(quoted, citations)), citations)


@dataclass(frozen=True, slots=True)
class ComparingReader:
    """One passage for each of the two things that are compared, named."""

    choose: PassageChooser
    sure: Sureness
    otherwise: Generator
    most: int = 2
    """Sentences for each."""

    def __call__(self, query: Query, evidence: Sequence[Evidence]) -> Generation:
        """A line for each thing; what `otherwise` says where neither is spoken of."""
        things = asked_for(query.question).things
        if len(things) != 2:
            return self.otherwise(query, evidence)
        one, other = things
        both = self.choose(query.question, evidence, most=1, fits=lambda s: _says(s.text, one) and _says(s.text, other))
        each = [
            self.choose(question, evidence, most=self.most, fits=partial(_is_of, thing=thing, other=than))
            for question, thing, than in zip(searches_of(query.question)[1:], things, (other, one), strict=True)
        ]
        if not any(passage.sentences for passage in each):
            return self.otherwise(query, evidence)
        answers = [(f"{one} and {other}:", quoting(both.sentences))] if both.sentences else []
        for thing, passage in zip(things, each, strict=True):
            if passage.sentences or not both.sentences:
                named = passage.sentences or naming(thing, evidence)
                answers.append((f"{thing}:", quoting(named) if named else abstention("")))
        facts = {"reader": "comparison", "relevance": max(passage.relevance for passage in (both, *each))}
        # one sentence on both compares them; without one, the comparison is as sure as its weaker side that is there
        certainty = max(both.certainty, min((side.certainty for side in each if side.sentences), default=0.0))
        return _sure(self.sure, replace(in_turn(answers), notes=Notes(facts=facts)), certainty)


@dataclass(frozen=True, slots=True)
class MeasuringReader:
    """Which of two things has more: what is measured is asked of each, and the numbers are compared.

    Both must be told as one number of the same unit; else it is a question like others.
    """

    otherwise: Generator

    @property
    def about(self) -> str:
        """What each thing is measured by."""
        return about(self.otherwise)

    def __call__(self, query: Query, evidence: Sequence[Evidence]) -> Generation:
        """The thing that is meant, and the number of each."""
        asked = measured(query.question)
        if asked is None:
            return self.otherwise(query, evidence)
        answers = [self.otherwise(replace(query, question=question), evidence) for question in asked.questions]
        numbers = [_only_number(answer) for answer in answers]
        one, two = numbers
        if one is None or two is None or one[1] != two[1] or one[0] == two[0]:
            return self.otherwise(query, evidence)
        first_is_meant = (one[0] > two[0]) is asked.more
        told = ("Yes." if first_is_meant else "No.") if asked.yes_or_no else f"{asked.things[not first_is_meant]}."
        plain = [replace(answer, text=answer.text.removeprefix(PERHAPS)) for answer in answers]
        both = in_turn([(f"{thing}:", answer) for thing, answer in zip(asked.things, plain, strict=True)])
        perhaps = PERHAPS if any(answer.text.startswith(PERHAPS) for answer in answers) else ""
        facts = {"reader": "comparison", "asked of each": asked.questions[0], "numbers": [one[0], two[0]]}
        return replace(both, text=f"{perhaps}{told} {both.text}", notes=Notes(facts=facts))


COMPARED_CERTAINTY = 0.4
"""Of a number, below which it is not compared: of two that are doubtful, which is higher is doubtful twice."""


def _only_number(answer: Generation) -> tuple[float, str] | None:
    """The number an answer is, with its unit; None where it says none or several, or is too doubtful."""
    if answer.abstained or len(answer.citations) != 1 or (answer.certainty or 1.0) < COMPARED_CERTAINTY:
        return None
    found = quantities_and_dates(answer.text.removeprefix(PERHAPS).partition(" [")[0])
    only = found[0] if len(found) == 1 else None
    if not isinstance(only, Quantity):
        return None
    try:
        return float(only.values[0]), only.unit
    except (ValueError, IndexError):
        return None


def naming(thing: str, evidence: Sequence[Evidence]) -> list[Sentence]:
    """The first sentence of the evidence that names a thing, if one does: such a thing is never "not stated"."""
    for piece in evidence:
        for start, end in sentence_spans(piece.text):
            text = piece.text[start:end]
            if thing and _says(text, thing) and not is_command(text):
                return [Sentence(piece, piece.start + start, piece.start + end, text, piece.hit.score)]
    return []


def _says(text: str, thing: str) -> bool:
    """Whether a text has the words of a thing, those with a digit as they are: R1-Zero is not R1."""
    variants = [r"[-\s]?".join(map(re.escape, word.split("-"))) for word in thing.split() if re.search(r"\d", word)]
    whole = all(re.search(rf"(?<![\w-]){variant}(?![\w-])", text, re.IGNORECASE) for variant in variants)
    return whole and term_set(thing) <= term_set(text)


def _names(sentence: Sentence, thing: str) -> bool:
    """Whether a sentence or its title has the words."""
    return _says(f"{sentence.evidence.hit.chunk.title} {sentence.text}", thing)


def _is_of(sentence: Sentence, thing: str, other: str) -> bool:
    """Whether a sentence is about a thing and not about the other."""
    return _names(sentence, thing) and not _says(sentence.text, other)


# --- yes or no --------------------------------------------------------------------------------------------------------


LOOKED_AT = 3
"""Sentences nearest to the question that may decide it, and must not disagree."""

HELD = 0.85
"""Share of the question's terms, weighted by their rarity, that a deciding sentence and its title hold."""

LEAST_SAID = 2
"""Terms besides the names that a deciding sentence holds where only the title has the names."""

_LIGHT = term_set("use used using have has make does do get give be work happen there possible true need")
"""What a sentence that answers may say in other words."""

_STRICT = frozenset("all every always only each any never exactly both".split())  # noqa: SIM905
"""A sentence that decides a question with one of these has it as well."""

_DOUBT = re.compile(
    r"\b(?:if|whether|unless|may|might|could|would|perhaps|possibly|probably|likely|suggests?|hypothesi[sz]e|assum\w+|"
    r"except|unclear|unknown|future|planned|propos\w+|previously|formerly)\b",
    re.IGNORECASE,
)
_ASKS_LEAVE = re.compile(r"(?:can|may|could)\b|(?:am|are|is) .*\ballowed\b", re.IGNORECASE)
"""What is not allowed then denies it."""

_GRADE = re.compile(r"\b\w+ [A-Z]$")
"""A letter at the end names a sort: grade A."""

_ONE_OF = re.compile(r"\b(grade|class|category|rating|mark|level|rank) ([A-Z]|\d)\b")
"""Of these a thing has one."""

LEAD_IN = 400
"""Characters between a line of a list and what leads in to the list."""

_MODAL = re.compile(r"\b(?:can|could|may|might|must|should|shall|would|will|allowed|possible|if|when)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class YesNoReader:
    """Says yes or no where the sentences nearest to the question decide it, and quotes them; else quotes alone.

    A sentence decides that holds the question's words, names and numbers: with yes where it says them, with no where it
    contradicts them. One that doubts, or has the names in another order, decides nothing.
    """

    support: SupportJudge
    otherwise: Generator

    def __call__(self, query: Query, evidence: Sequence[Evidence]) -> Generation:
        """The verdict first, the deciding sentence behind it; what `otherwise` says where nothing decides."""
        answer = self.otherwise(query, evidence)
        if answer.abstained:
            return answer
        texts = [piece for piece in evidence if not is_bibliography(piece.text)]
        stating = [s for s in self.support(query.question, texts) if not _asks_or_orders(s.text)]
        weights = self.support.rarity(query.question)
        deciding = [(s, said) for s in stating[: 2 * LOOKED_AT] if (said := decision(query.question, s, weights))]
        if not deciding or len({said for _, said in deciding[:LOOKED_AT]}) > 1:
            notes = answer.notes + Notes(facts={"decided": "by no sentence"})
            perhaps = PERHAPS if answer.text.startswith(PERHAPS) else ""
            return replace(answer, text=perhaps + " ".join(map(quoted, answer.citations)), notes=notes)
        sentence, said = deciding[0]
        citation = cite(1, sentence)
        notes = answer.notes + Notes(facts={"reader": "yes or no", "decided": said})
        return Generation(f"{said} {quoted(citation)}", (citation,), notes=notes, exact=True)


def _asks_or_orders(text: str) -> bool:
    return text.rstrip(" \"'”’)").endswith("?") or is_command(text) or says_nothing(text)


def decision(question: str, sentence: Sentence, weights: Mapping[str, float]) -> str:
    """Yes., No. or "" for neither: what a sentence says to a question that asks whether something is so."""
    claim, text = question.rstrip(" ?"), sentence.text
    said = f"{_lead_in(sentence)} {text}".strip()
    known = f"{sentence.evidence.hit.chunk.title} {said}"
    names = {term for _, name in name_places(f"- {claim}") for term in index_terms(name)}
    # numbers are held against each other below
    weights = {term: weight for term, weight in weights.items() if term not in _LIGHT and not term[0].isdigit()}
    # the title says whom a sentence is about, not what is said of him
    wanted = {term: weight for term, weight in weights.items() if term not in names}
    held = sum(weight for term, weight in wanted.items() if term in term_set(said))
    told_by_title = not names <= term_set(said)
    if held < HELD * sum(wanted.values()) or not weights or missing_name(claim, known) or not _same_order(claim, said):
        return ""
    if _another_grade(claim, text):
        return "No."
    if told_by_title and (statement(text).subject - names or len(wanted) < LEAST_SAID):
        return ""
    if contradiction(f"{claim} allowed" if _ASKS_LEAVE.match(question) else claim, text):
        return "No."
    letters = {word for word in re.findall(r"\b[A-Z]\b", claim) if word not in "AI"} | set(_GRADE.findall(claim))
    strict = (_STRICT & set(question.lower().split())) <= set(text.lower().split()) and all(
        one in text for one in letters
    )
    doubts = _DOUBT.search(text) is not None and _MODAL.search(question) is None
    return "" if doubts or missing_quantity(claim, known) or not strict else "Yes."


def _another_grade(claim: str, text: str) -> bool:
    """Whether a text says another grade, class or level than a claim, and not that one."""
    claimed, said = set(_ONE_OF.findall(claim)), set(_ONE_OF.findall(text))
    return not claimed & said and bool({sort for sort, _ in claimed} & {sort for sort, _ in said})


def _lead_in(sentence: Sentence) -> str:
    """The line with a colon that a line stands below: "The following rules hold for company vans:"."""
    before = sentence.evidence.text[: sentence.start - sentence.evidence.start].rstrip("-–•*‣◦ ")
    if before and not before.endswith("\n"):
        return ""  # in the middle of a line
    near = [line.strip() for line in before[-LEAD_IN:].splitlines()]
    return next((line for line in reversed(near) if line.endswith(":")), "")


def _same_order(claim: str, text: str) -> bool:
    """Whether the names of a claim stand in the text in their order: who is better than whom, who sued whom."""
    lower = text.lower()
    places = [lower.find(name.lower()) for _, name in name_places(f"- {claim}")]
    found = [place for place in places if place >= 0]
    return found == sorted(found)
