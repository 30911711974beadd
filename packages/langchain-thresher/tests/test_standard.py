"""LangChain's own suite for retrievers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from adapter_recipes import QUESTION
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests
from langchain_thresher import ThresherRetriever


class TestThresherRetriever(RetrieversIntegrationTests):
    _home: Path

    @pytest.fixture(autouse=True)
    def in_a_home(self, home: Path) -> None:
        type(self)._home = home

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return ThresherRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"home": self._home}

    @property
    def retriever_query_example(self) -> str:
        return QUESTION
