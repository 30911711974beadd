"""A collection as the harness asks it: with fixed settings, the models loaded before the clock starts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from thresher import recipes
from thresher.collection import Collection
from thresher.errors import UsageError
from thresher.evals.labels import Question
from thresher.evals.matching import matches
from thresher.evals.splits import sha1_number
from thresher.evals.variants import parse_variant
from thresher.settings import check_known, keys, own
from thresher.types import Answer, SearchResult

WARM_UP_QUESTION = "What is this about?"

BUCKETS = 10_000
"""Questions are dealt into as many parts by their hash, so that shares are exact to a hundredth of a percent."""


class CollectionAsker:
    """Puts questions to one collection; a setting counts for the recipes that have it.

    A recipe may be a variant (`crag[upper=0.6]`), whose own settings come last and must be settings of that recipe.
    `outside` (as of `--outside`) counts for the recipes that correct, so that others can be asked in the same run; a
    place that is not there is refused at once, also where no recipe would look.

    With `degraded` (0 to 1) retrieval inside is made worse on purpose (CRAG, arXiv:2401.15884v3, Figure 3): of the
    `questions` with gold documents inside, that share may still find them; from the others these are hidden.
    """

    def __init__(
        self,
        collection: Collection,
        settings: Mapping[str, Any],
        *,
        outside: str | None = None,
        degraded: float | None = None,
        questions: Iterable[Question] = (),
    ) -> None:
        collection.check_outside(outside)
        self._collection = collection
        self._settings = dict(settings)
        self._outside = outside
        self._degraded = degraded
        self._hidden = {} if degraded is None else hidden(collection, questions, degraded)

    def settings_of(self, recipe: str) -> dict[str, Any]:
        """All settings that `recipe` runs with, and `degraded` where retrieval is.

        Raises UnknownSetting for a setting no recipe has.
        """
        check_known(self._settings, recipes.settings_keys())
        name, settings = self._own(recipe)
        worse = {} if self._degraded is None else {"degraded": self._degraded}
        return {**self._collection.settings(name, settings), **worse}

    def search(self, question: str, *, recipe: str, limit: int) -> SearchResult:
        """Ranked hits."""
        name, settings = self._own(recipe)
        where = self._hidden.get(question)
        return self._collection.search(question, recipe=name, limit=limit, where=where, settings=settings)

    def ask(self, question: str, *, recipe: str) -> Answer:
        """The answer."""
        name, settings = self._own(recipe)
        outside = self._outside if recipes.get(name).corrects else None
        where = self._hidden.get(question)
        return self._collection.ask(question, recipe=name, outside=outside, where=where, settings=settings)

    def also(self, document_id: str) -> tuple[str, ...]:
        """The other sources of a document."""
        return self._collection.also(document_id)[1:]

    def warm_up(self, recipe: str) -> None:
        """Load what a first question would load."""
        name, settings = self._own(recipe)
        self._collection.search(WARM_UP_QUESTION, recipe=name, settings=settings)

    def _own(self, recipe: str) -> tuple[str, dict[str, Any]]:
        variant = parse_variant(recipe)
        model = recipes.get(variant.recipe).settings
        check_known(variant.settings, keys(model))
        return variant.recipe, {**own(model, self._settings), **variant.settings}


def hidden(collection: Collection, questions: Iterable[Question], share: float) -> dict[str, str]:
    """The question's text to the filter that hides its gold documents, for all but `share` (0 to 1) of the questions.

    Which ones is a matter of sha1("degrade:" + id): those that find their documents at one share find them at every
    higher one. What is hidden is every document that a gold source names by any of its own sources. Questions of one
    text are asked alike, so the gold documents of all of them that are not in the share are hidden from each.
    """
    if not 0 <= share <= 1:
        raise UsageError("is not a share", subject=f"degraded {share:g}", next_step="give a number from 0 to 1")
    documents = {name: record.source for record in collection.documents() for name in (record.source, *record.also)}
    gone: dict[str, set[str]] = defaultdict(set)
    for question in questions:
        if sha1_number(f"degrade:{question.id}") % BUCKETS < share * BUCKETS:
            continue
        gold = [source for source, grade in question.relevance.items() if grade > 0]
        gone[question.question].update(documents[name] for source in gold for name in _named(source, documents))
    return {
        text: f"source NOT IN ({', '.join(map(_quoted, sorted(sources)))})" for text, sources in gone.items() if sources
    }


def _named(gold: str, sources: Mapping[str, str]) -> list[str]:
    """The sources that a gold source names: itself, or all that end with it."""
    return [gold] if gold in sources else [source for source in sources if matches(gold, source)]


def _quoted(source: str) -> str:
    """A source as a text in a filter."""
    return "'" + source.replace("'", "''") + "'"
