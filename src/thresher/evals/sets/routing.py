"""`routing:FILE`: does a recipe know when its collection has the answer, and when to look elsewhere?

Half of the questions keep their evidence. The evidence of the other half is taken out of the collection and put in one
of its own, so that going there, and only going there, answers them.
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
from thresher.evals.splits import Split, sha1_number
from thresher.types import Origin


def load_routing(spec: str, path: Path, split: Split) -> Dataset:
    """The questions in the order of the file; the two corpora are the same for every split."""
    material = read_material(path)
    sides, moved = divided(material.answerable)
    corpora = {
        Origin.INSIDE: Corpus(tuple(passage for id, passage in material.passages.items() if id not in moved)),
        Origin.OUTSIDE: Corpus(tuple(passage for id, passage in material.passages.items() if id in moved)),
    }
    for origin, corpus in corpora.items():
        if not corpus.passages:
            raise UsageError(
                f"no passage is left {origin}", subject=str(path), next_step="give a file with more questions"
            )
    questions = tuple(
        placed(candidate.question, sides[candidate.question.id], moved)
        for candidate in material.answerable
        if candidate.question.id in sides
    )
    conflicts = len(material.answerable) - len(questions)
    note = (
        f"{material.form}: {len(moved)} of {len(material.passages)} passages moved outside; questions left out: "
        f"{material.left_out} without a first gold passage that holds the answer, {conflicts} whose evidence is "
        "needed on the other side"
    )
    return loaded("routing", spec, path, questions, split, sha256=material.sha256, corpora=corpora, note=note)


def side_of(id: str) -> Origin:
    """The half a question belongs to: outside where sha1 of "route:" and its id is odd."""
    return Origin.OUTSIDE if sha1_number(f"route:{id}") % 2 else Origin.INSIDE


def divided(candidates: Iterable[Candidate]) -> tuple[dict[str, Origin], set[str]]:
    """Question id to side, and the passages that move outside.

    A passage may answer questions of both halves (a paragraph has several). In the order of the hash a question is
    taken when the ones before it leave its evidence where it needs it, and is left out otherwise; so every question
    inside keeps its gold passage, and nothing that answers a question outside stays.
    """
    sides: dict[str, Origin] = {}
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
        sides[candidate.question.id] = side
    return sides, moves


def placed(question: Question, side: Origin, moved: set[str]) -> Question:
    """The question with its half as category, and where each of its gold places now is."""
    gold = tuple(
        replace(place, origin=Origin.OUTSIDE if place.source in moved else Origin.INSIDE) for place in question.gold
    )
    return replace(question, category=str(side), gold=gold)
