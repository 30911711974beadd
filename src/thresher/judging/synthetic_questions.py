"""Questions made of a collection's own sentences, to calibrate a judge where nobody has labelled any.

A question is asked of the collection as it is, and with the documents that answer it out of reach.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass

from thresher.types import Chunk, Spans, Terms

ScoresOf = Callable[[str, Set[str]], float | None]
"""Best raw score for a question with some documents out of reach; None where nothing was retrieved."""

SENTENCE_CHARACTERS = (50, 300)
"""Sentences questions are made of: shorter ones are headings, longer ones lists and tables."""

KEPT_WORDS = (1, 3)
"""Words of the sentence a question keeps besides its subject, fewest and most. People ask in other words than the
text: a question that keeps more scores higher than real questions do."""

TITLE_WORDS = 8
"""A longer title is a sentence; the subject is then a name from the text."""

_WORD = re.compile(r"\w[\w'’-]*")
_ANSWERS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("when", re.compile(r"\b(?:1[0-9]|20)\d\d\b")),
    ("how many", re.compile(r"\b\d[\d.,]*\b")),
    ("who or what", re.compile(r"(?<=[a-z,] )[A-Z][\w'’-]+(?: (?:of )?[A-Z][\w'’-]+)*")),
)
"""What a question can ask for, and how that looks in running text: a year, a number, a name."""


@dataclass(frozen=True, slots=True)
class SyntheticQuestion:
    """A question made of a sentence, and the documents that answer it."""

    question: str
    document_id: str
    chunk_id: str
    answered_by: tuple[str, ...]
    """Its own document, and every other that holds its subject and its answer."""


def synthetic_questions(
    chunks: Sequence[Chunk],
    *,
    number: int,
    seed: int = 0,
    spans: Spans,
    terms: Terms,
) -> list[SyntheticQuestion]:
    """Up to `number` questions of different documents (of different chunks once those are used up), for a fixed seed.

    A sentence with a year, a number or a name is chosen, that is taken out of it, and the question keeps the subject
    (title, or else a name from the sentence) and a few of its other words: `when Mae Beavers elected Senate`.
    """
    generator = random.Random(seed)
    order = sorted((chunk for chunk in chunks if chunk.kind == "text"), key=lambda chunk: chunk.id)
    generator.shuffle(order)
    asked: dict[str, int] = {}
    rounds = []
    for chunk in order:
        asked[chunk.document_id] = asked.get(chunk.document_id, 0) + 1
        rounds.append(asked[chunk.document_id])
    drafts = []
    for _, chunk in sorted(zip(rounds, order, strict=True), key=lambda pair: pair[0]):
        draft = _draft(chunk, generator, spans, terms)
        if draft is not None:
            drafts.append(draft)
        if len(drafts) == number:
            break
    answered_by = _answered_by(drafts, chunks)
    return [
        SyntheticQuestion(draft.question, draft.chunk.document_id, draft.chunk.id, documents)
        for draft, documents in zip(drafts, answered_by, strict=True)
    ]


def gather(questions: Sequence[SyntheticQuestion], scores_of: ScoresOf) -> tuple[list[float], list[float]]:
    """Best raw scores of each question as it is, and with the documents that answer it out of reach."""
    positives, negatives = [], []
    for made in questions:
        inside, outside = scores_of(made.question, frozenset()), scores_of(made.question, frozenset(made.answered_by))
        if inside is not None and outside is not None:
            positives.append(inside)
            negatives.append(outside)
    return positives, negatives


def gather_labelled(questions: Iterable[tuple[str, bool]], scores_of: ScoresOf) -> tuple[list[float], list[float]]:
    """Best raw scores of the questions a person called answerable, and of the others; nothing retrieved scores 0."""
    scores: dict[bool, list[float]] = {True: [], False: []}
    for question, answerable in questions:
        scores[answerable].append(scores_of(question, frozenset()) or 0.0)
    return scores[True], scores[False]


@dataclass(frozen=True, slots=True)
class _Draft:
    question: str
    subject: str
    answer: str
    chunk: Chunk


def _draft(chunk: Chunk, generator: random.Random, spans: Spans, terms: Terms) -> _Draft | None:
    """A question from one sentence of the chunk; None where no sentence has an answer in it."""
    low, high = SENTENCE_CHARACTERS
    sentences = [chunk.text[start:end] for start, end in spans(chunk.text) if low <= end - start <= high]
    generator.shuffle(sentences)
    for sentence in sentences:
        found = [(kind, match) for kind, pattern in _ANSWERS for match in pattern.finditer(sentence)]
        subject = chunk.title if 0 < len(terms(chunk.title)) <= TITLE_WORDS else ""
        found = [(kind, match) for kind, match in found if not set(terms(match[0])) & set(terms(subject))]
        if not found:
            continue
        kind, match = generator.choice(found)
        rest = f"{sentence[: match.start()]} {sentence[match.end() :]}"
        names = [name[0] for name in _ANSWERS[-1][1].finditer(rest)]
        subject = subject or (generator.choice(names) if names else "")
        told = set(terms(subject)) | set(terms(match[0]))
        words = [word for word in dict.fromkeys(_WORD.findall(rest)) if terms(word) and not told & set(terms(word))]
        if not subject or not words:
            continue
        kept = set(generator.sample(range(len(words)), min(len(words), generator.randint(*KEPT_WORDS))))
        question = " ".join([kind, subject, *(word for at, word in enumerate(words) if at in kept)])
        return _Draft(question, subject, match[0], chunk)
    return None


def _answered_by(drafts: Sequence[_Draft], chunks: Sequence[Chunk]) -> list[tuple[str, ...]]:
    """For each draft, the documents of the chunks that hold its subject (or carry it as title) and its answer."""
    documents = [{draft.chunk.document_id: None} for draft in drafts]
    wanted = [(draft.subject.casefold(), draft.answer.casefold()) for draft in drafts]
    for chunk in chunks:
        text = f"{chunk.title}\n{chunk.text}".casefold()
        for (subject, answer), found in zip(wanted, documents, strict=True):
            if subject in text and answer in text:
                found[chunk.document_id] = None
    return [tuple(found) for found in documents]
