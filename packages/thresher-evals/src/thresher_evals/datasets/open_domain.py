"""Open-domain questions and the passages that answer them: `wikipedia`, `popqa-longtail` and `squad`.

`routing` and `refusal` derive collections from the same files by `Material`: every question with the passages known to
answer it.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from thresher.errors import UsageError
from thresher.types import Origin
from thresher_evals.dataset import Corpus, Gold, Passage, Question, Split, normalise, passage_id
from thresher_evals.datasets.records import Content, Passages, Record, records, sides, unique

POOL = "corpus.jsonl"

# --- a pool of passages that several question files share -------------------------------------------------------------


def pool_places(path: Path) -> list[Path]:
    """Paths where a file's pool may be: `corpus.jsonl` beside it, or in the folder `wikipedia` of $THRESHER_DATA."""
    data = os.environ.get("THRESHER_DATA")
    return [path.parent / POOL, *([Path(data).expanduser() / "wikipedia" / POOL] if data else [])]


def pool_beside(path: Path) -> Path:
    """The pool of a file, see `pool_places`. Raises UsageError if there is none."""
    for place in pool_places(path):
        if place.is_file():
            return place
    raise UsageError(
        f"its passages are missing: no {' and no '.join(map(str, pool_places(path)))}",
        subject=str(path),
        next_step=f'put a {POOL} (a line for each passage: {{"_id", "title", "text"}}) beside the file, or in the '
        "folder wikipedia of the folder that THRESHER_DATA names",
    )


def read_pool(path: Path) -> dict[str, Passage]:
    """The passages of a BEIR corpus by id."""
    titles = {id: (record, record.fields.get("title")) for id, record in unique(path, "_id").items()}
    return {
        id: Passage(id, title if isinstance(title, str) else "", record.text("text"))
        for id, (record, title) in titles.items()
    }


# --- whether a text contains a name or an answer, word by word --------------------------------------------------------

Words = tuple[str, str]
"""The words of a text in two forms, separated by single spaces; see `words_of`."""

WORD, NOT_ASCII = re.compile(r"\w+"), re.compile(r"[^\x00-\x7f]+")


def words_of(text: str) -> Words:
    """The words with punctuation removed ("rankins", as in SQuAD) and with punctuation as a separator ("rankin s").

    Either form alone misses matches: "Rankin's" contains Rankin only in the second, "US" contains U.S. only in the
    first.
    """
    plain = NOT_ASCII.sub(without_accents, text.casefold())
    return f" {normalise(text)} ", f" {' '.join(WORD.findall(plain))} "


def without_accents(found: re.Match[str]) -> str:
    """Letters without combining marks."""
    return "".join(mark for mark in unicodedata.normalize("NFKD", found[0]) if not unicodedata.combining(mark))


def holds(text: Words, phrase: Words) -> bool:
    """Whether the text contains the words of the phrase in sequence, in either form."""
    return any(words.strip() and words in within for within, words in zip(text, phrase, strict=True))


def holds_any(text: Words, phrases: Iterable[Words]) -> bool:
    """Whether the text contains one of the phrases."""
    return any(holds(text, phrase) for phrase in phrases)


class Pool:
    """An index of texts for phrases known beforehand."""

    def __init__(self, texts: Mapping[str, Words], phrases: Iterable[Words]) -> None:
        self._texts = texts
        wanted = {word for phrase in phrases for way in phrase for word in way.split()}
        self._places: dict[str, list[str]] = defaultdict(list)
        for id, ways in texts.items():
            for word in wanted & {word for way in ways for word in way.split()}:
                self._places[word].append(id)

    def holding(self, phrase: Words) -> list[str]:
        """Ids of the texts that contain a phrase, matches in SQuAD's form first."""
        found: dict[str, None] = {}
        for way in phrase:
            rarest = min((self._places.get(word, []) for word in way.split()), key=len, default=[])
            found.update(dict.fromkeys(id for id in rarest if holds(self._texts[id], phrase)))
        return list(found)


