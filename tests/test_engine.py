"""One engine for all collections of a home."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import thresher
from thresher import recipes
from thresher.errors import UsageError


@pytest.fixture
def engine(tmp_path: Path) -> thresher.Engine:
    (tmp_path / "ferry.txt").write_text("The ferry leaves at 06:40.", encoding="utf-8")
    engine = thresher.Engine(tmp_path / "home")
    engine.collection("boats").add(tmp_path / "ferry.txt", recipe="rag")
    return engine


def test_a_collection_is_opened_once_shares_the_models_and_is_closed_when_it_is_forgotten(
    engine: thresher.Engine,
) -> None:
    old = engine.collection("boats")
    assert engine.collection("boats") is old
    assert old.opened.models is engine.collection("trains").opened.models
    assert engine.collections.names == ["boats"]
    engine.forget("boats")
    engine.collections.rename("boats", "ships")
    with pytest.raises(UsageError, match="is closed"):
        old.documents()
    assert len(engine.collection("ships").documents()) == 1
    with engine:
        opened = engine.collection("ships")
    with pytest.raises(UsageError, match="is closed"):
        opened.documents()


def test_a_collection_with_a_filter_holds_the_documents_that_pass_it(engine: thresher.Engine, tmp_path: Path) -> None:
    (tmp_path / "tide.txt").write_text("The tide rises by 4.2 metres.", encoding="utf-8")
    engine.collection("boats").add(tmp_path / "tide.txt", recipe="rag", metadata={"team": "harbour"})
    seen = engine.collection("boats", within="team = 'harbour'")
    assert [one.source for one in seen.documents()] == [str(tmp_path / "tide.txt")]
    assert [hit.chunk.title for hit in seen.search("When does the ferry leave?", recipe="rag").hits] == ["tide"]
    assert sum(table["chunks"] for table in seen.tables()) == 1
    engine.forget("boats")
    with pytest.raises(UsageError, match="is closed"):
        seen.documents()


def test_an_encoder_of_the_callers_own_outlasts_a_close(tmp_path: Path) -> None:
    encoder: Any = SimpleNamespace(name="own")
    engine = thresher.Engine(tmp_path, encoder=encoder)
    engine.close()
    assert engine.models.encoder("own", recipes.get("rag").configured({}).embeddings) is encoder


def test_models_are_loaded_before_the_first_question(engine: thresher.Engine) -> None:
    engine.warm_up()
    assert engine.models.judge()._loaded is not None
