from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from adapter_recipes import QUESTION, UNANSWERABLE
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
from llama_index.retrievers.thresher import ThresherRetriever

import thresher
from thresher.errors import StoreError, UsageError


class Elsewhere(BaseRetriever):
    """Another retriever, which always finds the same."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(id_="e", text=f"From elsewhere: {query_bundle.query_str}"), score=0.5)]


@pytest.fixture(scope="module")
def retriever(home: Path) -> ThresherRetriever:
    return ThresherRetriever(home=home, similarity_top_k=3)


def test_it_is_a_retriever_of_the_framework(retriever: ThresherRetriever) -> None:
    assert isinstance(retriever, BaseRetriever)


def test_a_node_says_where_it_stands_and_what_it_is_worth(retriever: ThresherRetriever) -> None:
    nodes = retriever.retrieve(QUESTION)
    assert len(nodes) == 3
    first, told = nodes[0], nodes[0].metadata
    assert "1531" in first.text
    assert json.loads(json.dumps(told)) == told
    assert Path(told["source"]).name in ("lighthouse.md", "hiiumaa.md", "baltic.txt")
    assert told["verdict"] == "correct"
    assert told["confidence"] > 0.8
    assert (first.node.start_char_idx, first.node.end_char_idx) == (told["start"], told["end"])
    assert first.score == told["score"]
    assert [node.score for node in nodes] == sorted((node.score for node in nodes), reverse=True)


def test_a_chat_model_reads_the_source_and_not_the_numbers(retriever: ThresherRetriever) -> None:
    read = retriever.retrieve(QUESTION)[0].node.get_content(MetadataMode.LLM)
    assert "source: " in read
    assert "confidence" not in read
    assert "spans" not in read


async def test_awaited_it_finds_the_same(retriever: ThresherRetriever) -> None:
    one, other = await asyncio.gather(retriever.aretrieve(QUESTION), retriever.aretrieve(QUESTION))
    assert [node.node_id for node in one] == [node.node_id for node in other]
    assert [node.text for node in one] == [node.text for node in retriever.retrieve(QUESTION)]


def test_what_does_not_answer_is_not_handed_on(home: Path, retriever: ThresherRetriever) -> None:
    assert retriever.evidence(UNANSWERABLE).verdict is thresher.Verdict.INCORRECT
    assert retriever.retrieve(UNANSWERABLE) == []
    kept = ThresherRetriever(home=home, keep_incorrect=True, settings={"min_probability": 0}).retrieve(UNANSWERABLE)
    assert kept
    assert {node.metadata["verdict"] for node in kept} == {"incorrect"}


async def test_where_the_verdict_is_incorrect_another_retriever_is_asked(home: Path) -> None:
    retriever = ThresherRetriever(home=home, fallback=Elsewhere())
    assert [node.text for node in retriever.retrieve(UNANSWERABLE)] == [f"From elsewhere: {UNANSWERABLE}"]
    assert [node.node_id for node in await retriever.aretrieve(UNANSWERABLE)] == ["e"]
    assert "1531" in retriever.retrieve(QUESTION)[0].text


def test_a_node_may_be_cut_to_what_is_evidence(home: Path, retriever: ThresherRetriever) -> None:
    whole = {node.node_id: node.text for node in retriever.retrieve(QUESTION)}
    cut = ThresherRetriever(home=home, similarity_top_k=3, refined=True).retrieve(QUESTION)
    assert cut
    for node in cut:
        start = node.metadata["start"]
        pieces = [whole[node.node_id][first - start : last - start] for first, last in node.metadata["spans"]]
        assert node.text == " … ".join(pieces)
    assert sum(len(node.text) for node in cut) < sum(map(len, whole.values()))


def test_filters_and_recipes_reach_the_search(home: Path) -> None:
    with thresher.open(home) as collection:
        retriever = ThresherRetriever(collection=collection, recipe="hybrid", where="title = 'Hiiumaa'")
        found = retriever.retrieve(QUESTION)
    assert {Path(node.metadata["source"]).name for node in found} == {"hiiumaa.md"}
    assert "verdict" not in found[0].metadata


def test_a_query_engine_answers_from_it(retriever: ThresherRetriever) -> None:
    engine = RetrieverQueryEngine.from_args(retriever, llm=MockLLM())
    assert len(engine.query(QUESTION).source_nodes) == 3
    assert str(engine.query(UNANSWERABLE)) == "Empty Response"


def test_what_cannot_be_asked_is_told(tmp_path: Path, retriever: ThresherRetriever) -> None:
    with pytest.raises(UsageError, match="the question is empty"):
        retriever.retrieve(" ")
    with pytest.raises(StoreError, match="holds no documents yet"):
        ThresherRetriever(home=tmp_path).retrieve(QUESTION)
    with pytest.raises(TypeError, match="top_k"):
        ThresherRetriever(home=tmp_path, top_k=3)