# --- the passages that answer each question ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question and the passages that answer it."""

    question: Question
    gold: str
    """The passage that the question was written for; the first of `evidence`."""
    evidence: tuple[str, ...]
    """Every passage known to answer it: without all of them it cannot be answered."""


@dataclass(frozen=True, slots=True)
class Material:
    """A question file and its passages."""

    form: str
    passages: Mapping[str, Passage]
    answerable: tuple[Candidate, ...]
    """Questions whose gold passage contains the answer; labels of others are unreliable."""
    unanswerable: tuple[Candidate, ...]
    """Questions marked as unanswered by their passage, which is their only evidence."""
    left_out: int
    """Questions whose gold passage is missing or contains no answer."""
    files: tuple[Path, ...]
    """The question file and the pool, if any."""


def read_material(path: Path) -> Material:
    """The questions of a file in either format, detected by its fields. Raises UsageError."""
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


def read_wikipedia(path: Path, found: Iterable[Record]) -> Material:
    """Questions on passages of the pool, without those that have no label or whose first passage contains no answer.

    A question with a `subject` is answered by its first passage and by every passage of the pool with subject and
    answer. One without is answered by the labelled or retrieved passages that contain an answer; other passages of the
    pool may contain it too.
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
        answers, labelled, subject = record.texts("answers"), labels_of(record), subject_of(record)
        phrases = [words_of(answer) for answer in answers]
        with_answers += bool(answers)
        if not labelled or labelled[0] not in passages or not holds_any(words[labelled[0]], phrases):
            continue
        named = places.holding(subject_words[subject]) if subject else (*labelled, *record.texts("retrieved_ids"))
        known = dict.fromkeys([labelled[0], *named])
        evidence = tuple(one for one in known if one in words and holds_any(words[one], phrases))
        # With a subject, later labels are pages about the answer, which often do not name the subject.
        gold = tuple(Gold(one) for one in ([labelled[0]] if subject else evidence) if one in labelled)
        question = Question(id, record.text("question"), answers, gold=gold, group=subject)
        answerable.append(Candidate(question, labelled[0], evidence))
    return Material("wikipedia", passages, tuple(answerable), (), with_answers - len(answerable), (path, pool))


def subject_of(record: Record) -> str:
    """The subject of a question, or an empty string."""
    return record.text("subject") if record.fields.get("subject") is not None else ""


def labels_of(record: Record) -> tuple[str, ...]:
    """The passages labelled as answering a question."""
    return (*record.texts("gold_ids"), *record.texts("silver_ids"))


def read_squad(path: Path, found: Iterable[Record]) -> Material:
    """Questions on paragraphs; each is a passage with the title of its article.

    A question is answered by its paragraph and by the article's other paragraphs that contain an answer.
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
        if holds_any(words[paragraph], phrases):
            known = dict.fromkeys([paragraph, *articles[question.group]])
            evidence = tuple(one for one in known if holds_any(words[one], phrases))
            answerable.append(Candidate(question, paragraph, evidence))
    left_out = with_answers - len(answerable)
    return Material("squad", passages, tuple(answerable), tuple(unanswerable), left_out, (path,))


def paragraphs(asked: Iterable[Record]) -> dict[str, Passage]:
    """The distinct paragraphs of the questions by id, with their article's title."""
    passages: dict[str, Passage] = {}
    for record in asked:
        id = paragraph_of(record)
        passages[id] = Passage(id, record.text("title").replace("_", " "), record.text("context"))
    return passages


def paragraph_of(record: Record) -> str:
    """The id of a question's paragraph."""
    return passage_id(record.text("title"), record.text("context"))


def squad_question(id: str, record: Record) -> Question:
    """A line as a question. Gold: the answers' spans, the paragraph if they are not given, none without an answer."""
    text, title = record.text("question"), record.text("title")
    if record.boolean("unanswerable", default=False):
        return Question(id, text, answerable=False, group=title)
    paragraph = paragraph_of(record)
    spans = dict.fromkeys(answer_spans(record, record.text("context")))
    gold = tuple(Gold(paragraph, start=start, end=start + len(answer)) for start, answer in spans)
    answers = tuple(dict.fromkeys(answer for _, answer in spans))
    return Question(id, text, answers, gold=gold or (Gold(paragraph),), group=title)


