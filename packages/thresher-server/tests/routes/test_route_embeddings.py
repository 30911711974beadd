"""Embeddings as the real client of OpenAI asks for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import openai
import pytest

from tests.servers.own import Running
from thresher.models.encoders import BundledEncoder

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


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"input": [1, 2, 3]}, "check_embedding_ctx_length=False"),
        ({"input": [[1, 2], [3]]}, "check_embedding_ctx_length=False"),
        ({"input": "x", "dimensions": 256}, "dimensions 256"),
    ],
)
def test_the_client_is_told_what_is_wrong(served: Running, body: dict[str, Any], said: str) -> None:
    reply = served.client.post("/v1/embeddings", json=body)
    assert reply.status_code == 422
    assert said in reply.json()["error"]["message"]
