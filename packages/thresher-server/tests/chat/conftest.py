"""A client of OpenAI, and a server whose questions a chat model answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from chatting import Modelled, openai_client
from openai import OpenAI

from tests.servers.own import Running, running
from thresher_testing.llm_server import Rule, Script, ScriptedServer


@pytest.fixture
def client(served: Running) -> Iterator[OpenAI]:
    with openai_client(served) as one:
        yield one


@pytest.fixture
def modelled(indexed_home: Path, monkeypatch: pytest.MonkeyPatch) -> Modelled:
    """A server over the documents with a chat model of these replies: `with modelled(...) as (one, model)`."""

    @contextmanager
    def started(replies: Sequence[Script] | Rule, **settings: Any) -> Iterator[tuple[Running, ScriptedServer]]:
        with ScriptedServer(replies) as model:
            monkeypatch.setenv("THRESHER_LLM__BASE_URL", model.base_url)
            monkeypatch.setenv("THRESHER_LLM__MODEL", "scripted")
            with running(indexed_home, **settings) as one:
                yield one, model

    return started
