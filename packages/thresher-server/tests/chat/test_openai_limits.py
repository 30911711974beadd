"""Bounds, many at once, and clients that go before the end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import openai
import pytest
from chatting import FERRY, WRITTEN, Modelled, asked, chat, openai_client, writes

from tests.servers.own import Running
from tests.servers.own_api import chunks, content, until
from thresher_server.openai.conversation import conversation
from thresher_server.openai.side_tasks import by_rules, side_task
from thresher_testing.llm_server import ScriptedServer


def test_a_full_queue_says_when_to_come_back(modelled: Modelled) -> None:
    slow = writes(WRITTEN, seconds=20.0)
    with (
        modelled(slow, server__concurrency=1, server__queue=0) as (one, model),
        openai_client(one) as client,
        one.client.stream("POST", "/v1/chat/completions", json=asked(stream=True)) as first,
    ):
        assert model.wait_for(1)
        with pytest.raises(openai.RateLimitError) as refused:
            chat(client)
        with pytest.raises(openai.RateLimitError):
            client.responses.create(model="default", input=FERRY, stream=True)
        first.close()
        assert until(lambda: one.service.admission.inside == 0)
    assert refused.value.response.headers["retry-after"] == "2"
    assert (refused.value.type, refused.value.code) == ("rate_limit_error", "rate_limit_exceeded")


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses"])
def test_a_client_that_leaves_a_stream_ends_its_question(modelled: Modelled, path: str) -> None:
    body = {"model": "default", "stream": True, "messages": asked()["messages"], "input": FERRY}
    with modelled(writes(WRITTEN, seconds=60.0)) as (one, model):
        with one.client.stream("POST", path, json=body) as reply:
            assert reply.status_code == 200
            assert model.wait_for(1)
        assert until(lambda: one.service.admission.inside == 0)


@pytest.mark.slow
def test_a_server_that_is_told_to_stop_lets_a_stream_come_to_its_end(indexed_home: Path) -> None:
    with ScriptedServer(writes(WRITTEN, seconds=3.0)) as model, ThreadPoolExecutor(1) as pool:
        environment = os.environ | {"THRESHER_LLM__BASE_URL": model.base_url, "THRESHER_LLM__MODEL": "scripted"}
        command = [sys.executable, "-m", "thresher", "serve", "--open", "--port", "0", "--home", str(indexed_home)]
        serving = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        with serving, httpx.Client(base_url=address_in(serving), timeout=60) as client:
            reading = pool.submit(chunks, client, asked())
            assert model.wait_for(1)
            serving.send_signal(signal.SIGTERM)
            assert "35 minutes" in content(reading.result(30))
        assert serving.returncode in (0, -signal.SIGTERM)  # uvicorn ends by the signal that it was stopped with


def address_in(serving: subprocess.Popen[str]) -> str:
    """Where it says that it answers."""
    assert serving.stdout is not None
    found = re.search(r"http://\S+", serving.stdout.readline())
    assert found is not None
    return found[0]


@pytest.mark.parametrize("text", ["\ud800", "a\x00b", "\u2028", "“[1]”"])
def test_odd_characters_do_no_harm(served: Running, text: str) -> None:
    body = json.dumps({**asked(f"When does the ferry leave? {text}"), "model": "default"})
    told = served.client.post("/v1/chat/completions", content=body, headers={"content-type": "application/json"})
    assert told.status_code in (200, 422)
    body = json.dumps({"model": text, "input": "When?", "metadata": {text: text}})
    told = served.client.post("/v1/responses", content=body, headers={"content-type": "application/json"})
    assert told.status_code in (404, 422)


UNCLOSED = (
    "### Task:<context>x</context>" + "<user_query>" * 40_000,
    '### Task: "title": <chat_history>' + "<chat_history>" * 40_000,
)


@pytest.mark.parametrize("text", UNCLOSED)
def test_tags_that_are_never_closed_take_no_longer_than_their_length(text: str) -> None:
    began = time.process_time()
    said = [("user", text)]
    side = side_task(said, None)
    assert by_rules(side) if side else conversation(said).question
    assert time.process_time() - began < 2.0  # each tag tried to the end took a minute
