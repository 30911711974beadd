"""`biography:FILE`: long answers about people, whose every fact is checked (FActScore, Min et al. 2023, 2305.14251)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from thresher.evals.corpora import Corpus, Passage
from thresher.evals.labels import Dataset, Question
from thresher.evals.lines import digest, records
from thresher.evals.sets.evidence import pool_beside, read_pool
from thresher.evals.sets.fields import unique
from thresher.evals.sets.loaded import loaded
from thresher.evals.splits import Split
from thresher.types import Origin

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
