"""What a kind of study is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from thresher.evals.report.section import Section
from thresher.evals.studies.folder import Study, StudyRow
from thresher.evals.studies.materials import Materials
from thresher.settings import Frozen


def of_questions(materials: Materials) -> int:
    """A row for each question."""
    return len(materials.dataset.questions)


def nothing_more(materials: Materials) -> Mapping[str, Any]:
    """Nothing is measured on but the questions and the collection."""
    return {}


@dataclass(frozen=True, slots=True)
class Kind:
    """How something is measured, and what is said of it."""

    name: str
    title: str
    settings: type[Frozen]
    """Its own; those of recipes can be given beside them."""
    recipes: Callable[[Any], Sequence[str]]
    """The recipes it uses, by its settings; variants as in `eval run`."""
    measure: Callable[[Materials, Set[str]], Iterator[StudyRow]]
    """The rows whose ids are not among those done."""
    section: Callable[[Sequence[StudyRow], Study], Section]
    """What at least one row says."""
    number: Callable[[Materials], int] = of_questions
    """How many rows there will be."""
    data: Callable[[Materials], Mapping[str, Any]] = nothing_more
    """What it is measured on besides the questions and the collection: name to sha256 or number."""
    needs_collection: bool = True
    """Whether the questions are put to a collection that is there already."""
