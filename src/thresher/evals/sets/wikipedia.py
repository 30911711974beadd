"""`wikipedia:FILE`: PopQA, Natural Questions or TriviaQA over a pool of Wikipedia passages."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from thresher.evals.labels import Dataset, Gold, Question
from thresher.evals.lines import Record, digest, records
from thresher.evals.sets.evidence import pool_beside, read_pool, subject_of
from thresher.evals.sets.fields import unique
from thresher.evals.sets.loaded import loaded
from thresher.evals.splits import Split


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
