from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from adapter_recipes import QUESTION, UNANSWERABLE
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough
from langchain_thresher import ThresherRetriever
from pydantic import ValidationError

import thresher
from thresher.errors import StoreError, UsageError


class Elsewhere(BaseRetriever):
    """Another retriever, which always finds the same."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [Document(f"From elsewhere: {query}")]


@pytest.fixture(scope="module")
def retriever(home: Path) -> ThresherRetriever:
    return ThresherRetriever(home=home)


def test_a_document_says_where_it_stands_and_what_it_is_worth(retriever: ThresherRetriever) -> None:
    first = retriever.invoke(QUESTION)[0]
    assert "1531" in first.page_content
    told = first.metadata
    assert json.loads(json.dumps(told)) == told
    assert Path(told["source"]).name in ("lighthouse.md", "hiiumaa.md", "baltic.txt")
    assert (told["verdict"], told["start"]) == ("correct", 0)
    assert told["end"] == len(first.page_content)
    assert 0 < told["score"] <= 1
    assert told["scale"] == "judge and rank [0, 1]"
    assert told["confidence"] > 0.8
    assert told["locator"]
    assert first.id


async def test_awaited_it_finds_the_same(retriever: ThresherRetriever) -> None:
    one, other = await asyncio.gather(retriever.ainvoke(QUESTION), retriever.ainvoke(QUESTION, k=1))
    assert one == retriever.invoke(QUESTION)
    assert other == one[:1]


def test_what_does_not_answer_is_not_handed_on(home: Path, retriever: ThresherRetriever) -> None:
    asked = "Which composer wrote the lighthouse opera Aida?"
    assert retriever.evidence(asked).verdict is thresher.Verdict.INCORRECT
    assert retriever.invoke(asked) == []
    kept = ThresherRetriever(home=home, keep_incorrect=True, settings={"min_probability": 0}).invoke(asked)
    assert kept
    assert {document.metadata["verdict"] for document in kept} == {"incorrect"}


async def test_where_the_verdict_is_incorrect_another_retriever_is_asked(home: Path) -> None:
    retriever = ThresherRetriever(home=home, fallback=Elsewhere())
    (found,) = retriever.invoke(UNANSWERABLE)
    assert found.page_content == f"From elsewhere: {UNANSWERABLE}"
    assert await retriever.ainvoke(UNANSWERABLE) == [found]
    assert "1531" in retriever.invoke(QUESTION)[0].page_content


def test_a_document_may_be_cut_to_what_is_evidence(home: Path, retriever: ThresherRetriever) -> None:
    whole = {document.id: document.page_content for document in retriever.invoke(QUESTION)}
    cut = ThresherRetriever(home=home, refined=True).invoke(QUESTION)
    assert cut
    for document in cut:
        pieces = [
            whole[document.id][start - document.metadata["start"] : end - document.metadata["start"]]
            for start, end in document.metadata["spans"]
        ]
        assert document.page_content == " … ".join(pieces)
    assert sum(map(len, (document.page_content for document in cut))) < sum(map(len, whole.values()))


def test_filters_recipes_and_settings_reach_the_search(home: Path) -> None:
    found = ThresherRetriever(home=home, recipe="hybrid", where="title = 'Hiiumaa'").invoke(QUESTION)
    assert {Path(document.metadata["source"]).name for document in found} == {"hiiumaa.md"}
    assert "verdict" not in found[0].metadata
    linked = ThresherRetriever(home=home, settings={"public_url": "https://docs.example.org"}).invoke(QUESTION)
    assert linked[0].metadata["url"].startswith("https://docs.example.org/d/default/")


def test_an_open_collection_may_be_given(home: Path) -> None:
    with thresher.open(home) as collection:
        assert ThresherRetriever(collection=collection, k=1).invoke(QUESTION)


def test_several_questions_are_asked_at_once(retriever: ThresherRetriever) -> None:
    answered, unanswered, other = retriever.batch([QUESTION, UNANSWERABLE, "Who designed the Semmering railway?"])
    assert len(answered) >= 3
    assert unanswered == []
    assert "Carl von Ghega" in other[0].page_content


def test_it_is_a_step_of_a_chain(retriever: ThresherRetriever) -> None:
    chain = RunnablePassthrough() | retriever | (lambda documents: [one.metadata["verdict"] for one in documents])
    assert set(chain.invoke(QUESTION)) == {"correct"}


def test_what_cannot_be_asked_is_told(tmp_path: Path, retriever: ThresherRetriever) -> None:
    with pytest.raises(UsageError, match="the question is empty"):
        retriever.invoke(" ")
    with pytest.raises(StoreError, match="holds no documents yet"):
        ThresherRetriever(home=tmp_path).invoke(QUESTION)
    with pytest.raises(ValidationError, match="top_k"):
        ThresherRetriever(home=tmp_path, top_k=3)
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        ThresherRetriever(home=tmp_path, k=0)
