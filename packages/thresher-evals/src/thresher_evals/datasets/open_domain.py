"""`wikipedia:FILE`: PopQA, Natural Questions or TriviaQA over a pool of Wikipedia passages."""

from __future__ import annotations

import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from thresher.errors import UsageError
from thresher.types import Origin
from thresher_evals.dataset import Corpus, Dataset, Gold, Passage, Question, Split, passage_id
from thresher_evals.datasets.records import Passages, loaded, optional_text, sides, unique
from thresher_evals.jsonl import Record, digest, records
from thresher_evals.metrics.answers import normalise

Words = tuple[str, str]
"""A text's words written in two ways, each between single spaces; see `words_of`."""

WORD = re.compile(r"\w+")


def words_of(text: str) -> Words:
    """The words with punctuation taken out ("rankins", SQuAD's way) and with punctuation parting ("rankin s").

    Either way alone overlooks places: "Rankin's" holds Rankin only in the second, "US" holds U.S. only in the first.
    """
    plain = "".join(mark for mark in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(mark))
    return f" {normalise(text)} ", f" {' '.join(WORD.findall(plain))} "


def holds(text: Words, phrase: Words) -> bool:
    """Whether the words of the phrase follow each other in the text, written in either way."""
    return any(words.strip() and words in within for within, words in zip(text, phrase, strict=True))


def holds_any(text: Words, phrases: Iterable[Words]) -> bool:
    """Whether the text holds one of the phrases."""
    return any(holds(text, phrase) for phrase in phrases)


class Pool:
    """Texts in which some phrases, known beforehand, are looked up fast."""

    def __init__(self, texts: Mapping[str, Words], phrases: Iterable[Words]) -> None:
        self._texts = texts
        wanted = {word for phrase in phrases for way in phrase for word in way.split()}
        self._places: dict[str, list[str]] = defaultdict(list)
        for id, ways in texts.items():
            for word in wanted & {word for way in ways for word in way.split()}:
                self._places[word].append(id)

    def holding(self, phrase: Words) -> list[str]:
        """Ids of the texts that hold a phrase, those it holds in SQuAD's way first."""
        found: dict[str, None] = {}
        for way in phrase:
            rarest = min((self._places.get(word, []) for word in way.split()), key=len, default=[])
            found.update(dict.fromkeys(id for id in rarest if holds(self._texts[id], phrase)))
        return list(found)


# --- question files with the passages that answer them: what the datasets are made of whose collections are o----------


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


# --- `wikipedia:FILE`: PopQA, Natural Questions or TriviaQA over a pool of Wikipedia passages -------------------------


def load_wikipedia(spec: str, path: Path, split: Split) -> Dataset:
    """Every line in its order, asked of the whole pool; also those of which no passage is labelled."""
    pool = pool_beside(path)
    passages = read_pool(pool)
    questions = [read_question(id, record, passages) for id, record in unique(records(path)).items()]
    unlabelled = sum(not question.gold for question in questions)
    note = f"a pool of {len(passages)} passages; {unlabelled} of {len(questions)} questions have none labelled in it"
    return loaded("wikipedia", spec, path, questions, split, sha256=digest(path, pool), corpus=pool, note=note)


def read_question(id: str, record: Record, pool: Collection[str]) -> Question:
    """One line; gold are the labelled passages that are in the pool.

    With a subject only the first label counts: the others are pages about the answer, which seldom name the subject.
    """
    subject = subject_of(record)
    labelled = (*record.texts("gold_ids"), *record.texts("silver_ids"))
    wanted = labelled[:1] if subject else labelled
    gold = tuple(Gold(source) for source in dict.fromkeys(wanted) if source in pool)
    return Question(id, record.text("question"), record.texts("answers"), gold=gold, group=subject)


# --- `popqa-longtail:FILE`: the questions of PopQA (Mallen et al. 2023, arXiv 2212.10511) about rarely read p----------


def load_popqa_longtail(spec: str, path: Path, split: Split) -> Dataset:
    """Every line in its order; `internal` contexts are inside, `web` contexts outside, under the question's `title`.

    Gold is the question's context inside where it holds an answer; a question without one can still be answered, from
    outside or from another passage.
    """
    inside, outside = Passages(), Passages()
    questions: list[Question] = []
    for id, record in unique(records(path)).items():
        title, answers = optional_text(record, "title"), record.texts("answers")
        internal, web = (optional_text(record, name) for name in ("internal", "web"))
        gold: tuple[Gold, ...] = ()
        if internal:
            place = inside.add(title, internal)
            gold = (Gold(place),) if holds_any(words_of(internal), map(words_of, answers)) else ()
        if web:
            outside.add(title, web)
        group = optional_text(record, "subject")
        questions.append(Question(id, record.text("question"), answers, gold=gold, group=group))
    held = sum(bool(question.gold) for question in questions)
    note = (
        f"contexts are CRAG's, refined already, under the title of the question's own page; {held} of {len(questions)} "
        "contexts inside hold an answer"
    )
    return loaded("popqa-longtail", spec, path, questions, split, corpora=sides(inside, outside), note=note)


# --- `squad:FILE`: SQuAD 2.0 (Rajpurkar et al. 2018, arXiv 1806.03822) over the paragraphs of the file ----------------


def load_squad(spec: str, path: Path, split: Split) -> Dataset:
    """Every line in its order. A file that tells no answer is searched only: its labels are the paragraphs.

    Where answers are told, a question's category says whether it has one.
    """
    asked = unique(records(path))
    questions = [placed(squad_question(id, record)) for id, record in asked.items()]
    told = sum(question.category is not None for question in questions)
    note = f"{len(questions) - told} of {len(questions)} questions have a paragraph, and answers are not told"
    return loaded(
        "squad",
        spec,
        path,
        questions,
        split,
        task="ask" if told else "search",
        corpora={Origin.INSIDE: Corpus(tuple(paragraphs(asked.values()).values()))},
        note=note if told < len(questions) else "",
    )


def placed(question: Question) -> Question:
    """The question in the category `answerable` or `unanswerable`, or in none where the file does not tell."""
    if question.answerable and not question.answers:
        return question
    return replace(question, category="answerable" if question.answerable else "unanswerable")
