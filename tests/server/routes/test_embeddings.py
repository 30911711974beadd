"""Embeddings as the real client of OpenAI asks for them."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openai
import pytest

from tests.server.conftest import Running, running
from thresher.models.encoders import BundledEncoder
from thresher_server.security.keys import Keys, Scope

TEXTS = ["The ferry leaves at 06:40.", "Die Fähre fährt um 06:40 🎉.", "", "The railway was opened in 1871."]


def test_the_client_is_given_the_vectors_of_the_bundled_encoder(served: Running) -> None:
    expected = BundledEncoder().encode(TEXTS)
    with openai.OpenAI(api_key="any", base_url=f"{served.url}/v1") as client:
        asked = client.embeddings.create(model="all-MiniLM-L6-v2", input=TEXTS)
        floats = client.embeddings.create(model="any", input=TEXTS, encoding_format="float", dimensions=384)
    for reply in (asked, floats):  # the client asks for base64 where nothing is said, and reads it
        assert [one.index for one in reply.data] == [0, 1, 2, 3]
        assert np.array_equal(np.array([one.embedding for one in reply.data], np.float32), expected)
    assert asked.model.startswith("all-MiniLM-L6-v2-int8@")
    assert asked.usage.prompt_tokens == asked.usage.total_tokens > 20


def test_one_text_is_one_vector_asynchronously(served: Running) -> None:
    async def ask() -> list[list[float]]:
        async with openai.AsyncOpenAI(api_key="any", base_url=f"{served.url}/v1") as client:
            reply = await client.embeddings.create(model="any", input=TEXTS[0])
            return [one.embedding for one in reply.data]

    (vector,) = asyncio.run(ask())
    assert len(vector) == 384
    assert abs(sum(number * number for number in vector) - 1) < 1e-5


def test_base64_holds_the_same_numbers(served: Running) -> None:
    body = {"input": TEXTS, "model": "any"}
    floats = served.client.post("/v1/embeddings", json=body).json()["data"]
    packed = served.client.post("/v1/embeddings", json={**body, "encoding_format": "base64"}).json()["data"]
    for one, other in zip(floats, packed, strict=True):
        assert np.frombuffer(base64.b64decode(other["embedding"]), "<f4").tolist() == one["embedding"]


def test_a_vector_is_the_same_whatever_else_is_sent(served: Running) -> None:
    def vectors(*texts: str) -> list[list[float]]:
        told = served.client.post("/v1/embeddings", json={"input": texts}).json()
        return [one["embedding"] for one in told["data"]]

    assert vectors(*TEXTS)[0] == vectors(TEXTS[0])[0]
    assert vectors(TEXTS[0] * 400)[0]  # 10,000 characters


def test_no_texts_are_no_error(served: Running) -> None:
    told = served.client.post("/v1/embeddings", json={"input": []}).json()
    assert told["data"] == []
    assert told["usage"]["total_tokens"] == 0


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"input": [1, 2, 3]}, "check_embedding_ctx_length=False"),
        ({"input": [[1, 2], [3]]}, "check_embedding_ctx_length=False"),
        ({"input": "x", "dimensions": 256}, "dimensions 256"),
        ({"input": "x", "encoding_format": "int8"}, "encoding_format"),
        ({"input": None}, "input"),
        ({"input": ["x", None]}, "input"),
        ({}, "input"),
    ],
)
def test_the_client_is_told_what_is_wrong(served: Running, body: dict[str, Any], said: str) -> None:
    reply = served.client.post("/v1/embeddings", json=body)
    assert reply.status_code == 422
    assert said in reply.json()["error"]["message"]


def test_more_texts_than_allowed_are_refused(indexed_home: Path, serving: Callable[..., Any]) -> None:
    with (
        serving(indexed_home, server__max_documents=3) as one,
        openai.OpenAI(api_key="any", base_url=f"{one.url}/v1", max_retries=0) as client,
        pytest.raises(openai.UnprocessableEntityError, match="4 texts: are more than 3"),
    ):
        client.embeddings.create(model="any", input=TEXTS)


def test_a_key_needs_the_scope_to_ask(tmp_path: Path) -> None:
    keys = Keys(tmp_path)
    asker, reader = keys.make("asker", [Scope.ASK], ["others"]), keys.make("reader", [Scope.READ], None)
    with running(tmp_path, server__require_key=True) as one:

        def ask(key: str) -> int:
            with openai.OpenAI(api_key=key, base_url=f"{one.url}/v1", max_retries=0) as client:
                return len(client.embeddings.create(model="any", input=TEXTS).data)

        assert ask(asker) == len(TEXTS)
        with pytest.raises(openai.PermissionDeniedError):
            ask(reader)
        with pytest.raises(openai.AuthenticationError):
            ask("thr_0_0")
