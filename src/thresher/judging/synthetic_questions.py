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

KEPT_WORDS = (2, 3)
"""Words of the sentence a question keeps besides its subject, fewest and most. People ask in other words than the
text: a question that keeps more scores higher than real questions do."""

ROUNDS = 4
"""Times every chunk is gone through: a small collection has fewer chunks than questions are needed."""

TITLE_WORDS = 8
"""A longer title is a sentence; the subject is then a name from the text."""

_WORD = re.compile(r"[^\W\d_][\w'’-]{2,}")
_STATES = re.compile(r"[A-Z][^\[\]{}=<>|∑∈≤≥_\n?]*[a-z\d%)][.!]")
"""A sentence that states something: whole, from its capital to its full stop, without formulas or references."""
_NOT_RUNNING = re.compile(r"et al|arXiv|https?:|\bIn Proc|\bsee\b|\b(?:Table|Figure|Fig|Section|Appendix|Eq)\b", re.I)
"""References to other works, and sentences about the document itself."""
_VERB = re.compile(r"\b(?:is|are|was|were|has|have|had|can|must|may|will|does|do|did)\b|\b[a-z]{2,}(?:ed|es|[^s\W]s)\b")
RUNNING_LETTERS = 0.85
"""Least share of letters and spaces: running text has over .95, rows of figures and lists of names under .8."""

_NAME = re.compile(r"\b[A-Z][\w'’-]+(?: (?:of )?[A-Z][\w'’-]+)+|(?<=[a-z,] )[A-Z][\w'’-]+")
_ANSWERS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "when",
        re.compile(r"(?:(?<=\b[Ii]n )|(?<=\b[Bb]y )|(?<=\bsince )|(?<=\b[a-z]{3} ))(?:1[0-9]|20)\d\d\b(?! [a-z]+s\b)"),
    ),
    (
        "how many",
        re.compile(
            r"(?<![\w.,(:/–-])(?<!\b[A-Z][a-z]{2} )\d[\d.,]*"
            r"(?= (?:[a-z-]+ )?[a-z-]{2,}s\b)(?! (?:is|was|has|and|or|to|in)\b)"
        ),
    ),
    ("who or what", re.compile(r"(?:(?<=\bby )|(?<=\bcalled )|(?<=\bnamed ))[A-Z][\w'’-]+(?: (?:of )?[A-Z][\w'’-]+)*")),
)
"""What a question can ask for, and how that looks in running text: a year after its preposition, a number before the
noun it counts, a name."""


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

    A sentence that states a year, a number of something or a name is chosen, that is taken out of it, and the question
    keeps the words nearest to it and the subject (title, or else a name from the sentence): `when elected Senate Mae
    Beavers`. No document is asked for the same answer twice.
    """
    generator = random.Random(seed)
    order = sorted((chunk for chunk in chunks if chunk.kind == "text"), key=lambda chunk: chunk.id)
    generator.shuffle(order)
    asked: dict[str, int] = {}
    rounds = []
    for chunk in order:
        asked[chunk.document_id] = asked.get(chunk.document_id, 0) + 1
        rounds.append(asked[chunk.document_id])
    texts: dict[str, set[str]] = {}
    for chunk in order:
        texts.setdefault(chunk.document_id, set()).update(terms(chunk.text))
    made: set[str] = set()
    drafts: dict[tuple[str, str], _Draft] = {}
    for _ in range(ROUNDS):
        for _, chunk in sorted(zip(rounds, order, strict=True), key=lambda pair: pair[0]):
            if len(drafts) == number:
                break
            draft = _draft(chunk, texts[chunk.document_id], generator, spans, terms)
            if draft is not None and draft.question not in made:
                made.add(draft.question)
                drafts.setdefault((chunk.document_id, draft.answer), draft)
    answered_by = _answered_by(list(drafts.values()), chunks)
    return [
        SyntheticQuestion(draft.question, draft.chunk.document_id, draft.chunk.id, documents)
        for draft, documents in zip(drafts.values(), answered_by, strict=True)
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


def _draft(chunk: Chunk, document: Set[str], generator: random.Random, spans: Spans, terms: Terms) -> _Draft | None:
    """A question from one sentence of the chunk, whose document has these terms; None where none has an answer."""
    sentences = [text for start, end in spans(chunk.text) if _states(text := " ".join(chunk.text[start:end].split()))]
    generator.shuffle(sentences)
    title = _subject(chunk.title, document, terms)
    for sentence in sentences:
        found = [(kind, match) for kind, pattern in _ANSWERS for match in pattern.finditer(sentence)]
        found = [(kind, match) for kind, match in found if not set(terms(match[0])) & set(terms(title))]
        if not found:
            continue
        kind, match = generator.choice(found)
        names = [name[0] for name in _NAME.finditer(sentence) if not set(terms(name[0])) & set(terms(match[0]))]
        subject = title or (generator.choice(names) if names else "")
        words = _near(
            sentence, match, generator.randint(*KEPT_WORDS), set(terms(subject)) | set(terms(match[0])), terms
        )
        if subject and len(words) >= KEPT_WORDS[0]:
            return _Draft(" ".join([kind, *words, subject]), subject, match[0], chunk)
    return None


def _states(sentence: str) -> bool:
    """Whether a sentence is whole running text that says something of the world."""
    low, high = SENTENCE_CHARACTERS
    running = sum(character.isalpha() or character == " " for character in sentence)
    return (
        low <= len(sentence) <= high
        and running >= RUNNING_LETTERS * len(sentence)
        and _STATES.fullmatch(sentence) is not None
        and _VERB.search(sentence) is not None
        and _NOT_RUNNING.search(sentence) is None
    )


def _subject(title: str, document: Set[str], terms: Terms) -> str:
    """The title up to its colon, where it is short and the document speaks of it; else empty.

    A title that the text never uses is the name of a template or of a file.
    """
    short = re.split(r":\s", title, maxsplit=1)[0].strip()
    said = terms(short)
    return short if 0 < len(said) <= TITLE_WORDS and set(said) <= document else ""


def _near(sentence: str, match: re.Match[str], number: int, told: Set[str], terms: Terms) -> list[str]:
    """The words of meaning nearest to the answer, in their order; what it counts comes before what stands ahead."""
    words = [word for word in _WORD.finditer(sentence) if (own := set(terms(word[0]))) and not told & own]
    after = [word for word in words if word.start() >= match.end()]
    before = [word for word in words if word.end() <= match.start()][::-1]
    kept = (after[:2] + before)[:number] if len(before) >= number - 2 else (before + after)[:number]
    kept.sort(key=lambda word: (word.start() < match.start(), word.start()))
    return list(dict.fromkeys(word[0] for word in kept))


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
