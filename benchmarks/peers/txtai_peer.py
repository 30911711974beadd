"""txtai: one Embeddings with `hybrid`, neighbours of Faiss and BM25 joined by its own weighted sum.

It keeps identifiers, vectors and terms, not the texts: `content` is off by default.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.peers.measure import Place, Search, System, read_documents, run

# isort: split
from txtai import Embeddings


def searching(embeddings: Embeddings, place: Place) -> Search:
    """Its own search, as many as are wanted."""

    def search(question: str) -> list[str]:
        return [identifier for identifier, _ in embeddings.search(question, place.limit)]

    return search


@contextmanager
def build(place: Place) -> Iterator[Search]:
    """Embed the corpus, index its words, and save both."""
    embeddings = Embeddings(path=str(place.weights), hybrid=True)
    embeddings.index((row.identifier, row.text) for row in read_documents(place.corpus))
    embeddings.save(str(place.home))
    yield searching(embeddings, place)


@contextmanager
def reopen(place: Place) -> Iterator[Search]:
    """Load what was saved."""
    embeddings = Embeddings()
    embeddings.load(str(place.home))
    yield searching(embeddings, place)


PACKAGES = ("txtai", "faiss-cpu", "transformers", "torch")

if __name__ == "__main__":
    run(System(build, reopen, PACKAGES))
