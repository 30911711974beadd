"""Thresher as `thresher index` and `thresher search` are without options: its default recipe, judge included.

Thresher embeds with the model it ships with and fuses as many candidates as its recipe says, so ``place.weights`` and
``place.candidates`` are not used.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.peers.measure import Place, Search, System, run

# isort: split
import thresher

COLLECTION = "scifact"
PACKAGES = ("thresher",)


def system(recipe: str, settings: dict[str, str]) -> System:
    """One recipe: what it needs is indexed, and it searches."""

    def search_in(collection: thresher.Collection, place: Place) -> Search:
        def search(question: str) -> list[str]:
            answer = collection.search(question, recipe=recipe, settings=settings, limit=place.limit).to_dict()
            return [hit["source"] for hit in answer["hits"]]

        return search

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
    run(system("corrective", {}))
