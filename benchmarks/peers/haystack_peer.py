"""Haystack: one InMemoryDocumentStore, its BM25 and embedding retrievers, and DocumentJoiner with reciprocal ranks.

The store is saved as one JSON file; loading it counts the words of every document again.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.peers.measure import Place, Search, System, read_documents, run

# isort: split
from haystack import Document, Pipeline
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack_integrations.components.embedders.sentence_transformers import (
    SentenceTransformersDocumentEmbedder,
    SentenceTransformersTextEmbedder,
)

STORE_FILE = "store.json"


def fuse(store: InMemoryDocumentStore, place: Place) -> Search:
    """The query pipeline: embed, retrieve twice, join by reciprocal rank."""
    pipeline = Pipeline()
    embedder = SentenceTransformersTextEmbedder(model=str(place.weights), progress_bar=False)
    pipeline.add_component("embedder", embedder)
    pipeline.add_component("dense", InMemoryEmbeddingRetriever(store, top_k=place.candidates))
    pipeline.add_component("lexical", InMemoryBM25Retriever(store, top_k=place.candidates))
    joiner = DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=place.limit)
    pipeline.add_component("joiner", joiner)
    pipeline.connect("embedder.embedding", "dense.query_embedding")
    pipeline.connect("dense", "joiner")
    pipeline.connect("lexical", "joiner")

    def search(question: str) -> list[str]:
        answer = pipeline.run({"embedder": {"text": question}, "lexical": {"query": question}})
        return [document.id for document in answer["joiner"]["documents"]]

    return search


@contextmanager
def build(place: Place) -> Iterator[Search]:
    """Embed the corpus, write it to the store, and save the store."""
    documents = [Document(id=row.identifier, content=row.text) for row in read_documents(place.corpus)]
    embedder = SentenceTransformersDocumentEmbedder(model=str(place.weights), progress_bar=False)
    embedder.warm_up()
    store = InMemoryDocumentStore()
    store.write_documents(embedder.run(documents)["documents"])
    store.save_to_disk(str(place.home / STORE_FILE))
    yield fuse(store, place)


@contextmanager
def reopen(place: Place) -> Iterator[Search]:
    """Load the saved store."""
    yield fuse(InMemoryDocumentStore.load_from_disk(str(place.home / STORE_FILE)), place)


PACKAGES = ("haystack-ai", "sentence-transformers-haystack", "sentence-transformers", "torch")

if __name__ == "__main__":
    run(System(build, reopen, PACKAGES))
