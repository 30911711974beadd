"""Clients of OpenAI, and a server whose questions a chat model answers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from openai import OpenAI

from tests.servers.own import Running
from thresher_testing.llm_server import Reply, Rule, ScriptedServer

FERRY = "When does the ferry to Gull Island leave?"
UNANSWERED = "How deep is the lake of Zurich?"

WRITTEN = (
    "The ferry to Gull Island leaves at 06:40 [1]. Its captain is a retired whaler from Norway [1]. "
    "The crossing takes 35 minutes [1]."
)
"""What a chat model may say of the ferry: of its captain the documents say nothing."""


def asks_for_an_answer(body: Any) -> bool:
    """Whether a prompt is the one that answers are written from."""
    return str(body["messages"][0]["content"]).startswith("You answer a question from numbered pieces")


def writes(text: str, **more: Any) -> Rule:
    """A chat model that answers with this text, and says nothing readable to anything else."""
    return lambda body: Reply(text, **more) if asks_for_an_answer(body) else Reply("none")


Modelled = Callable[..., AbstractContextManager[tuple[Running, ScriptedServer]]]


def asked(question: str = FERRY, **more: Any) -> dict[str, Any]:
    """The body of a question."""
    return {"model": "default", "messages": [{"role": "user", "content": question}], **more}


def chat(client: OpenAI, question: str = FERRY, **more: Any) -> Any:
    """The reply to a question by OpenAI's own client."""
    given = {"model": "default", "messages": [{"role": "user", "content": question}], **more}
    return client.chat.completions.create(**given)


def openai_client(one: Running, **options: Any) -> OpenAI:
    """OpenAI's own client of a server."""
    return OpenAI(base_url=f"{one.url}/v1", api_key="any", max_retries=0, **options)
