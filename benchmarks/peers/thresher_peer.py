"""Thresher: its Python API, the hybrid recipe without its cross-encoder (the others have none), the rest as it comes.

Thresher embeds with the model it ships with and fuses as many candidates as its recipe says, so ``place.weights`` and
``place.candidates`` are not used.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.peers.measure import Place, Search, System, run

# isort: split
import thresher

COLLECTION = "scifact"


def search_in(collection: thresher.Collection, place: Place) -> Search:
    """The hybrid recipe of an open collection."""

    def search(question: str) -> list[str]:
        answer = collection.search(question, recipe="hybrid", settings={"rerank": "none"}, limit=place.limit).to_dict()
        return [hit["source"] for hit in answer["hits"]]

    return search


@contextmanager
def build(place: Place) -> Iterator[Search]:
    """Add the corpus file to a new collection."""
    with thresher.open(home=place.home, collection=COLLECTION) as collection:
        collection.add(place.corpus)
        yield search_in(collection, place)


@contextmanager
def reopen(place: Place) -> Iterator[Search]:
    """Open the collection again."""
    with thresher.open(home=place.home, collection=COLLECTION) as collection:
        yield search_in(collection, place)


PACKAGES = ("thresher",)

if __name__ == "__main__":
    run(System(build, reopen, PACKAGES))
