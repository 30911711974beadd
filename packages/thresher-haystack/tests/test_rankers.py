from __future__ import annotations

import pytest
from adapter_recipes import NOTES, QUESTION, UNANSWERABLE
from haystack import Document, Pipeline
from haystack_integrations.components.rankers.thresher import ThresherRanker

from thresher.errors import UsageError

DOCUMENTS = [Document(id=name, content=text, meta={"file": name}) for name, text in sorted(NOTES.items())]


def test_documents_are_put_in_order_by_a_probability_with_a_verdict() -> None:
    told = ThresherRanker().run(QUESTION, DOCUMENTS)
    found = told["documents"]
    scores = [document.score for document in found]
    assert scores == sorted(scores, reverse=True)
    assert {document.id for document in found[:3]} == {"lighthouse.md", "hiiumaa.md", "baltic.txt"}
    assert scores[0] > 0.8 > 0.2 > scores[3]
    assert told["verdict"] == found[0].meta["verdict"] == "correct"
    assert found[0].meta["confidence"] == scores[0]
    assert found[0].meta["file"] == found[0].id


def test_the_documents_that_were_given_are_left_as_they_are() -> None:
    ThresherRanker(refined=True).run(QUESTION, DOCUMENTS)
    assert all(document.score is None and document.meta.keys() == {"file"} for document in DOCUMENTS)


def test_what_does_not_answer_is_dropped_and_the_verdict_stays() -> None:
    ranker = ThresherRanker(min_score=0.3)
    assert len(ranker.run(QUESTION, DOCUMENTS)["documents"]) == 3
    assert ranker.run(UNANSWERABLE, DOCUMENTS) == {"documents": [], "verdict": "incorrect"}
    assert ranker.run(QUESTION, []) == {"documents": [], "verdict": "incorrect"}


def test_a_call_may_want_fewer_than_the_component() -> None:
    assert len(ThresherRanker(2).run(QUESTION, DOCUMENTS)["documents"]) == 2
    assert len(ThresherRanker(2).run(QUESTION, DOCUMENTS, top_k=1)["documents"]) == 1


def test_a_document_may_be_cut_to_its_relevant_sentences() -> None:
    found = {document.id: document for document in ThresherRanker(refined=True).run(QUESTION, DOCUMENTS)["documents"]}
    assert found["lighthouse.md"].content == "The Kõpu lighthouse was built in 1531."
    ((start, end),) = found["lighthouse.md"].meta["spans"]
    assert NOTES["lighthouse.md"][start:end] == found["lighthouse.md"].content
    assert "cheese.txt" not in found


def test_a_title_in_the_meta_is_read_and_a_document_without_text_is_no_error() -> None:
    bare = Document(id="bare", content="It was built in 1531.")
    titled = Document(id="titled", content="It was built in 1531.", meta={"name": "Kõpu lighthouse"})
    empty = Document(id="empty", meta={"name": "a picture"})
    found = ThresherRanker(title_field="name").run(QUESTION, [empty, bare, titled])["documents"]
    assert [document.id for document in found] == ["titled", "bare", "empty"]


async def test_awaited_it_says_the_same() -> None:
    ranker = ThresherRanker(min_score=0.3)
    assert await ranker.run_async(QUESTION, DOCUMENTS) == ranker.run(QUESTION, DOCUMENTS)


def test_it_is_stored_and_made_again() -> None:
    ranker = ThresherRanker(3, min_score=0.3, refined=True, title_field="name")
    again = ThresherRanker.from_dict(ranker.to_dict())
    assert again.to_dict() == ranker.to_dict()
    assert ranker.to_dict()["init_parameters"] == {
        "top_k": 3,
        "min_score": 0.3,
        "refined": True,
        "title_field": "name",
    }


def test_a_pipeline_with_it_is_written_down_and_runs_again() -> None:
    pipeline = Pipeline()
    pipeline.add_component("ranker", ThresherRanker(min_score=0.3))
    again = Pipeline.loads(pipeline.dumps())
    told = again.run({"ranker": {"query": QUESTION, "documents": DOCUMENTS}})
    assert len(told["ranker"]["documents"]) == 3


def test_warming_up_twice_loads_once() -> None:
    ranker = ThresherRanker()
    ranker.warm_up()
    ranker.warm_up()
    assert ranker.run(QUESTION, DOCUMENTS)["verdict"] == "correct"


def test_what_cannot_be_judged_is_told() -> None:
    with pytest.raises(UsageError, match="the question is empty"):
        ThresherRanker().run(" ", DOCUMENTS)
    with pytest.raises(UsageError, match="must be at least 1"):
        ThresherRanker().run(QUESTION, DOCUMENTS, top_k=0)
    with pytest.raises(UsageError, match="from 0 to 1"):
        ThresherRanker(min_score=2)
