"""Question files with the passages that answer them: what the datasets are made of whose collections are our own.

Two forms are read, told apart by their fields. `wikipedia`: labelled passages (`gold_ids` or `silver_ids`) of a pool
beside the file. `squad`: every line brings its paragraph.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from thresher.errors import UsageError
from thresher.evals.corpora import Passage, passage_id
from thresher.evals.labels import Gold, Question
from thresher.evals.lines import Record, digest, records
from thresher.evals.sets.fields import unique
from thresher.evals.sets.holding import Pool, holds_any, words_of

POOL = "corpus.jsonl"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question and the passages that answer it."""

    question: Question
    gold: str
    """The passage it was asked of; the first of `evidence`."""
    evidence: tuple[str, ...]
    """Every passage that is known to answer it: without all of them it cannot be answered."""


@dataclass(frozen=True, slots=True)
class Material:
    """A question file and its passages."""

    form: str
    passages: Mapping[str, Passage]
    answerable: tuple[Candidate, ...]
    """Questions whose gold passage holds the answer; others have labels that cannot be relied on."""
    unanswerable: tuple[Candidate, ...]
    """Questions marked as having no answer in their passage, which is their only evidence."""
    left_out: int
    """Questions with answers whose gold passage is missing or does not hold one."""
    sha256: str
    """Of the question file and, where there is one, the pool."""


def read_material(path: Path) -> Material:
    """The questions of a file of either form."""
    found = list(records(path))
    fields = found[0].fields if found else {}
    if not found:
        raise UsageError("no questions in it", subject=str(path), next_step="check the dataset's file")
    if "context" in fields and "title" in fields:
        material = read_squad(path, found)
    elif "gold_ids" in fields or "silver_ids" in fields:
        material = read_wikipedia(path, found)
    else:
        raise found[0].bad(
            "neither form of question file is known by these fields",
            next_step="give id, question, answers and gold_ids or silver_ids, or title, context, question, answers and "
            "unanswerable",
        )
    if not material.answerable:
        raise UsageError(
            "no question has an answer that stands in its passage",
            subject=str(path),
            next_step="give a file of questions with answers",
        )
    return material


# --- wikipedia: labelled passages of a pool ---------------------------------------------------------------------------


def read_wikipedia(path: Path, found: Iterable[Record]) -> Material:
    """Questions on passages of the pool; those without labels, or whose first passage holds no answer, are left out.

    A question with a `subject` is answered by its first passage and by every passage of the pool that holds subject
    and answer. One without is answered by those labelled or retrieved passages that hold an answer; another passage of
    the pool may hold it too.
    """
    pool = pool_beside(path)
    passages = read_pool(pool)
    words = {id: words_of(f"{passage.title} {passage.text}") for id, passage in passages.items()}
    asked = unique(found)
    subject_words = {subject: words_of(subject) for subject in map(subject_of, asked.values()) if subject}
    places = Pool(words, subject_words.values())
    answerable: list[Candidate] = []
    with_answers = 0
    for id, record in asked.items():
        answers, labelled = record.texts("answers"), (*record.texts("gold_ids"), *record.texts("silver_ids"))
        phrases = [words_of(answer) for answer in answers]
        with_answers += bool(answers)
        if not labelled or labelled[0] not in passages or not holds_any(words[labelled[0]], phrases):
            continue
        subject = subject_of(record)
        named = places.holding(subject_words[subject]) if subject else (*labelled, *record.texts("retrieved_ids"))
        known = dict.fromkeys([labelled[0], *named])
        evidence = tuple(one for one in known if one in words and holds_any(words[one], phrases))
        # With a subject the labels after the first are pages about the answer, which often do not name the subject.
        gold = [labelled[0]] if subject else [one for one in evidence if one in labelled]
        question = Question(
            id, record.text("question"), answers, gold=tuple(Gold(source) for source in gold), group=subject
        )
        answerable.append(Candidate(question, labelled[0], evidence))
    return Material("wikipedia", passages, tuple(answerable), (), with_answers - len(answerable), digest(path, pool))


def subject_of(record: Record) -> str:
    """What a question is about, where the file says it."""
    return record.text("subject") if record.fields.get("subject") is not None else ""


