"""LlamaIndex: VectorStoreIndex and BM25Retriever, fused by QueryFusionRetriever with reciprocal ranks.

Each document is one node, named by its identifier; both indexes are kept in the library's own files.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.peers.measure import Place, Search, System, read_documents, run

# isort: split
from llama_index.core import StorageContext, VectorStoreIndex, load_index_from_storage
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import TextNode
from llama_index.embeddings.huggingface import HuggingFaceEmbedding
from llama_index.retrievers.bm25 import BM25Retriever


def fuse(index: VectorStoreIndex, lexical: BM25Retriever, place: Place) -> Search:
    """Dense and lexical retrieval joined by reciprocal rank, with the question as the only query."""
    fusion = QueryFusionRetriever(
        [index.as_retriever(similarity_top_k=place.candidates), lexical],
        llm=MockLLM(),  # never called with one query; without it the library asks for an OpenAI key
        num_queries=1,
        mode="reciprocal_rerank",
        similarity_top_k=place.limit,
    )

    def search(question: str) -> list[str]:
        return [found.node.node_id for found in fusion.retrieve(question)]

    return search


@contextmanager
def build(place: Place) -> Iterator[Search]:
    """Embed the corpus, index its words, and persist both."""
    nodes = [TextNode(id_=row.identifier, text=row.text) for row in read_documents(place.corpus)]
    index = VectorStoreIndex(nodes, embed_model=HuggingFaceEmbedding(model_name=str(place.weights)))
    lexical = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=place.candidates)
    index.storage_context.persist(persist_dir=str(place.home / "vectors"))
    lexical.persist(str(place.home / "words"))
    yield fuse(index, lexical, place)


@contextmanager
def reopen(place: Place) -> Iterator[Search]:
    """Load both persisted indexes."""
    storage = StorageContext.from_defaults(persist_dir=str(place.home / "vectors"))
    index = load_index_from_storage(storage, embed_model=HuggingFaceEmbedding(model_name=str(place.weights)))
    lexical = BM25Retriever.from_persist_dir(str(place.home / "words"))
    lexical.similarity_top_k = place.candidates
    yield fuse(index, lexical, place)


PACKAGES = (
    "llama-index-core",
    "llama-index-retrievers-bm25",
    "llama-index-embeddings-huggingface",
    "bm25s",
    "sentence-transformers",
    "torch",
)

if __name__ == "__main__":
    run(System(build, reopen, PACKAGES))
