"""Thresher as `thresher index` and `thresher search` are without options: its default recipe, judge included.

Thresher embeds with the model it ships with and fuses as many candidates as its recipe says, so ``place.weights`` and
``place.candidates`` are not used.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from benchmarks.peers.measure import Place, Search, System, run

# isort: split
import thresher

COLLECTION = "scifact"
PACKAGES = ("thresher",)


Looked = Callable[[thresher.Collection, str, str, int], Sequence[str]]
"""Of a collection: question, recipe and number of documents to their identifiers."""


def found(
    collection: thresher.Collection, question: str, recipe: str, limit: int, settings: Mapping[str, str] | None = None
) -> list[str]:
    """The documents of a search."""
    hits = collection.search(question, recipe=recipe, settings=settings, limit=limit).to_dict()["hits"]
    return [hit["source"] for hit in hits]


def cited(collection: thresher.Collection, question: str, recipe: str, limit: int) -> list[str]:
    """The documents that an answer shows, its first passage first."""
    answer = collection.ask(question, recipe=recipe)
    shown = [*answer.citations, *(other.citation for other in answer.alternatives)]
    return [citation.source for citation in shown][:limit]


def system(recipe: str, look: Looked) -> System:
    """One recipe: what it needs is indexed, and it is asked."""

    def search_in(collection: thresher.Collection, place: Place) -> Search:
        return lambda question: look(collection, question, recipe, place.limit)

    @contextmanager
    def build(place: Place) -> Iterator[Search]:
        with thresher.open(home=place.home, collection=COLLECTION) as collection:
            collection.add(place.corpus, recipe=recipe)
            yield search_in(collection, place)

    @contextmanager
    def reopen(place: Place) -> Iterator[Search]:
        with thresher.open(home=place.home, collection=COLLECTION) as collection:
            yield search_in(collection, place)

    return System(build, reopen, PACKAGES)


if __name__ == "__main__":
    run(system("corrective", found))
