"""The sources' own questions, as tests of the answer: in every recipe, with a chat model and without one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import thresher
from tests.real_data import DATA
from tests.recipes.scripting import Judge, using
from tests.recipes.test_examples import RETRIEVAL
from thresher import recipes
from thresher.collection import Collection
from thresher_testing.llm_server import ScriptedServer

Serve = Callable[..., ScriptedServer]
RECIPES = [name for name in recipes.names() if name != "no-retrieval"]
DIFFERENCE = "What is the difference between RAG-Sequence and RAG-Token?"
REFUSING = {"crag", "ecrag-literal"}
"""What refuses it without a model: printed bounds that do not fit the local judge, short chunks that are lost."""


@pytest.fixture(scope="module")
def six(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The library of six sentences, cut for every recipe."""
    folder = tmp_path_factory.mktemp("six")
    for name, text in RETRIEVAL.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    with thresher.open(folder / "home") as collection:
        collection.add(*(folder / f"{name}.txt" for name in RETRIEVAL), recipe=RECIPES)
        yield collection


def own_words(question: str, pieces: list[str]) -> str:
    """Both sides in other words, each cited where it stands."""
    sides = {
        "RAG-Sequence uses": "RAG-Sequence takes one document for the whole answer",
        "RAG-Token may": "RAG-Token may take another document for each word",
    }
    found = [(said, at) for key, said in sides.items() for at, piece in enumerate(pieces, start=1) if key in piece]
    return " ".join(f"{said} [{at}]." for said, at in found) or "NOT IN THE EVIDENCE"


@pytest.mark.parametrize("recipe", [name for name in RECIPES if name not in ("ecrag-literal", "corrective")])
def test_the_reports_first_example_is_answered_by_the_model(six: Collection, serve: Serve, recipe: str) -> None:
    server = serve(Judge(score=lambda question, text: 0.95 if "RAG-" in text else 0.05, answer=own_words))
    answer = six.ask(DIFFERENCE, recipe=recipe, settings=using(server))
    assert answer.answered_by == "model"
    assert "RAG-Token may take another document for each word." in answer.text
    assert all(one.state == "supported" for one in answer.sentences)


TRANSFORMER = "What is a transformer in deep learning?"


@pytest.fixture(scope="module")
def two_papers(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The papers on the Transformer and on BERT, cut for every recipe."""
    with thresher.open(tmp_path_factory.mktemp("papers")) as collection:
        papers = [DATA / "papers" / name for name in ("Attention_Is_All_You_Need.pdf", "BERT.pdf")]
        collection.add(*papers, recipe=RECIPES)
        yield collection


def of_attention(question: str, pieces: list[str]) -> str:
    """What the passages say of the Transformer in other words, and nothing where they do not."""
    known = ("based solely on attention", "entirely on self-attention", "entirely on an attention mechanism")
    at = next((at for at, piece in enumerate(pieces, start=1) if any(k in " ".join(piece.split()) for k in known)), 0)
    said = f"A Transformer is a network architecture based on attention [{at}]."
    return said if at else "NOT IN THE EVIDENCE"


@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason="the real data is not there (THRESHER_DATA)")
@pytest.mark.parametrize("recipe", RECIPES)
def test_the_blogs_own_question_is_not_answered_with_learning_rates(two_papers: Collection, recipe: str) -> None:
    answer = two_papers.ask(TRANSFORMER, recipe=recipe)
    assert "5e-5" not in answer.text
    assert answer.abstained or answer.text.startswith("Perhaps")


@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason="the real data is not there (THRESHER_DATA)")
@pytest.mark.parametrize("recipe", RECIPES)
def test_the_blogs_own_question_is_answered_by_the_model(two_papers: Collection, serve: Serve, recipe: str) -> None:
    server = serve(Judge(score=lambda question, text: 0.9 if "attention" in text else 0.1, answer=of_attention))
    answer = two_papers.ask(TRANSFORMER, recipe=recipe, settings=using(server))
    assert "5e-5" not in answer.text
    if not answer.abstained:
        assert answer.answered_by == "model"
        assert "A Transformer is a network architecture based on attention." in answer.text
