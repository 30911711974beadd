"""The facts that are edited: a sentence of a document, the question that it answers, and another value for its answer.

Those of SQuAD are those of benchmarks/planted_conflicts. Those of the manuals are questions of benchmarks/real_text
with one expected value that one sentence of its page alone states: what is deleted is gone. A value with a number has
another number as its false value; of other values nothing is contradicted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import rows
from benchmarks.planted_conflicts import answers_of, facts, title_of
from benchmarks.questions.rules import states
from benchmarks.real_text.documents import MANUALS, pages
from benchmarks.real_text.questions import TextQuestion, load
from thresher.documents.read import parse
from thresher.documents.sources import Item, fetch
from thresher.text.sentences import sentence_spans
from thresher.types import Document
from thresher_ci.knowledge import Expected, Question

BESIDE = 8
"""Paragraphs of an article besides those of its facts."""

NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Fact:
    """A sentence of a document, the question that it answers, and another value for its answer."""

    question: Question
    file: str
    title: str
    text: str
    start: int
    end: int
    answer: int
    """Offset of the answer in the text."""
    right: str
    false: str

    @property
    def sentence(self) -> str:
        """That holds the answer."""
        return self.text[self.start : self.end]

    def with_sentence(self, sentence: str) -> str:
        """The paragraph with another sentence in its place."""
        return f"{self.text[: self.start]}{sentence}{self.text[self.end :]}"


def planted(number: int) -> tuple[list[Fact], dict[str, str]]:
    """The first facts, and the documents by the names of their files."""
    known = {row["id"]: row for row in rows("squad/answered.jsonl")}
    found: list[Fact] = []
    documents: dict[str, str] = {}
    for one in facts()[:number]:
        row = known[one.id]
        at, right = row["answers"][0]
        text, file = row["context"], f"{row['title']}-{row['paragraph']}.md"
        start, end = next(span for span in sentence_spans(text) if at < span[1])
        expected = Expected(quote=text[start:end].strip(), source=file)
        question = Question(one.question, expected)
        found.append(Fact(question, file, title_of(row), text, start, end, at, right, one.false))
        assert right in answers_of(row)
        documents[file] = written(title_of(row), text)
    titles = {fact.title for fact in found}
    beside: Counter[str] = Counter()
    for row in known.values():
        file, title = f"{row['title']}-{row['paragraph']}.md", title_of(row)
        if title in titles and file not in documents and beside[title] < BESIDE:
            beside[title] += 1
            documents[file] = written(title, row["context"])
    return found, documents


def paragraphs(questions: int, files: int) -> tuple[list[Fact], dict[str, str]]:
    """Questions of SQuAD with the sentences of their answers, and more paragraphs than they are about."""
    rows_of = [*rows("squad/answered.jsonl"), *rows("squad/questions_only.jsonl")]
    texts = {f"{row['title']}-{row['paragraph']}.md": (title_of(row), row["context"]) for row in rows_of}
    kept = dict(list(texts.items())[:files])
    found: dict[str, Fact] = {}
    for row in rows_of:
        file, answers = f"{row['title']}-{row['paragraph']}.md", row.get("answers")
        if file in kept and answers and row["question"] not in found:
            (at, right), text = answers[0], row["context"]
            start, end = next(span for span in sentence_spans(text) if at < span[1])
            question = Question(row["question"], Expected(quote=text[start:end].strip(), source=file))
            found[row["question"]] = Fact(question, file, title_of(row), text, start, end, at, right, "")
    every = list(found.values())
    return every[:: len(every) // questions][:questions], {name: written(*one) for name, one in kept.items()}


def written(title: str, text: str) -> str:
    """A document."""
    return f"# {title}\n\n{text.strip()}\n"


# --- manuals ----------------------------------------------------------------------------------------------------------


def of_manuals(number: int) -> tuple[list[Fact], dict[str, str]]:
    """The first facts of the manuals, and their pages as text."""
    found: list[Fact] = []
    documents: dict[str, str] = {}
    for asked in load():
        if len(found) == number:
            break
        path = next((one for one in pages() if str(one).endswith(f"/{asked.document}")), None)
        if path is None or not asked.answerable or len(asked.expected) != 1:
            continue
        page = read(path)
        if (fact := _stated(asked, page, f"{path.relative_to(MANUALS).parts[0]}-{path.stem}.md")) is not None:
            found.append(fact)
            documents[fact.file] = written(page.title, page.text)
    return found, documents


def read(path: Path) -> Document:
    """A page of a manual."""
    item = Item(source=str(path), root=str(path.parent), path=path)
    return next(one for one in parse(item, *fetch(item)) if isinstance(one, Document))


def _stated(asked: TextQuestion, page: Document, file: str) -> Fact | None:
    """The fact of a question, where one sentence of its page alone states the value."""
    (group,) = asked.evidence or asked.expected
    spans = sentence_spans(page.text)
    stating = [span for span in spans if any(states(page.text[slice(*span)], one) for one in group)]
    if len(stating) != 1:
        return None
    ((start, end),) = stating
    sentence = page.text[start:end]
    words = next((one for one in group if one.casefold() in sentence.casefold()), "")
    near = max(0, sentence.casefold().find(words.casefold()))
    right = next((one for one in asked.expected[0] if one.casefold() in sentence[near:].casefold()), "")
    at = near + sentence[near:].casefold().find(right.casefold())
    question = Question(asked.question, Expected(quote=" ".join(sentence.split()), source=file))
    right = sentence[at : at + len(right)]
    false = NUMBER.sub(lambda digits: str(int(digits[0]) * 3 + 4), right, count=1)
    return Fact(question, file, page.title, page.text, start, end, start + at, right, "" if false == right else false)


SETS: dict[str, Callable[[int], tuple[list[Fact], dict[str, str]]]] = {"squad": planted, "manuals": of_manuals}
