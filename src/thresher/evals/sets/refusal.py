"""`refusal:FILE`: does a recipe refuse what its collection cannot answer, and answer what it can?

A near miss is the hardest to refuse: every passage that answers the question was taken out, its neighbours stayed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from thresher.errors import UsageError
from thresher.evals.corpora import Corpus
from thresher.evals.labels import Dataset, Question
from thresher.evals.sets.evidence import Candidate, read_material
from thresher.evals.sets.loaded import loaded
from thresher.evals.sets.off_topic import OFF_TOPIC
from thresher.evals.splits import Split, members, sha1_number
from thresher.types import Origin

NEAR_MISSES, UNANSWERABLE, OFF_TOPIC_QUESTIONS, ANSWERABLE = 50, 50, 20, 100
"""Questions of each kind, where there are as many."""

MOST_EVIDENCE = 3
"""Passages a near miss may take out: an answer that stands all over an article would take its neighbours along."""


def load_refusal(spec: str, path: Path, split: Split) -> Dataset:
    """Near misses, questions marked as unanswerable (SQuAD), off-topic and answerable ones, in this order.

    All are chosen within the split; the passages are those of the whole file without the near misses' evidence.
    """
    material = read_material(path)
    candidates = in_order(material.answerable, split)
    # A third and two thirds: as the numbers wanted, also where there are fewer questions.
    missing = [one for one in candidates if draw(one) % 3 == 0 and len(one.evidence) <= MOST_EVIDENCE][:NEAR_MISSES]
    gone = {id for one in missing for id in one.evidence}
    kept = [one for one in candidates if draw(one) % 3 and one.gold not in gone][:ANSWERABLE]
    marked = [one for one in in_order(material.unanswerable, split) if one.gold not in gone][:UNANSWERABLE]
    passages = tuple(passage for id, passage in material.passages.items() if id not in gone)
    if not passages:
        raise UsageError("no passage is left", subject=str(path), next_step="give a file with more questions")
    questions = (
        *(replace(one.question, category="near-miss", answerable=False, gold=()) for one in missing),
        *(replace(one.question, category="unanswerable") for one in marked),
        *off_topic(split),
        *(replace(present(one.question, gone), category="answerable") for one in kept),
    )
    note = f"{material.form}: {len(gone)} of {len(material.passages)} passages taken out for the near misses"
    if not material.unanswerable:
        note += "; the file marks no question as unanswerable, so there are none of that kind"
    corpora = {Origin.INSIDE: Corpus(passages)}
    return loaded("refusal", spec, path, questions, split, sha256=material.sha256, corpora=corpora, note=note)


def in_order(candidates: Iterable[Candidate], split: Split) -> list[Candidate]:
    """The candidates of a split in the order of their draw."""
    chosen = [one for one in candidates if members([one.question], split)]
    return sorted(chosen, key=draw)


def draw(candidate: Candidate) -> int:
    """A question's place in the drawing: sha1 of "refusal:" and its id."""
    return sha1_number(f"refusal:{candidate.question.id}")


def off_topic(split: Split) -> tuple[Question, ...]:
    """The off-topic questions of a split, drawn as the others."""
    written = [
        Question(f"off-topic-{number}", text, answerable=False, category="off-topic")
        for number, text in enumerate(OFF_TOPIC, start=1)
    ]
    drawn = sorted(members(written, split), key=lambda question: sha1_number(f"refusal:{question.id}"))
    return tuple(drawn[:OFF_TOPIC_QUESTIONS])


def present(question: Question, gone: set[str]) -> Question:
    """The question with the gold places that are still in the collection."""
    return replace(question, gold=tuple(place for place in question.gold if place.source not in gone))
