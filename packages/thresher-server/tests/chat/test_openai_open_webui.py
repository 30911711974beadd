"""What Open WebUI makes of a streamed answer, by a double of its middleware."""

from __future__ import annotations

from typing import Any

import httpx
import webui
from chatting import FERRY, UNANSWERED, WRITTEN, Modelled, asked, writes

from tests.servers.own import Running
from thresher.answer import Answer
from thresher.types import PROBABILITY, Citation, Score
from thresher_server.openai.open_webui import sources


def shown(client: httpx.Client, body: dict[str, Any]) -> webui.Shown:
    streamed = {**body, "stream": True}
    with client.stream("POST", "/v1/chat/completions", json=streamed, headers=webui.HEADERS) as reply:
        return webui.middleware(reply.iter_lines())


def test_the_steps_are_seen_as_they_end_and_the_last_one_is_done(served: Running) -> None:
    told = shown(served.client, asked())
    assert [one["description"] for one in told.statuses] == [
        "Searching default",
        "4 passages found",
        "3 passages judged, 2 kept",
        "The documents answer it (88%)",
        "Answering from 2 passages",
        "Answered from 1 passage",
    ]
    assert [one["done"] for one in told.statuses] == [False] * 5 + [True]


def test_a_marker_opens_the_passage_it_stands_for(served: Running) -> None:
    told = shown(served.client, asked("Who rebuilt the lamp and how long is the railway?"))
    numbers = webui.markers(told.content)
    assert numbers[:2] == [1, 2]
    assert {source["source"]["id"] for source in told.sources} == {
        webui.clicked(told, number)["source"]["id"] for number in numbers
    }
    assert "Ada Holm" in webui.clicked(told, 1)["document"][0]
    assert "24 kilometres long" in webui.clicked(told, 2)["document"][0]
    assert webui.clicked(told, 2)["source"]["name"] == "The railway (rail.md)"
    assert webui.clicked(told, 2)["source"]["url"].startswith(f"{served.url}/d/default/")
    assert webui.shows_percent(webui.grouped(told.sources))


def test_passages_of_one_document_keep_their_numbers(modelled: Modelled) -> None:
    with modelled(writes(WRITTEN)) as (one, _):
        told = shown(one.client, asked())
    answer, _, beside = told.content.partition("\n\nOther passages that may answer:\n")
    assert (webui.markers(answer), webui.markers(beside)) == ([1, 2, 2], [3])  # one sentence is not supported
    assert len(webui.grouped(told.sources)) == 3
    crossing = webui.clicked(told, 2)
    assert crossing["metadata"][0]["quote"] == "The crossing takes 35 minutes."
    assert crossing["distances"][0] > 0.9  # as the sentence that it supports, not as the one before, nearest to it
    assert "(unverified)" in told.content
    assert told.statuses[-1]["description"] == "Answered from 2 passages, 1 of 3 sentences not verified"


def test_an_abstention_says_so_above_and_why_below(served: Running) -> None:
    told = shown(served.client, asked(UNANSWERED))
    assert told.statuses[-1] == {"description": "No answer: the documents do not give one", "done": True}
    assert "The documents do not answer it (6%)" in [one["description"] for one in told.statuses]
    assert told.content.startswith("No answer found in your documents.")
    assert "\n\nNearest:\n" in told.content
    assert len(told.sources) == 1


def test_thanks_and_an_outline_search_for_nothing(served: Running) -> None:
    said = [[one["description"] for one in shown(served.client, asked(text)).statuses][1:]
            for text in ("Thanks!", "Summarise rail.md")]  # fmt: skip
    assert said == [["Answered without passages"], ["Answered from 1 passage"]]


def test_a_file_of_its_own_is_said_to_be_unread(served: Running) -> None:
    question = asked(webui.RAG + FERRY)
    whole = served.client.post("/v1/chat/completions", json=question).json()
    assert "\n\nNot read: notes.txt. Only the documents" in whole["choices"][0]["message"]["content"]
    assert whole["thresher"]["unread"] == ["notes.txt"]
    assert "Not read: notes.txt." in shown(served.client, question).content
    response = served.client.post("/v1/responses", json={"model": "default", "input": webui.RAG + FERRY}).json()
    assert "Not read: notes.txt." in response["output"][0]["content"][0]["text"]
    assert "Not read" not in shown(served.client, asked()).content


def cited(marker: int, start: int, page: int | None = None, document: str = "d") -> Citation:
    return Citation(marker, document, "/x/a.pdf", "A", page, start, start + 5, "words", Score(0.5, PROBABILITY))


def answer_of(*citations: Citation) -> Answer:
    return Answer("q", "corrective", "a [1]", citations=citations, trace="t")


def test_a_place_that_is_cited_twice_does_not_shift_the_numbers() -> None:
    told = [event["data"] for event in sources(answer_of(cited(1, 10), cited(2, 10), cited(3, 40)))]
    assert len(webui.grouped(told)) == 3
