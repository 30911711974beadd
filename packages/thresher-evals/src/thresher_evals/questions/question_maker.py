"""Questions made of documents, in one place: for calibrating a judge and for a first question set of one's own.

Of sentences by `made_questions`, of tables, forms and lists by `made_cells`; questions that the documents do not
answer, by a hair, by `near_misses`.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from thresher.text.figures import without_figures
from thresher.text.terms import index_terms
from thresher.types import Document
from thresher_evals.questions.made_cells import field_questions, list_questions, table_questions
from thresher_evals.questions.made_questions import Made, sentence_questions
from thresher_evals.questions.near_misses import Changed, Passages, near_misses

ASKED_FOR_EACH = 8
"""Made questions that are tried for each near miss wanted."""

TITLE_TERMS = 8
"""Of a title that a question names; a longer one is a sentence."""

_PIECES = re.compile(r": | [-–—|] ")


@dataclass(frozen=True, slots=True)
class MadeOf:
    """A question, and the document it is made of."""

    made: Made
    document: Document
    name: str
    """What a question calls the document; empty where its title says nothing of it."""


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A question that no document answers, and the made one it was changed from."""

    question: str
    changed: Changed
    source: MadeOf


class QuestionMaker:
    """Draws questions from documents, the same for the same seed, whatever the order of the documents."""

    def __init__(self, documents: Sequence[Document], *, seed: int) -> None:
        self._documents = sorted(documents, key=lambda document: document.id)
        self._seed = seed
        self._names = names_of(self._documents)
        self._titles = [name for name in self._names.values() if name]

    def made(self, number: int, *, brief: bool = False) -> list[MadeOf]:
        """`number` questions or as many as there are: one of each document in turn, then a second of each.

        No two have the same words; no document is asked twice for the same answer while there are others to ask for.
        With `brief` they keep no more words of the text than people's questions do, and what something is is asked
        last: a text says that in the very words of the question.
        """
        generator = random.Random(self._seed)
        order = generator.sample(self._documents, len(self._documents))
        drawers = [questions_of(document, self._names[document.id], generator) for document in order]
        chosen: dict[str, MadeOf] = {}
        again: list[MadeOf] = []
        answers = set()
        while drawers and len(chosen) < number:
            left = []
            for drawer in drawers:
                for one in drawer:
                    question = one.made.brief if brief else one.made.question
                    if question in chosen:
                        continue
                    defines = brief and one.made.kind == "definition"
                    if defines or (one.document.id, one.made.answer) in answers:
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
            if len(chosen) < number:
                chosen.setdefault(one.made.brief if brief else one.made.question, one)
        return list(chosen.values())

    def near_misses(self, number: int) -> list[NearMiss]:
        """`number` questions that no document answers, or as many as there are: one of each made question in turn.

        None of them is a question that was made.
        """
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
        """What else a question could ask of: other documents; or the subjects of other questions of its document, and
        then of those that begin as it does (When was ...).
        """
        if not one.made.subject:
            return generator.sample(self._titles, len(self._titles))
        others = [other for other in made if other.made.subject]
        near = [other for other in others if other.document.id == one.document.id]
        begins = one.made.question.partition(one.made.subject)[0]
        far = [other for other in others if one.made.kind != "table" and other.made.question.startswith(begins)]
        return list(dict.fromkeys(other.made.subject for other in (*near, *generator.sample(far, len(far)))))


def names_of(documents: Sequence[Document]) -> dict[str, str]:
    """For each document's id what a question calls it: the title, or the first piece of it that no other title holds.

    Empty for a title that the document's text never uses: the name of a template or of a file.
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
        text = document.text.casefold()  # a stem ends otherwise than its words
        known = 0 < len(terms) <= TITLE_TERMS and all(term[: max(3, len(term) - 1)] in text for term in terms)
        names[document.id] = name if known else ""
    return names


def questions_of(document: Document, name: str, generator: random.Random) -> Iterator[MadeOf]:
    """The questions of one document in random order, each kind as early as the others; none twice."""
    outside = _running_text(document)
    found = {
        made.question: made
        for made in chain(
            sentence_questions(outside, name),
            table_questions(document, name),
            field_questions(document, name),
            list_questions(document, name),
        )
    }
    kinds: dict[str, list[Made]] = {}
    for made in generator.sample(list(found.values()), len(found)):
        kinds.setdefault(made.kind, []).append(made)
    while kinds:
        for kind in list(kinds):
            yield MadeOf(kinds[kind].pop(), document, name)
            if not kinds[kind]:
                del kinds[kind]


def _running_text(document: Document) -> str:
    """The text with tables and figures blank, every place where it was."""
    text = without_figures(document)
    for table in document.tables:
        text = f"{text[: table.start]}{' ' * (table.end - table.start - 2)}\n\n{text[table.end :]}"
    return text
