"""`asqa:FILE`: questions that can be meant in several ways (ASQA, Stelmakh et al. 2022, arXiv 2204.06092)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from thresher.types import Origin
from thresher_evals.dataset import Corpus, Dataset, Gold, Passage, Question, Split
from thresher_evals.datasets.open_domain import pool_beside, pool_places, read_pool
from thresher_evals.datasets.records import Articles, Passages, loaded, objects, optional_text, sides, unique
from thresher_evals.jsonl import Record, digest, records


def load_asqa(spec: str, path: Path, split: Split) -> Dataset:
    """Every line in its order. No passages come along: the Wikipedia pool is asked, or the collection that is named."""
    questions = [
        Question(id, record.text("question"), short_answers(record)) for id, record in unique(records(path)).items()
    ]
    pool = next((place for place in pool_places(path) if place.is_file()), None)
    note = "any short answer of any reading counts as right; ASQA's own measure is the share of readings answered"
    return loaded("asqa", spec, path, questions, split, corpus=pool, note=note)


def short_answers(record: Record) -> tuple[str, ...]:
    """The short answers of all readings of a question, in their order, each once."""
    if record.fields.get("qa_pairs") is None:
        return record.texts("all_short_answers")
    return tuple(dict.fromkeys(text for pair in objects(record, "qa_pairs") for text in pair.texts("short_answers")))


# --- `clapnq:FILE`: long answers out of one Wikipedia passage (CLAPnq, Rosenthal et al. 2024, arXiv 2404.0210----------


def load_clapnq(spec: str, path: Path, split: Split) -> Dataset:
    """Every line in its order; the passages of all lines are the collection.

    Gold are the sentences that the annotators selected. A question without an answer cannot be answered from its
    passage; its category says so.
    """
    passages = Passages()
    questions = [read_question(id, record, passages) for id, record in unique(records(path)).items()]
    note = (
        "answers are the annotators' long ones, which the paper compares by ROUGE-L and recall; f1 is the nearest "
        "measure here, match and em say nothing of them"
    )
    return loaded("clapnq", spec, path, questions, split, corpora=sides(passages), note=note)


def read_question(id: str, record: Record, passages: Passages) -> Question:
    """One line; its passages are added to the others."""
    texts = {}
    for passage in objects(record, "passages"):
        text = passage.text("text")
        texts[passages.add(optional_text(passage, "title"), text)] = text
    outputs = objects(record, "output")
    answers = tuple(dict.fromkeys(answer for output in outputs if (answer := optional_text(output, "answer"))))
    selected = dict.fromkeys(sentence for output in outputs for sentence in output.texts("selected_sentences"))
    gold = tuple(place for sentence in selected if (place := place_of(sentence, texts)))
    return Question(
        id,
        record.text("question"),
        answers,
        bool(answers),
        # Sentences that stand nowhere word for word leave the passages as what is known.
        (gold or tuple(map(Gold, texts))) if answers else (),
        category="answerable" if answers else "unanswerable",
    )


def place_of(sentence: str, texts: dict[str, str]) -> Gold | None:
    """Where the sentence first stands in one of the passages."""
    for id, text in texts.items():
        if (start := text.find(sentence)) >= 0:
            return Gold(id, start=start, end=start + len(sentence))
    return None


# --- `biography:FILE`: long answers about people, whose every fact is checked (FActScore, Min et al. 2023, 23----------


QUALIFIER = re.compile(r"\s*\([^()]*\)\s*$")
"""What tells pages of one name apart: "Henry Feilden (politician)"."""


def load_biography(spec: str, path: Path, split: Split) -> Dataset:
    """Every line in its order; the collection is made of the passages of the pool that were retrieved for any of them.

    References are those of the question's passages whose title is the entity, or all of them where none is.
    """
    pool = pool_beside(path)
    passages = read_pool(pool)
    questions: list[Question] = []
    used: dict[str, Passage] = {}
    references: dict[str, tuple[str, ...]] = {}
    own_page = 0
    for id, record in unique(records(path)).items():
        entity = record.text("entity")
        retrieved = [passages[one] for one in record.texts("retrieved_ids") if one in passages]
        used.update((passage.id, passage) for passage in retrieved)
        about = about_entity(entity, retrieved)
        own_page += bool(about)
        if retrieved:
            references[id] = tuple(passage.text for passage in about or retrieved)
        questions.append(Question(id, record.text("question"), topic=entity))
    return loaded(
        "biography",
        spec,
        path,
        questions,
        split,
        sha256=digest(path, pool),
        corpora={Origin.INSIDE: Corpus(tuple(used.values()))} if used else {},
        references=references,
        note=f"{own_page} of {len(questions)} have passages of their own page; facts of the others are checked against "
        "all that was retrieved for them",
    )


def about_entity(entity: str, passages: Iterable[Passage]) -> list[Passage]:
    """The passages whose title is the entity, case and what stands in parentheses behind it aside."""
    return [passage for passage in passages if bare(passage.title) == bare(entity)]


def bare(title: str) -> str:
    """A title without qualifier, in lower case."""
    return QUALIFIER.sub("", title).strip().casefold()


# --- `multihop:FILE`: questions on facts of several news articles (MultiHop-RAG, Tang and Yang 2024, arXiv 24----------


UNANSWERABLE = "insufficient information"
"""How the answer of a question begins that the articles do not answer (`null_query`)."""


def load_multihop(spec: str, path: Path, split: Split) -> Dataset:
    """Every line in its order; a passage has all facts that are known of an article.

    Gold are the facts a question needs, all of them; its category is the `question_type`.
    """
    articles = Articles()
    questions = [read_question_of_multihop(id, record, articles) for id, record in unique(records(path)).items()]
    note = "the collection is the evidence of all questions, not the whole articles: easier than the published task"
    return loaded("multihop", spec, path, questions, split, corpora=sides(articles), note=note)


def read_question_of_multihop(id: str, record: Record, articles: Articles) -> Question:
    """One line; its evidence is added to the articles."""
    gold = [read_evidence(evidence, articles) for evidence in objects(record, "evidence_list")]
    answer = record.text("answer")
    answerable = not answer.casefold().startswith(UNANSWERABLE)
    return Question(
        id,
        record.text("question"),
        (answer,) if answerable else (),
        answerable,
        tuple(dict.fromkeys(gold)) if answerable else (),
        category=optional_text(record, "question_type") or None,
    )


def read_evidence(evidence: Record, articles: Articles) -> Gold:
    """The place of a fact in its article."""
    return articles.add(evidence.text("title"), evidence.text("fact"), address=optional_text(evidence, "url"))
