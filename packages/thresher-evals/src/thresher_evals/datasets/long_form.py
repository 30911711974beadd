"""Questions with long answers, or with answers from several passages: `asqa`, `clapnq`, `biography` and `multihop`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from thresher.types import Origin
from thresher_evals.dataset import Corpus, Gold, Passage, Question, Split
from thresher_evals.datasets.open_domain import pool_beside, pool_places, read_pool
from thresher_evals.datasets.records import Articles, Content, Passages, Record, sides, unique

QUALIFIER = re.compile(r"\s*\([^()]*\)\s*$")
"""Distinguishes pages of one name: "Henry Feilden (politician)"."""

UNANSWERABLE = "insufficient information"
"""Start of the answer to a question that the articles of MultiHop-RAG do not answer (`null_query`)."""


def load_asqa(path: Path, split: Split) -> Content:
    """Ambiguous questions (ASQA, Stelmakh et al. 2022, arXiv 2204.06092).

    All lines in order. It has no passages of its own: the Wikipedia pool is asked, or the named collection.
    """
    questions = [Question(id, record.text("question"), short_answers(record)) for id, record in unique(path).items()]
    pool = next((place for place in pool_places(path) if place.is_file()), None)
    note = "any short answer of any reading counts as right; ASQA's own measure is the share of readings answered"
    return Content(questions, corpus=pool, note=note)


def short_answers(record: Record) -> tuple[str, ...]:
    """The distinct short answers of all readings of a question, in order."""
    if record.fields.get("qa_pairs") is None:
        return record.texts("all_short_answers")
    return tuple(dict.fromkeys(text for pair in record.objects("qa_pairs") for text in pair.texts("short_answers")))


def load_clapnq(path: Path, split: Split) -> Content:
    """Long answers from one Wikipedia passage (CLAPnq, Rosenthal et al. 2024, arXiv 2404.02103).

    All lines in order; the passages of all lines are the collection. Gold are the sentences selected by annotators. A
    question without an answer cannot be answered from its passage; its category says so.
    """
    passages = Passages()
    questions: list[Question] = []
    for id, record in unique(path).items():
        texts: dict[str, str] = {}
        for passage in record.objects("passages"):
            text = passage.text("text")
            texts[passages.add(passage.optional("title"), text)] = text
        outputs = record.objects("output")
        answers = tuple(dict.fromkeys(answer for output in outputs if (answer := output.optional("answer"))))
        selected = dict.fromkeys(sentence for output in outputs for sentence in output.texts("selected_sentences"))
        gold = tuple(place for sentence in selected if (place := place_of(sentence, texts)))
        # Without a verbatim sentence, the passages are gold.
        gold = (gold or tuple(map(Gold, texts))) if answers else ()
        category = "answerable" if answers else "unanswerable"
        questions.append(Question(id, record.text("question"), answers, bool(answers), gold, category=category))
    note = (
        "answers are the annotators' long ones, which the paper compares by ROUGE-L and recall; f1 is the nearest "
        "measure here, match and em say nothing of them"
    )
    return Content(questions, corpora=sides(passages), note=note)


def place_of(sentence: str, texts: Mapping[str, str]) -> Gold | None:
    """The first verbatim occurrence of the sentence in the passages."""
    for id, text in texts.items():
        if (start := text.find(sentence)) >= 0:
            return Gold(id, start=start, end=start + len(sentence))
    return None


def load_biography(path: Path, split: Split) -> Content:
    """Long answers about people, with every fact checked (FActScore, Min et al. 2023, arXiv 2305.14251).

    All lines in order; the collection has the pool's passages that were retrieved for any of them. References are the
    question's passages whose title is the entity, or all of them if there is none.
    """
    pool = pool_beside(path)
    passages = read_pool(pool)
    questions: list[Question] = []
    used: dict[str, Passage] = {}
    references: dict[str, tuple[str, ...]] = {}
    own_page = 0
    for id, record in unique(path).items():
        entity = record.text("entity")
        retrieved = [passages[one] for one in record.texts("retrieved_ids") if one in passages]
        used.update((passage.id, passage) for passage in retrieved)
        about = [passage for passage in retrieved if bare(passage.title) == bare(entity)]
        own_page += bool(about)
        if retrieved:
            references[id] = tuple(passage.text for passage in about or retrieved)
        questions.append(Question(id, record.text("question"), topic=entity))
    note = (
        f"{own_page} of {len(questions)} have passages of their own page; facts of the others are checked against all "
        "that was retrieved for them"
    )
    corpora = {Origin.INSIDE: Corpus(tuple(used.values()))} if used else {}
    return Content(questions, files=(path, pool), corpora=corpora, references=references, note=note)


def bare(title: str) -> str:
    """A title without its qualifier, in lower case."""
    return QUALIFIER.sub("", title).strip().casefold()


def published(fact: Record) -> dict[str, str]:
    """What the set says of the article of a fact."""
    stated = {
        "source": fact.optional("source"),
        "author": fact.optional("author"),
        "published": fact.optional("published_at"),
    }
    return {name: value for name, value in stated.items() if value}


def load_multihop(path: Path, split: Split) -> Content:
    """Questions on facts of several news articles (MultiHop-RAG, Tang and Yang 2024, arXiv 2401.15391).

    All lines in order; a passage has all known facts of an article, and its publisher, authors and day as metadata, by
    which the questions name it. Gold are all facts that a question needs; its category is the `question_type`.
    """
    articles = Articles()
    questions: list[Question] = []
    for id, record in unique(path).items():
        facts = record.objects("evidence_list")
        gold = [
            articles.add(one.text("title"), one.text("fact"), address=one.optional("url"), metadata=published(one))
            for one in facts
        ]
        answer, category = record.text("answer"), record.optional("question_type") or None
        if answer.casefold().startswith(UNANSWERABLE):
            questions.append(Question(id, record.text("question"), answerable=False, category=category))
        else:
            places = tuple(dict.fromkeys(gold))
            questions.append(Question(id, record.text("question"), (answer,), gold=places, category=category))
    note = "the collection is the evidence of all questions, not the whole articles: easier than the published task"
    return Content(questions, corpora=sides(articles), note=note)
