"""Makes questions from documents, for calibrating a judge and for a first question set.

From sentences by `made_questions`, from tables and forms by `made_cells`; unanswerable ones by `near_misses`.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from thresher.text.sentences import without_figures
from thresher.text.terms import index_terms
from thresher.types import Document
from thresher_evals.questions.made_cells import field_questions, table_questions
from thresher_evals.questions.made_questions import Made, sentence_questions
from thresher_evals.questions.near_misses import Changed, Passages, near_misses

ASKED_FOR_EACH = 8
"""Made questions tried for each wanted near miss."""

TITLE_TERMS = 8
"""Longest title in a question, in terms; a longer one is a sentence."""

_PIECES = re.compile(r": | [-–—|] ")


@dataclass(frozen=True, slots=True)
class MadeOf:
    """A question and its document."""

    made: Made
    document: Document
    name: str
    """The question's name for the document; empty if the title does not describe it."""


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A question that no document answers, and the question that it was changed from."""

    question: str
    changed: Changed
    source: MadeOf


class QuestionMaker:
    """Draws questions from documents, the same for the same seed in any order of the documents."""

    def __init__(self, documents: Sequence[Document], *, seed: int) -> None:
        self._documents = sorted(documents, key=lambda document: document.id)
        self._seed = seed
        self._names = names_of(self._documents)
        self._titles = [name for name in self._names.values() if name]

    def made(self, number: int, *, brief: bool = False) -> list[MadeOf]:
        """Up to `number` questions: one of each document, then a second of each, and so on.

        No two have the same words, and none has two answers in the documents drawn from; an answer repeats within a
        document only if there are no others. `brief` ones ask with the clause of the answer alone.
        """
        generator = random.Random(self._seed)
        order = generator.sample(self._documents, len(self._documents))
        drawers = [questions_of(document, self._names[document.id], generator) for document in order]
        chosen: dict[str, MadeOf] = {}
        again: list[MadeOf] = []
        answers, contested = set(), set[str]()
        while drawers and len(chosen) < number:
            left = []
            for drawer in drawers:
                for one in drawer:
                    question = one.made.brief if brief else one.made.question
                    other = chosen.get(question)
                    if other is not None and other.made.answer != one.made.answer:
                        contested.add(question)
                        del chosen[question]
                    if other is not None or question in contested:
                        continue
                    if (one.document.id, one.made.answer) in answers:
                        again.append(one)
                        continue
                    answers.add((one.document.id, one.made.answer))
                    chosen[question] = one
                    left.append(drawer)
                    break
                if len(chosen) == number:
                    return list(chosen.values())
            drawers = left
        for one in again:
            question = one.made.brief if brief else one.made.question
            if len(chosen) < number and question not in contested:
                chosen.setdefault(question, one)
        return list(chosen.values())

    def near_misses(self, number: int) -> list[NearMiss]:
        """Up to `number` questions that no document answers, none of them made; one for each made question in turn."""
        found: dict[str, NearMiss] = {}
        made = self.made(ASKED_FOR_EACH * number)
        asked = {one.made.question for one in made}
        generator = random.Random(self._seed)
        drawers = [self._changed(one, made, generator) for one in generator.sample(made, len(made))]
        while drawers and len(found) < number:
            left = []
            for drawer in drawers:
                near = next((one for one in drawer if one.question not in asked), None)
                if near is not None:
                    found.setdefault(near.question, near)
                    left.append(drawer)
                if len(found) == number:
                    break
            drawers = left
        return list(found.values())

    def _changed(self, one: MadeOf, made: Sequence[MadeOf], generator: random.Random) -> Iterator[NearMiss]:
        entities = self._entities(one, made, generator)
        for question, changed in near_misses(one.made, one.name, entities, self._passages, generator):
            yield NearMiss(question, changed, one)

    @cached_property
    def _passages(self) -> Passages:
        return Passages(self._documents, self._names)

    def _entities(self, one: MadeOf, made: Sequence[MadeOf], generator: random.Random) -> list[str]:
        """Replacements: other documents, or subjects of the document's questions, then of others that begin alike."""
        if not one.made.subject:
            return generator.sample(self._titles, len(self._titles))
        others = [other for other in made if other.made.subject]
        near = [other for other in others if other.document.id == one.document.id]
        begins = one.made.question.partition(one.made.subject)[0]
        far = [other for other in others if one.made.kind != "table" and other.made.question.startswith(begins)]
        return list(dict.fromkeys(other.made.subject for other in (*near, *generator.sample(far, len(far)))))


def names_of(documents: Sequence[Document]) -> dict[str, str]:
    """Document id to its name in questions: the title, or its first piece with a unique term.

    Empty if the document's text does not use the title, which is then the name of a template or file.
    """
    titles = {document.id: " ".join(document.title.split()) for document in documents}
    held = Counter(term for title in titles.values() for term in set(index_terms(title)))
    names = {}
    for document in documents:
        title = titles[document.id]
        pieces = [piece for piece in _PIECES.split(title) if index_terms(piece)]
        alone = [piece for piece in pieces if any(held[term] == 1 for term in index_terms(piece))]
        name = (alone or [title])[0]
        terms = set(index_terms(name))
        text = document.text.casefold()  # a stem's end differs from its words
        known = 0 < len(terms) <= TITLE_TERMS and all(term[: max(3, len(term) - 1)] in text for term in terms)
        names[document.id] = name if known else ""
    return names


def questions_of(document: Document, name: str, generator: random.Random) -> Iterator[MadeOf]:
    """The distinct questions of a document in random order, kinds in turn; none that it answers in two ways."""
    outside = _running_text(document)
    found: dict[str, list[Made]] = {}
    for made in chain(
        sentence_questions(outside, name), table_questions(document, name), field_questions(document, name)
    ):
        found.setdefault(made.brief, []).append(made)
    sure = [same[0] for same in found.values() if len({made.answer for made in same}) == 1]
    kinds: dict[str, list[Made]] = {}
    for made in generator.sample(sure, len(sure)):
        kinds.setdefault(made.kind, []).append(made)
    while kinds:
        for kind in list(kinds):
            yield MadeOf(kinds[kind].pop(), document, name)
            if not kinds[kind]:
                del kinds[kind]


def _running_text(document: Document) -> str:
    """The text with tables and figures blanked; offsets stay."""
    text = without_figures(document)
    for table in document.tables:
        text = f"{text[: table.start]}{' ' * (table.end - table.start - 2)}\n\n{text[table.end :]}"
    return text
