"""Datasets derived from a question file and its passages: `routing` and `refusal`.

`routing:FILE`: does a recipe know when its collection has the answer, and when to look elsewhere? The evidence of half
of the questions is moved from the collection into a second one, and only looking there answers them.

`refusal:FILE`: does a recipe refuse what its collection cannot answer, and answer what it can? A near miss is the
hardest to refuse: the passages that answer it were removed, their neighbours stayed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from thresher.errors import UsageError
from thresher.types import Origin
from thresher_evals.dataset import Corpus, Question, Split, members, sha1_number
from thresher_evals.datasets.open_domain import Candidate, read_material
from thresher_evals.datasets.records import Content

# --- routing ----------------------------------------------------------------------------------------------------------


def load_routing(path: Path, split: Split) -> Content:
    """The questions in file order; both corpora are the same for every split."""
    material = read_material(path)
    halves, moved = divided(material.answerable)
    corpora = {
        origin: Corpus(
            tuple(passage for id, passage in material.passages.items() if (id in moved) == (origin is Origin.OUTSIDE))
        )
        for origin in Origin
    }
    for origin, corpus in corpora.items():
        if not corpus.passages:
            raise UsageError(
                f"no passage is left {origin}", subject=str(path), next_step="give a file with more questions"
            )
    questions = [
        placed(candidate.question, halves[candidate.question.id], moved)
        for candidate in material.answerable
        if candidate.question.id in halves
    ]
    note = (
        f"{material.form}: {len(moved)} of {len(material.passages)} passages moved outside; questions left out: "
        f"{material.left_out} without a first gold passage that holds the answer, "
        f"{len(material.answerable) - len(questions)} whose evidence is needed on the other side"
    )
    return Content(questions, files=material.files, corpora=corpora, note=note)


def side_of(id: str) -> Origin:
    """The half of a question: outside if sha1 of "route:" and its id is odd."""
    return Origin.OUTSIDE if sha1_number(f"route:{id}") % 2 else Origin.INSIDE


def divided(candidates: Iterable[Candidate]) -> tuple[dict[str, Origin], set[str]]:
    """Question id to side, and the passages that move outside.

    A passage may answer questions of both halves. Questions are taken in hash order; one whose evidence is already
    needed on the other side is left out. So every question inside keeps its gold passage, and no passage inside answers
    a question outside.
    """
    halves: dict[str, Origin] = {}
    stays: set[str] = set()
    moves: set[str] = set()
    for candidate in sorted(candidates, key=lambda one: sha1_number(f"route:{one.question.id}")):
        side = side_of(candidate.question.id)
        if side is Origin.OUTSIDE and stays.isdisjoint(candidate.evidence):
            moves.update(candidate.evidence)
        elif side is Origin.INSIDE and candidate.gold not in moves:
            stays.add(candidate.gold)
        else:
            continue
        halves[candidate.question.id] = side
    return halves, moves


def placed(question: Question, side: Origin, moved: set[str]) -> Question:
    """The question with its half as category, and the current origin of its gold passages."""
    gold = tuple(
        replace(place, origin=Origin.OUTSIDE if place.source in moved else Origin.INSIDE) for place in question.gold
    )
    return replace(question, category=str(side), gold=gold)


# --- refusal ----------------------------------------------------------------------------------------------------------

OFF_TOPIC = tuple(Path(__file__).with_name("off_topic.txt").read_text(encoding="utf-8").splitlines())
"""Questions that no public text answers. Their order is in their ids: append new ones."""

NEAR_MISSES, UNANSWERABLE, OFF_TOPIC_QUESTIONS, ANSWERABLE = 50, 50, 20, 100
"""Questions of each kind at most."""

MOST_EVIDENCE = 3
"""Passages that a near miss may remove: an answer found all over an article would remove its neighbours too."""


def load_refusal(path: Path, split: Split) -> Content:
    """Near misses, questions marked as unanswerable (SQuAD), off-topic and answerable ones, in this order.

    All are chosen within the split; the passages are those of the whole file without the near misses' evidence.
    """
    material = read_material(path)
    candidates = drawn(material.answerable, split)
    # A third and two thirds: the wanted ratio, also with fewer questions.
    missing = [one for one in candidates if draw(one) % 3 == 0 and len(one.evidence) <= MOST_EVIDENCE][:NEAR_MISSES]
    gone = {id for one in missing for id in one.evidence}
    kept = [one for one in candidates if draw(one) % 3 and one.gold not in gone][:ANSWERABLE]
    marked = [one for one in drawn(material.unanswerable, split) if one.gold not in gone][:UNANSWERABLE]
    written = [Candidate(Question(f"off-topic-{n}", text), "", ()) for n, text in enumerate(OFF_TOPIC, start=1)]
    passages = tuple(passage for id, passage in material.passages.items() if id not in gone)
    if not passages:
        raise UsageError("no passage is left", subject=str(path), next_step="give a file with more questions")
    questions = (
        *(replace(one.question, category="near-miss", answerable=False, gold=()) for one in missing),
        *(replace(one.question, category="unanswerable") for one in marked),
        *(
            replace(one.question, category="off-topic", answerable=False)
            for one in drawn(written, split)[:OFF_TOPIC_QUESTIONS]
        ),
        *(replace(present(one.question, gone), category="answerable") for one in kept),
    )
    note = f"{material.form}: {len(gone)} of {len(material.passages)} passages taken out for the near misses"
    if not material.unanswerable:
        note += "; the file marks no question as unanswerable, so there are none of that kind"
    return Content(questions, files=material.files, corpora={Origin.INSIDE: Corpus(passages)}, note=note)


def drawn(candidates: Iterable[Candidate], split: Split) -> list[Candidate]:
    """The candidates of a split, in draw order."""
    return sorted((one for one in candidates if members([one.question], split)), key=draw)


def draw(candidate: Candidate) -> int:
    """The draw number of a question: sha1 of "refusal:" and its id."""
    return sha1_number(f"refusal:{candidate.question.id}")


def present(question: Question, gone: set[str]) -> Question:
    """The question with the gold passages still in the collection."""
    return replace(question, gold=tuple(place for place in question.gold if place.source not in gone))
