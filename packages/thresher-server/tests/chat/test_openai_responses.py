"""Questions as responses, by the real client: the order of a stream's events, annotations, what is refused."""

from __future__ import annotations

import pytest
from chatting import FERRY, WRITTEN, Modelled, openai_client, writes
from openai import OpenAI

from tests.servers.own import Running
from thresher_testing.llm_server import Reply

ORDER = [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.annotation.added",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
]
"""Of a text with one citation, each kind of event once."""


def test_a_response_has_its_text_its_annotations_and_its_worth(client: OpenAI) -> None:
    told = client.responses.create(model="default", input=FERRY, metadata={"from": "a test"})
    assert told.output_text.startswith("Here: “**The ferry to Gull Island leaves at 06:40.**")
    assert "\n\nSources:\n- [1] The ferry (ferry.md)" in told.output_text
    message = told.output[0]
    assert message.type == "message"
    part = message.content[0]
    assert part.type == "output_text"
    (annotation,) = part.annotations
    assert annotation.type == "url_citation"
    assert part.text[annotation.start_index : annotation.end_index] == "[1]"
    assert annotation.url
    assert told.status == "completed"
    assert told.metadata == {"from": "a test"}
    assert told.usage is not None
    assert told.usage.total_tokens == told.usage.input_tokens + told.usage.output_tokens
    assert (told.model_extra or {})["thresher"]["verdict"] == "correct"


def test_the_events_of_a_stream_come_in_their_order_and_are_numbered_through(client: OpenAI) -> None:
    told = list(client.responses.create(model="default", input=FERRY, stream=True))
    assert list(dict.fromkeys(event.type for event in told)) == ORDER
    assert [event.sequence_number for event in told] == list(range(len(told)))


def test_the_stream_helper_gathers_the_same_response(client: OpenAI) -> None:
    whole = client.responses.create(model="default", input=FERRY)
    text = ""
    with client.responses.stream(model="default", input=FERRY) as stream:
        for event in stream:
            text += event.delta if event.type == "response.output_text.delta" else ""
        final = stream.get_final_response()
    assert text == final.output_text == whole.output_text
    (annotation,) = final.output[0].content[0].annotations  # type: ignore[union-attr]
    assert text[annotation.start_index : annotation.end_index] == "[1]"  # type: ignore[union-attr]
    assert final.usage == whole.usage


def test_sentences_are_deltas_as_they_are_checked(modelled: Modelled) -> None:
    with modelled(writes(WRITTEN)) as (one, _), openai_client(one) as client:
        told = list(client.responses.create(model="default", input=FERRY, stream=True))
    deltas = [event.delta for event in told if event.type == "response.output_text.delta"]
    assert len(deltas) == 4
    assert "(unverified)" in deltas[1]
    added = [event for event in told if event.type == "response.output_text.annotation.added"]
    assert [event.annotation_index for event in added] == [0, 1, 2]
    done = next(event for event in told if event.type == "response.output_text.done")
    assert done.text == "".join(deltas)


def test_what_goes_wrong_after_the_beginning_is_a_failed_response(
    modelled: Modelled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THRESHER_STRICT", "true")
    with modelled([Reply(status=401)]) as (one, _), openai_client(one) as client:
        *_, last = client.responses.create(model="default", input=FERRY, stream=True)
    assert last.type == "response.failed"
    assert last.response.status == "failed"
    assert last.response.error is not None
    assert "401" in last.response.error.message


def test_an_input_of_items_is_a_conversation(client: OpenAI) -> None:
    first = client.responses.create(model="default", input=FERRY)
    told = client.responses.create(
        model="default",
        input=[
            {"role": "user", "content": FERRY},
            *(item.model_dump() for item in first.output),  # type: ignore[list-item]
            {"role": "user", "content": [{"type": "input_text", "text": "And how long does it take?"}]},
        ],
    )
    assert "35 minutes" in told.output_text


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("previous_response_id", "resp_1"),
        ("conversation", "conv_1"),
        ("background", True),
        ("tool_choice", "required"),
        ("text", {"format": {"type": "json_schema", "name": "a", "schema": {}}}),
    ],
)
def test_what_no_answer_can_be_given_in_is_refused(served: Running, field: str, value: object) -> None:
    told = served.client.post("/v1/responses", json={"model": "default", "input": FERRY, field: value})
    assert told.status_code == 422
    assert told.json()["error"]["next"] == "leave it out"
