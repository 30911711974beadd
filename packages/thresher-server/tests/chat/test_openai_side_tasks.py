"""Titles, tags, follow-ups and the like: answered in their form, without a search, a trace or a line in the audit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import webui
from chatting import FERRY, asked
from openai import OpenAI

from tests.servers.own import Running, running
from thresher_server.openai.side_tasks import Task, side_task, title


def reply_to(one: Running, prompt: str, **more: Any) -> dict[str, Any]:
    """The reply to a side task, as Open WebUI sends one."""
    told = one.client.post("/v1/chat/completions", json=asked(prompt, stream=False, **more), headers=webui.HEADERS)
    assert told.status_code == 200, told.text
    return dict(told.json())


def text_of(reply: dict[str, Any]) -> str:
    return str(reply["choices"][0]["message"]["content"])


def kept(home: Path) -> tuple[list[Path], bytes]:
    """What is kept of questions: the traces and the audit, but for the guard's lines of requests."""
    audit = home / "server" / "audit.jsonl"
    lines = audit.read_bytes().splitlines() if audit.exists() else []
    asked = b"".join(line for line in lines if b'"status"' not in line)
    return sorted((home / "collections").rglob("traces/**/*")), asked


def test_a_title_is_the_first_question(served: Running) -> None:
    told = reply_to(served, webui.TITLE % webui.HISTORY)
    assert json.loads(text_of(told)) == {"title": "When does the ferry to Gull Island leave?"}
    assert told["thresher"] is None


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        (webui.TAGS, {"tags": ["Gull Island", "Ferry", "Leave"]}),
        (webui.FOLLOW_UPS, {"follow_ups": []}),
        (webui.QUERIES, {"queries": ["And back?"]}),
        (webui.AUTOCOMPLETE, {"text": ""}),
        (webui.IMAGE_PROMPT, {"prompt": "And back?"}),
    ],
)
def test_rules_answer_each_task_in_its_form(served: Running, prompt: str, said: dict[str, Any]) -> None:
    assert json.loads(text_of(reply_to(served, prompt % webui.HISTORY))) == said


def test_an_emoji_is_bare_no_tool_is_called_and_metadata_may_name_the_task(served: Running) -> None:
    assert text_of(reply_to(served, webui.EMOJI % "I am glad")) == "💬"
    body = asked("Query: History: USER: hello")
    body["messages"].insert(0, {"role": "system", "content": "Available Tools: []\n\nReturn only the JSON object."})
    told = served.client.post("/v1/chat/completions", json=body).json()
    assert json.loads(text_of(told)) == {"tool_calls": []}
    told = reply_to(served, f"Name this chat.\n{FERRY}", metadata={"task": "title_generation"})
    assert set(json.loads(text_of(told))) == {"title"}


def test_nothing_is_kept_of_a_side_task(indexed_home: Path) -> None:
    with running(indexed_home) as one:
        before = kept(indexed_home)
        for prompt in (webui.TITLE, webui.TAGS, webui.FOLLOW_UPS, webui.QUERIES, webui.AUTOCOMPLETE):
            reply_to(one, prompt % webui.HISTORY)
        assert kept(indexed_home) == before
        one.client.post("/v1/chat/completions", json=asked())
        assert kept(indexed_home) != before


def test_a_response_may_be_one(served: Running) -> None:
    with OpenAI(base_url=f"{served.url}/v1", api_key="any") as client:
        told = client.responses.create(model="default", input=webui.TITLE % webui.HISTORY)
        with client.responses.stream(model="default", input=webui.TITLE % webui.HISTORY) as stream:
            streamed = stream.get_final_response()
    assert (
        json.loads(told.output_text)
        == json.loads(streamed.output_text)
        == {"title": "When does the ferry to Gull Island leave?"}
    )


def test_a_person_may_begin_a_question_as_such_a_task_begins(served: Running) -> None:
    told = reply_to(served, f"### Task:\n{FERRY}")
    assert "06:40" in text_of(told)
    assert told["thresher"]["verdict"] == "correct"


def test_what_the_material_says_names_no_task() -> None:
    assert side_task([("user", webui.RAG + FERRY)], None) is None
    found = side_task([("user", webui.TAGS % 'USER: what is {"title": 1}?')], None)
    assert found is not None
    assert found.task is Task.TAGS


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("who?", "Who?"),
        ("What is the height\nof the tide?", "What is the height of the tide?"),
        ("灯台はいつ建てられましたか", "灯台はいつ建てられましたか"),
        (
            "When was it built, by whom, and what did " + "it cost " * 9,
            "When was it built, by whom, and what did it cost it cost it…",
        ),
        ("x" * 500, "X" + "x" * 59 + "…"),
    ],
)
def test_a_title_is_short(question: str, short: str) -> None:
    assert title(question) == short