def answer_spans(record: Record, context: str) -> list[tuple[int, str]]:
    """The `[start, text]` pairs of a line. Raises UsageError if the context does not have the text there."""
    given = record.fields.get("answers") or []
    spans: list[tuple[int, str]] = []
    for pair in given if isinstance(given, list) else [given]:
        match pair:
            case [int(start), str(text)] if text.strip() and context[start : start + len(text)] == text and start >= 0:
                spans.append((start, text))
            case _:
                raise record.bad(
                    f"{pair!r} of 'answers' is no span of the context", next_step="give [start, text] pairs"
                )
    return spans


# --- the datasets -----------------------------------------------------------------------------------------------------


def load_wikipedia(path: Path, split: Split) -> Content:
    """PopQA, Natural Questions or TriviaQA over a whole pool of Wikipedia passages.

    All lines in order, also those without a labelled passage. Gold are the labelled passages in the pool; with a
    subject only the first label, as in `read_wikipedia`.
    """
    pool = pool_beside(path)
    passages = read_pool(pool)
    questions: list[Question] = []
    for id, record in unique(path).items():
        subject, labelled = subject_of(record), labels_of(record)
        gold = tuple(Gold(one) for one in dict.fromkeys(labelled[:1] if subject else labelled) if one in passages)
        questions.append(Question(id, record.text("question"), record.texts("answers"), gold=gold, group=subject))
    unlabelled = sum(not question.gold for question in questions)
    note = f"a pool of {len(passages)} passages; {unlabelled} of {len(questions)} questions have none labelled in it"
    return Content(questions, files=(path, pool), corpus=pool, note=note)


def load_popqa_longtail(path: Path, split: Split) -> Content:
    """Questions of PopQA (Mallen et al. 2023, arXiv 2212.10511) about rarely read pages.

    Self-RAG, CRAG and ChunkRAG report accuracy on them. CRAG's authors published the contexts of their generator:
    `internal` ones are inside, `web` ones outside, under the question's `title`. Gold is the question's inside context
    if it contains an answer; other questions may be answered from outside or from another passage.
    """
    inside, outside = Passages(), Passages()
    questions: list[Question] = []
    for id, record in unique(path).items():
        title, answers = record.optional("title"), record.texts("answers")
        gold: tuple[Gold, ...] = ()
        if internal := record.optional("internal"):
            place = Gold(inside.add(title, internal))
            gold = (place,) if holds_any(words_of(internal), map(words_of, answers)) else ()
        if web := record.optional("web"):
            outside.add(title, web)
        questions.append(Question(id, record.text("question"), answers, gold=gold, group=record.optional("subject")))
    held = sum(bool(question.gold) for question in questions)
    note = (
        f"contexts are CRAG's, refined already, under the title of the question's own page; {held} of {len(questions)} "
        "contexts inside hold an answer"
    )
    return Content(questions, corpora=sides(inside, outside), note=note)


def load_squad(path: Path, split: Split) -> Content:
    """SQuAD 2.0 (Rajpurkar et al. 2018, arXiv 1806.03822) over the paragraphs of the file.

    All lines in order. A file without answers is only searched: its labels are the paragraphs. With answers, a
    question's category says whether it has one.
    """
    lines = unique(path)
    questions: list[Question] = []
    for id, record in lines.items():
        question = squad_question(id, record)
        if question.answers or not question.answerable:
            question = replace(question, category="answerable" if question.answerable else "unanswerable")
        questions.append(question)
    unknown = sum(question.category is None for question in questions)
    return Content(
        questions,
        task="search" if unknown == len(questions) else "ask",
        corpora={Origin.INSIDE: Corpus(tuple(paragraphs(lines.values()).values()))},
        note=f"{unknown} of {len(questions)} questions have a paragraph, and answers are not told" if unknown else "",
    )
