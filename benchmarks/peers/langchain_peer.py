"""LangChain: Chroma and BM25Retriever, fused by EnsembleRetriever with equal weights.

Chroma keeps the texts and the vectors; BM25 has no persistence of its own and is rebuilt from Chroma's texts.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.peers.measure import Place, Search, System, read_documents, run

# isort: split
from langchain_chroma import Chroma
from langchain_classic.retrievers import EnsembleRetriever
from langchain_community.retrievers import BM25Retriever
from langchain_core.documents import Document
from langchain_huggingface import HuggingFaceEmbeddings


def open_store(place: Place) -> Chroma:
    """The persistent collection, empty at first."""
    embeddings = HuggingFaceEmbeddings(model_name=str(place.weights))
    return Chroma(embedding_function=embeddings, persist_directory=str(place.home))


def fuse(store: Chroma, documents: list[Document], place: Place) -> Search:
    """Dense and lexical retrieval joined by weighted reciprocal rank."""
    dense = store.as_retriever(search_kwargs={"k": place.candidates})
    lexical = BM25Retriever.from_documents(documents, k=place.candidates)
    ensemble = EnsembleRetriever(retrievers=[dense, lexical], weights=[0.5, 0.5])

    def search(question: str) -> list[str]:
        return [document.metadata["source"] for document in ensemble.invoke(question)[: place.limit]]

    return search


@contextmanager
def build(place: Place) -> Iterator[Search]:
    """Embed and store the corpus."""
    rows = read_documents(place.corpus)
    documents = [Document(row.text, metadata={"source": row.identifier}) for row in rows]
    store = open_store(place)
    store.add_documents(documents)
    yield fuse(store, documents, place)


@contextmanager
def reopen(place: Place) -> Iterator[Search]:
    """Open the stored collection and rebuild BM25 from its texts."""
    store = open_store(place)
    stored = store.get()
    pairs = zip(stored["documents"], stored["metadatas"], strict=True)
    yield fuse(store, [Document(text, metadata=metadata) for text, metadata in pairs], place)


PACKAGES = (
    "langchain-classic",
    "langchain-community",
    "langchain-core",
    "langchain-chroma",
    "langchain-huggingface",
    "chromadb",
    "rank-bm25",
    "sentence-transformers",
    "torch",
)

if __name__ == "__main__":
    run(System(build, reopen, PACKAGES))
