"""`multihop:FILE`: questions on facts of several news articles (MultiHop-RAG, Tang and Yang 2024, arXiv 2401.15391)."""

from __future__ import annotations

from pathlib import Path

from thresher.evals.labels import Dataset, Gold, Question
from thresher.evals.lines import Record, records
from thresher.evals.sets.fields import objects, optional_text, unique
from thresher.evals.sets.gathering import Articles, sides
from thresher.evals.sets.loaded import loaded
from thresher.evals.splits import Split

UNANSWERABLE = "insufficient information"
"""How the answer of a question begins that the articles do not answer (`null_query`)."""


def load_multihop(spec: str, path: Path, split: Split) -> Dataset:
    """Every line in its order; a passage has all facts that are known of an article.

    Gold are the facts a question needs, all of them; its category is the `question_type`.
    """
    articles = Articles()
    questions = [read_question(id, record, articles) for id, record in unique(records(path)).items()]
    note = "the collection is the evidence of all questions, not the whole articles: easier than the published task"
    return loaded("multihop", spec, path, questions, split, corpora=sides(articles), note=note)


def read_question(id: str, record: Record, articles: Articles) -> Question:
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