def pool_beside(path: Path) -> Path:
    """The pool of a file; UsageError where there is none. See `pool_places`."""
    for place in pool_places(path):
        if place.is_file():
            return place
    raise UsageError(
        f"its passages are missing: no {' and no '.join(map(str, pool_places(path)))}",
        subject=str(path),
        next_step=f'put a {POOL} (a line for each passage: {{"_id", "title", "text"}}) beside the file, or in the '
        "folder wikipedia of the folder that THRESHER_DATA names",
    )


def pool_places(path: Path) -> list[Path]:
    """Where a file's pool may be: `corpus.jsonl` beside it, or in the folder `wikipedia` of $THRESHER_DATA."""
    places = [path.parent / POOL]
    if data := os.environ.get("THRESHER_DATA"):
        places.append(Path(data).expanduser() / "wikipedia" / POOL)
    return places


def read_pool(path: Path) -> dict[str, Passage]:
    """The passages of a BEIR corpus by their ids."""
    passages: dict[str, Passage] = {}
    for record in records(path):
        id, title = record.identity("_id"), record.fields.get("title")
        if id in passages:
            raise record.bad(f"the id '{id}' stands on an earlier line too", next_step="ids must be unique")
        passages[id] = Passage(id, title if isinstance(title, str) else "", record.text("text"))
    return passages


# --- squad: every question brings its paragraph -----------------------------------------------------------------------


def read_squad(path: Path, found: Iterable[Record]) -> Material:
    """Questions on paragraphs; a paragraph is a passage whose title is the article's.

    A question is answered by its paragraph and by the other paragraphs of the article whose text holds an answer.
    """
    asked = unique(found)
    passages = paragraphs(asked.values())
    words = {id: words_of(passage.text) for id, passage in passages.items()}
    articles: dict[str, dict[str, None]] = defaultdict(dict)
    for record in asked.values():
        articles[record.text("title")][paragraph_of(record)] = None
    answerable: list[Candidate] = []
    unanswerable: list[Candidate] = []
    with_answers = 0
    for id, record in asked.items():
        question, paragraph = squad_question(id, record), paragraph_of(record)
        if not question.answerable:
            unanswerable.append(Candidate(question, paragraph, (paragraph,)))
            continue
        phrases = [words_of(answer) for answer in question.answers]
        with_answers += bool(phrases)
        if not holds_any(words[paragraph], phrases):
            continue
        known = dict.fromkeys([paragraph, *articles[question.group]])
        evidence = tuple(one for one in known if holds_any(words[one], phrases))
        answerable.append(Candidate(question, paragraph, evidence))
    return Material(
        "squad",
        passages,
        tuple(answerable),
        tuple(unanswerable),
        with_answers - len(answerable),
        digest(path),
    )


def paragraphs(asked: Iterable[Record]) -> dict[str, Passage]:
    """The paragraphs of the questions by their ids, each once; titles are the articles'."""
    passages: dict[str, Passage] = {}
    for record in asked:
        title, context = record.text("title"), record.text("context")
        id = passage_id(title, context)
        passages[id] = Passage(id, title.replace("_", " "), context)
    return passages


def paragraph_of(record: Record) -> str:
    """The id of the paragraph that a question was asked of."""
    return passage_id(record.text("title"), record.text("context"))


def squad_question(id: str, record: Record) -> Question:
    """One line: gold are the answers' spans, the whole paragraph where they are not told, nothing without an answer."""
    text, title = record.text("question"), record.text("title")
    if record.boolean("unanswerable", default=False):
        return Question(id, text, answerable=False, group=title)
    paragraph = paragraph_of(record)
    spans = dict.fromkeys(answer_spans(record, record.text("context")))
    gold = tuple(Gold(paragraph, start=start, end=start + len(answer)) for start, answer in spans)
    answers = tuple(dict.fromkeys(answer for _, answer in spans))
    return Question(id, text, answers, gold=gold or (Gold(paragraph),), group=title)


def answer_spans(record: Record, context: str) -> list[tuple[int, str]]:
    """The `[start, text]` pairs of a line; UsageError where the text does not stand there."""
    given = record.fields.get("answers") or []
    spans: list[tuple[int, str]] = []
    for pair in given if isinstance(given, list) else [given]:
        match pair:
            case [int(start), str(text)] if text.strip() and context[start : start + len(text)] == text and start >= 0:
                spans.append((start, text))
            case _:
                raise record.bad(
                    f"{pair!r} of 'answers' is no place in the context", next_step="give [start, text] pairs"
                )
    return spans
