from __future__ import annotations

import pytest
from adapter_recipes import NOTES, QUESTION, UNANSWERABLE
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
from llama_index.postprocessor.thresher import ThresherPostprocessor
from pydantic import ValidationError

from thresher.errors import UsageError


def nodes() -> list[NodeWithScore]:
    return [
        NodeWithScore(node=TextNode(id_=name, text=text, metadata={"file": name}), score=0.1 * at)
        for at, (name, text) in enumerate(sorted(NOTES.items()))
    ]


class Everything(BaseRetriever):
    """A retriever that trusts whatever it has."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return nodes()


def test_nodes_are_put_in_order_by_a_probability() -> None:
    found = ThresherPostprocessor().postprocess_nodes(nodes(), query_str=QUESTION)
    scores = [node.score for node in found]
    assert scores == sorted(scores, reverse=True)
    assert {node.node_id for node in found[:3]} == {"lighthouse.md", "hiiumaa.md", "baltic.txt"}
    assert scores[0] > 0.8 > 0.2 > scores[3]
    assert found[0].metadata["verdict"] == "correct"
    assert found[0].metadata["confidence"] == scores[0]
    before = {node.node_id: node.score for node in nodes()}
    assert all(node.metadata["retrieval_score"] == before[node.node_id] for node in found)


def test_the_nodes_that_were_given_are_left_as_they_are() -> None:
    given = nodes()
    ThresherPostprocessor(refined=True).postprocess_nodes(given, query_str=QUESTION)
    assert given == nodes()


def test_what_does_not_answer_is_dropped_where_a_score_is_asked_for() -> None:
    judge = ThresherPostprocessor(min_score=0.3)
    assert len(judge.postprocess_nodes(nodes(), query_str=QUESTION)) == 3
    assert judge.postprocess_nodes(nodes(), query_str=UNANSWERABLE) == []
    assert len(ThresherPostprocessor(top_n=2).postprocess_nodes(nodes(), query_str=QUESTION)) == 2


def test_a_node_may_be_cut_to_its_relevant_sentences_and_keeps_its_id() -> None:
    found = ThresherPostprocessor(refined=True).postprocess_nodes(nodes(), query_str=QUESTION)
    by_id = {node.node_id: node for node in found}
    assert by_id["lighthouse.md"].text == "The Kõpu lighthouse was built in 1531."
    ((start, end),) = by_id["lighthouse.md"].metadata["spans"]
    assert NOTES["lighthouse.md"][start:end] == by_id["lighthouse.md"].text
    assert "cheese.txt" not in by_id


def test_a_chat_model_does_not_read_the_numbers() -> None:
    found = ThresherPostprocessor().postprocess_nodes(nodes(), query_str=QUESTION)
    read = found[0].node.get_content(MetadataMode.LLM)
    assert "file: " in read
    assert "confidence" not in read


def test_a_title_in_the_metadata_is_read() -> None:
    bare = NodeWithScore(node=TextNode(id_="bare", text="It was built in 1531."))
    titled = NodeWithScore(node=TextNode(id_="titled", text="It was built in 1531.", metadata={"n": "Kõpu lighthouse"}))
    found = ThresherPostprocessor(title_key="n").postprocess_nodes([bare, titled], query_str=QUESTION)
    assert [node.node_id for node in found] == ["titled", "bare"]


async def test_it_stands_behind_any_retriever_awaited_or_not() -> None:
    engine = RetrieverQueryEngine.from_args(
        Everything(), llm=MockLLM(), node_postprocessors=[ThresherPostprocessor(min_score=0.3)]
    )
    assert len(engine.query(QUESTION).source_nodes) == 3
    assert str(engine.query(UNANSWERABLE)) == "Empty Response"
    judge = ThresherPostprocessor(min_score=0.3)
    awaited = await judge.apostprocess_nodes(nodes(), query_str=QUESTION)
    assert awaited == judge.postprocess_nodes(nodes(), query_str=QUESTION)


def test_it_is_stored_and_made_again() -> None:
    judge = ThresherPostprocessor(top_n=2, min_score=0.3, title_key="name")
    again = ThresherPostprocessor.from_dict(judge.to_dict())
    assert (again.top_n, again.min_score, again.title_key) == (2, 0.3, "name")
    assert judge.to_dict()["class_name"] == "ThresherPostprocessor"


def test_what_cannot_be_judged_is_told() -> None:
    judge = ThresherPostprocessor()
    assert judge.postprocess_nodes([], query_str=QUESTION) == []
    with pytest.raises(ValueError, match="give `query_str`"):
        judge.postprocess_nodes(nodes())
    with pytest.raises(UsageError, match="the question is empty"):
        judge.postprocess_nodes(nodes(), query_str=" ")
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        ThresherPostprocessor(top_n=0)
