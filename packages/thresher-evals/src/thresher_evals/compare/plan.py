"""The plan of a comparison: what is asked, and how answers are weighed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thresher.protocols import Progress
from thresher_evals.asker import CollectionAsker
from thresher_evals.compare.recommend import WRONG_COSTS
from thresher_evals.dataset import Dataset, Question
from thresher_evals.rows import Row, read_rows
from thresher_evals.runner import run

if TYPE_CHECKING:
    from thresher.collection import Collection

OFF, ON = ("rag", "hybrid"), ("crag", "ecrag", "corrective")
"""Default recipes: without correction and with it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Questions, recipes, and the cost of a wrong answer."""

    collection: Collection
    dataset: Dataset
    out: Path
    recipes: Sequence[str] = (*OFF, *ON)
    baseline: str = OFF[0]
    settings: Mapping[str, Any] | None = None
    outside: str = "none"
    wrong_costs: float = WRONG_COSTS
    tune: bool = True
    """Also look for better bounds of `corrective`, and calibrate it on half of the questions."""
    resume: bool = False
    parallel: int = 1
    seed: int = 0
    command: str | None = None
    """Command line that repeats the comparison, for the report."""

    def asker(self, collection: Collection | None = None) -> CollectionAsker:
        """Asks the collection."""
        return CollectionAsker(collection or self.collection, self.settings or {}, outside=self.outside)

    def ask(
        self,
        asker: CollectionAsker,
        questions: Sequence[Question],
        names: Sequence[str],
        out: Path,
        *,
        resume: bool = True,
        progress: Progress | None = None,
        seen: Callable[[Row], None] = lambda _: None,
    ) -> dict[str, list[Row]]:
        """Ask the recipes; questions with a row in the folder are skipped."""
        described = {recipe: asker.settings_of(recipe) for recipe in names}
        for recipe in names:
            asker.warm_up(recipe)
        run(
            asker,
            replace(self.dataset, questions=tuple(questions)),
            names,
            out,
            resume=resume,
            settings=described,
            collection=self.collection.name,
            outside=self.outside,
            parallel=self.parallel,
            command=self.command,
            progress=progress,
            seen=seen,
        )
        return {recipe: read_rows(out, recipe) for recipe in names}
