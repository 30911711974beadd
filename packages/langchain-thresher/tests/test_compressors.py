from __future__ import annotations

import pytest
from adapter_recipes import NOTES, QUESTION, UNANSWERABLE
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_thresher import ThresherCompressor
from pydantic import ValidationError

from thresher.errors import UsageError

DOCUMENTS = [Document(text, id=name, metadata={"source": name}) for name, text in sorted(NOTES.items())]


class Everything(BaseRetriever):
    """A retriever that trusts whatever it has."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return DOCUMENTS


def test_documents_are_put_in_order_by_a_probability() -> None:
    found = ThresherCompressor().compress_documents(DOCUMENTS, QUESTION)
    scores = [document.metadata["relevance_score"] for document in found]
    assert scores == sorted(scores, reverse=True)
    assert len(found) == len(DOCUMENTS)
    assert {found[at].id for at in range(3)} == {"lighthouse.md", "hiiumaa.md", "baltic.txt"}
    assert scores[0] > 0.8 > 0.2 > scores[3]
    assert found[0].metadata["verdict"] == "correct"
    assert found[0].metadata["confidence"] == scores[0]


def test_the_documents_that_were_given_are_left_as_they_are() -> None:
    ThresherCompressor(refined=True).compress_documents(DOCUMENTS, QUESTION)
    assert all(document.metadata.keys() == {"source"} for document in DOCUMENTS)
    assert [document.page_content for document in DOCUMENTS] == [text for _, text in sorted(NOTES.items())]


def test_what_does_not_answer_is_dropped_where_a_score_is_asked_for() -> None:
    compressor = ThresherCompressor(min_score=0.3)
    assert len(compressor.compress_documents(DOCUMENTS, QUESTION)) == 3
    assert compressor.compress_documents(DOCUMENTS, UNANSWERABLE) == []
    assert len(ThresherCompressor(top_n=2).compress_documents(DOCUMENTS, QUESTION)) == 2


def test_a_document_may_be_cut_to_its_relevant_sentences() -> None:
    found = ThresherCompressor(refined=True).compress_documents(DOCUMENTS, QUESTION)
    by_name = {document.id: document for document in found}
    assert by_name["lighthouse.md"].page_content == "The Kõpu lighthouse was built in 1531."
    ((start, end),) = by_name["lighthouse.md"].metadata["spans"]
    assert NOTES["lighthouse.md"][start:end] == by_name["lighthouse.md"].page_content
    assert "cheese.txt" not in by_name


def test_a_title_in_the_metadata_is_read() -> None:
    bare = Document("It was built in 1531.")
    titled = Document("It was built in 1531.", metadata={"name": "Kõpu lighthouse"})
    found = ThresherCompressor(title_key="name").compress_documents([bare, titled], QUESTION)
    assert found[0].metadata["name"] == "Kõpu lighthouse"
    assert found[0].metadata["relevance_score"] > found[1].metadata["relevance_score"] + 0.2


async def test_it_stands_behind_any_retriever_awaited_or_not() -> None:
    corrected = ContextualCompressionRetriever(
        base_retriever=Everything(), base_compressor=ThresherCompressor(min_score=0.3)
    )
    found = corrected.invoke(QUESTION)
    assert len(found) == 3
    assert await corrected.ainvoke(QUESTION) == found
    assert corrected.invoke(UNANSWERABLE) == []


def test_what_cannot_be_judged_is_told() -> None:
    assert ThresherCompressor().compress_documents([], QUESTION) == []
    with pytest.raises(UsageError, match="the question is empty"):
        ThresherCompressor().compress_documents(DOCUMENTS, "")
    with pytest.raises(ValidationError, match="less than or equal to 1"):
        ThresherCompressor(min_score=2)
