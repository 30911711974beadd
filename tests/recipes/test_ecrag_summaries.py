"""A chat model's summaries are made when documents are taken in: announced, several at once, none paid for twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import thresher
from tests.recipes.scripting import Judge, stages, using
from thresher.errors import ProviderError
from thresher_methods.ecrag import NOT_SUMMARISED
from thresher_testing.llm_server import Reply, ScriptedServer

Serve = Callable[..., ScriptedServer]
QUESTION = "Which harbour town makes violins?"
SUBJECTS = ("bees", "cheese", "trains", "violins", "glass", "salt")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six documents of one chunk each, long enough to be summarised."""
    folder = tmp_path / "towns"
    folder.mkdir()
    for subject in SUBJECTS:
        sentence = f"The harbour town of {subject} has a lighthouse with a lamp, and {subject} are made there. "
        (folder / f"{subject}.txt").write_text(sentence * 6, encoding="utf-8")
    return folder


def test_a_question_pays_for_no_summaries_and_says_what_makes_them(folder: Path, serve: Serve) -> None:
    server = serve(Judge())
    with thresher.open(folder.parent / "home") as collection:
        collection.add(folder, recipe="rag")
        answer = collection.ask(QUESTION, recipe="ecrag", settings=using(server))
        assert "summary" not in stages(server)
        assert answer.degraded[0] == NOT_SUMMARISED
        assert "extractive@1" in " ".join(row["fingerprint"] for row in collection.tables())


def test_summaries_are_announced_and_made_together_when_documents_are_taken_in(folder: Path, serve: Serve) -> None:
    judge = Judge(seconds=0.1)
    server = serve(judge)
    told: list[str] = []
    with thresher.open(folder.parent / "home") as collection:
        priced = using(server, llm__price_prompt=1000)
        collection.add(folder, recipe="ecrag", settings=priced, announce=told.append)
        assert stages(server) == ["summary"] * 6
        assert judge.together > 1
        assert len(told) == 1
        assert told[0].startswith("6 chunks are summarised by llm@1(scripted at ")
        assert "about 6 calls" in told[0]
        assert " in money; what was made before" in told[0]
        answer = collection.ask(QUESTION, recipe="ecrag", settings=using(server))
        assert stages(server).count("summary") == 6
        assert NOT_SUMMARISED not in answer.degraded


def test_an_index_that_was_cut_off_goes_on_where_it_was(folder: Path, serve: Serve) -> None:
    judge, failing = Judge(), [True]

    def reply(asked: Mapping[str, Any]) -> str | Reply:
        return Reply(status=401) if failing[0] and "violins" in str(asked) else judge(asked)

    server = serve(reply)
    settings = using(server, llm__concurrency=1)
    with thresher.open(folder.parent / "home") as collection:
        with pytest.raises(ProviderError):
            collection.add(folder, recipe="ecrag", settings=settings)
        made = len(server.requests) - 1
        failing[0] = False
        collection.add(folder, recipe="ecrag", settings=settings)
    assert made > 0
    assert len(server.requests) == len(SUBJECTS) + 1
