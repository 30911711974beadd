from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from adapter_recipes import QUESTION, UNANSWERABLE
from haystack import Pipeline
from haystack.components.retrievers.multi_query_text_retriever import MultiQueryTextRetriever
from haystack.components.routers import ConditionalRouter
from haystack_integrations.components.retrievers.thresher import ThresherRetriever

from thresher.errors import StoreError, UsageError


@pytest.fixture(scope="module")
def retriever(home: Path) -> ThresherRetriever:
    return ThresherRetriever(home, top_k=3)


def test_a_document_says_where_it_stands_and_what_it_is_worth(retriever: ThresherRetriever) -> None:
    told = retriever.run(QUESTION)
    assert told["verdict"] == "correct"
    assert len(told["documents"]) == 3
    first, meta = told["documents"][0], told["documents"][0].meta
    assert "1531" in first.content
    assert json.loads(json.dumps(meta)) == meta
    assert Path(meta["source"]).name in ("lighthouse.md", "hiiumaa.md", "baltic.txt")
    assert (meta["verdict"], meta["end"] - meta["start"]) == ("correct", len(first.content))
    assert first.score == meta["score"]
    assert meta["confidence"] > 0.8


def test_a_call_may_want_fewer_than_the_component(retriever: ThresherRetriever) -> None:
    assert len(retriever.run(QUESTION, top_k=1)["documents"]) == 1


async def test_awaited_it_finds_the_same(retriever: ThresherRetriever) -> None:
    one, other = await asyncio.gather(retriever.run_async(QUESTION), retriever.run_async(QUESTION))
    assert one == other == retriever.run(QUESTION)


def test_what_does_not_answer_is_not_handed_on(home: Path, retriever: ThresherRetriever) -> None:
    assert retriever.run(UNANSWERABLE) == {"documents": [], "verdict": "incorrect"}
    told = ThresherRetriever(home, keep_incorrect=True, settings={"min_probability": 0}).run(UNANSWERABLE)
    assert told["documents"]
    assert told["verdict"] == "incorrect"


def test_a_document_may_be_cut_to_what_is_evidence(home: Path, retriever: ThresherRetriever) -> None:
    whole = {document.id: document.content for document in retriever.run(QUESTION)["documents"]}
    cut = ThresherRetriever(home, top_k=3, refined=True).run(QUESTION)["documents"]
    assert cut
    for document in cut:
        start = document.meta["start"]
        pieces = [whole[document.id][first - start : last - start] for first, last in document.meta["spans"]]
        assert document.content == " … ".join(pieces)
    assert sum(len(document.content) for document in cut) < sum(map(len, whole.values()))


def test_filters_of_the_framework_and_of_the_component_hold_together(home: Path) -> None:
    retriever = ThresherRetriever(home, recipe="hybrid", where="kind = 'markdown'")
    everything = retriever.run(QUESTION)
    assert everything["verdict"] == "none"
    assert {document.meta["title"] for document in everything["documents"]} == {"Lighthouses", "Hiiumaa"}
    only = {"field": "meta.title", "operator": "==", "value": "Hiiumaa"}
    assert {document.meta["title"] for document in retriever.run(QUESTION, only)["documents"]} == {"Hiiumaa"}


@pytest.mark.parametrize(("question", "way"), [(QUESTION, "inside"), (UNANSWERABLE, "web")])
def test_the_verdict_sends_a_question_its_way_in_one_line(home: Path, question: str, way: str) -> None:
    routes = [
        {
            "condition": "{{ verdict == 'incorrect' }}",
            "output": "{{ query }}",
            "output_name": "web",
            "output_type": str,
        },
        {"condition": "{{ True }}", "output": "{{ query }}", "output_name": "inside", "output_type": str},
    ]
    pipeline = Pipeline()
    pipeline.add_component("retriever", ThresherRetriever(home, top_k=3))
    pipeline.add_component("router", ConditionalRouter(routes))
    pipeline.connect("retriever.verdict", "router.verdict")
    told = pipeline.run({"retriever": {"query": question}, "router": {"query": question}})
    assert told["router"] == {way: question}
    assert len(told["retriever"]["documents"]) == (3 if way == "inside" else 0)


def test_it_is_a_text_retriever_of_the_framework(retriever: ThresherRetriever) -> None:
    many = MultiQueryTextRetriever(retriever=retriever)
    found = many.run(queries=[QUESTION, "Who designed the Semmering railway?"])["documents"]
    assert any("Carl von Ghega" in (document.content or "") for document in found)
    assert any("1531" in (document.content or "") for document in found)


def test_a_pipeline_with_it_is_written_down_and_runs_again(home: Path) -> None:
    pipeline = Pipeline()
    pipeline.add_component("retriever", ThresherRetriever(home, top_k=2, settings={"min_probability": 0.1}))
    again = Pipeline.loads(pipeline.dumps())
    made = again.get_component("retriever")
    assert made.to_dict() == pipeline.get_component("retriever").to_dict()
    assert len(again.run({"retriever": {"query": QUESTION}})["retriever"]["documents"]) == 2


def test_warming_up_twice_loads_once(retriever: ThresherRetriever) -> None:
    retriever.warm_up()
    retriever.warm_up()
    assert retriever.run(QUESTION)["verdict"] == "correct"


def test_what_cannot_be_asked_is_told(tmp_path: Path, retriever: ThresherRetriever) -> None:
    with pytest.raises(UsageError, match="the question is empty"):
        retriever.run(" ")
    with pytest.raises(UsageError, match="must be at least 1"):
        retriever.run(QUESTION, top_k=0)
    with pytest.raises(StoreError, match="holds no documents yet"):
        ThresherRetriever(tmp_path).run(QUESTION)
