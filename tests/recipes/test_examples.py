"""The sources' own examples, asked of small collections in words of our own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import thresher
from tests.real_data import DATA
from tests.recipes.scripting import Judge, holding, using
from thresher import recipes
from thresher.answer import Answer
from thresher.answering.checked_answer import UNSUPPORTED, WROTE
from thresher.collection import Collection
from thresher.types import ClaimState, Verdict
from thresher_testing.llm_server import ScriptedServer

Serve = Callable[..., ScriptedServer]
Making = Callable[..., Collection]

TREES = {
    "splits": "A decision tree splits the training data at the threshold of one feature. Gini impurity measures how "
    "mixed the labels of a node are, and the split that lowers it most is taken.",
    "pruning": "Pruning removes branches of a decision tree that do not help on held-out data. A tree without pruning "
    "learns its training data by heart.",
    "forests": "A random forest grows many decision trees on samples of the data and lets them vote. Each tree sees a "
    "few of the features only.",
}
CITIES = {
    "paris": "Paris is the capital of France. It lies on the Seine. Its museums are visited by millions of people.",
    "lyon": "Lyon is a city in France where the Rhône meets the Saône. It is known for its kitchen.",
    "marseille": "Marseille is a port in the south of France. It was founded by Greek sailors.",
    "nice": "Nice is a city in France on the Mediterranean. Painters loved its light.",
}
RETRIEVAL = {
    "sequence": "RAG-Sequence uses the same retrieved document to generate the whole answer.",
    "token": "RAG-Token may draw on another retrieved document for each word that it generates.",
    "encoder": "The retriever encodes questions and documents with two encoders and compares their vectors.",
    "bleu": "BLEU compares the words and phrases of a translation with those of reference translations.",
    "rouge": "ROUGE counts how much of a reference summary a generated summary repeats.",
    "quality": "The quality of generated text is often rated by people who read it and give it a grade.",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Makes a collection of texts by name; each one once."""
    opened: dict[int, Collection] = {}
    with ExitStack() as stack:

        def make(texts: Mapping[str, str]) -> Collection:
            if id(texts) not in opened:
                opened[id(texts)] = stack.enter_context(holding(tmp_path_factory.mktemp("library"), texts))
            return opened[id(texts)]

        yield make


def sources(answer: Answer) -> set[str]:
    return {Path(citation.source).stem for citation in answer.citations}


# --- a question that the library has nothing on -----------------------------------------------------------------------

TRANSFORMERS = "How does self-attention work in transformers?"


@pytest.mark.parametrize("recipe", ["ecrag", "crag", "corrective"])
def test_transformers_asked_of_a_library_about_decision_trees_are_looked_for_outside(
    library: Making, recipe: str
) -> None:
    answer = library(TREES).ask(TRANSFORMERS, recipe=recipe)
    assert (answer.verdict, answer.abstained) == (Verdict.INCORRECT, True)
    assert {fate.kept for fate in answer.chunks} == {False}


@pytest.mark.parametrize("recipe", ["ecrag", "crag", "corrective"])
def test_what_that_library_is_about_is_answered_from_it(library: Making, recipe: str) -> None:
    answer = library(TREES).ask("What does pruning remove from a decision tree?", recipe=recipe)
    assert (answer.verdict == Verdict.INCORRECT, answer.abstained) == (False, False)
    assert sources(answer) == {"pruning"}


# --- the capital among other cities -----------------------------------------------------------------------------------


@pytest.mark.parametrize("recipe", ["crag", "ecrag", "chunkrag", "corrective"])
def test_the_capital_of_france_is_found_among_other_french_cities(library: Making, recipe: str) -> None:
    answer = library(CITIES).ask("What is the capital of France?", recipe=recipe)
    assert answer.text.startswith(("Here: “Paris is the capital", "Here: “**Paris is the capital"))
    assert answer.citations[0].quote.startswith("Paris is the capital of France.")


# --- an answer that the evidence does not say -------------------------------------------------------------------------

FEILDEN = {
    "feilden": "Henry Master Feilden was an English Conservative Party politician. He sat in the House of Commons for "
    "Blackburn from 1869 until his death in 1875.",
    "mill": "Joseph Feilden owned a cotton mill and was a prominent industrialist of Lancashire.",
}
WRONG = "Henry Feilden was a prominent industrialist [1]."
RIGHT = "Henry Feilden was an English Conservative Party politician [1]."
OCCUPATION = "What was Henry Feilden's occupation?"
OPEN = {"lower": 0.01, "upper": 0.2}


def test_an_occupation_that_the_evidence_gives_a_namesake_is_removed_and_the_right_one_stays(
    library: Making, serve: Serve
) -> None:
    server = serve(Judge(answer=lambda question, pieces: WRONG))
    answer = library(FEILDEN).ask(OCCUPATION, settings={**using(server), **OPEN})
    written = {one.text: one.state for one in (*answer.sentences, *answer.removed)}
    assert written[WRONG.replace(" [1]", "")] in (ClaimState.UNVERIFIED, ClaimState.CONTRADICTED)
    assert answer.text.startswith(UNSUPPORTED)
    assert "industrialist" not in answer.text.partition(WROTE)[0]

    def right(question: str, pieces: list[str]) -> str:
        at = next(at for at, piece in enumerate(pieces, start=1) if "politician" in piece)
        return RIGHT.replace("[1]", f"[{at}]") + f" He died in 1885 [{at}]."  # the year stands nowhere

    settings = {**using(serve(Judge(answer=right))), **OPEN, "answer.check": "strict"}
    answer = library(FEILDEN).ask(OCCUPATION, settings=settings)
    assert answer.text == "Henry Feilden was an English Conservative Party politician. [1]"


# --- the hybrid report's two examples ---------------------------------------------------------------------------------


@pytest.mark.parametrize("recipe", ["hybrid", "corrective", "chunkrag"])  # hybrid-literal does without the titles
@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("What is the difference between RAG-Sequence and RAG-Token?", {"sequence", "token"}),
        ("What does BLEU compare?", {"bleu"}),
    ],
)
def test_exact_names_bring_their_documents_to_the_top(
    library: Making, recipe: str, question: str, wanted: set[str]
) -> None:
    settings: dict[str, Any] = {"corrective": {"lower": 0.01}, "chunkrag": {"threshold": "none"}}.get(recipe, {})
    hits = library(RETRIEVAL).search(question, recipe=recipe, settings=settings).hits
    assert {Path(hit.chunk.source).stem for hit in hits[: len(wanted)]} == wanted


def test_a_question_about_something_else_is_refused(library: Making) -> None:
    """The report's negative control."""
    answer = library(RETRIEVAL).ask("In which season do we get mangoes?")
    assert (answer.verdict, answer.abstained) == (Verdict.INCORRECT, True)


# --- the end of a chunk -----------------------------------------------------------------------------------------------

TAIL = {
    "log": " ".join(
        f"On day {at} of the voyage the crew mended sails and wrote down the weather." for at in range(1, 12)
    )
    + " The treasure lies under the old mill.",
}


def test_the_last_sentence_of_a_chunk_is_found_and_lost_as_printed(library: Making) -> None:
    question = "Where does the treasure lie?"
    assert "under the old mill" in library(TAIL).ask(question, recipe="ecrag").text
    lost = library(TAIL).ask(question, recipe="ecrag-literal")
    assert "mill" not in lost.text
    assert not any("treasure" in fate.hit.chunk.text for fate in lost.chunks)


# --- in every recipe, with a chat model and without one ---------------------------------------------------------------

RECIPES = [name for name in recipes.names() if name != "no-retrieval"]
DIFFERENCE = "What is the difference between RAG-Sequence and RAG-Token?"


@pytest.fixture(scope="module")
def six(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The library of six sentences, cut for every recipe."""
    with holding(tmp_path_factory.mktemp("six"), RETRIEVAL, RECIPES) as collection:
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
    assert not any(one.state == "contradicted" for one in answer.sentences)


TRANSFORMER = "What is a transformer in deep learning?"


@pytest.fixture(scope="module")
def two_papers(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The papers on the Transformer and on BERT, cut for every recipe."""
    with thresher.open(tmp_path_factory.mktemp("papers")) as collection:
        papers = [DATA / "papers" / name for name in ("Attention_Is_All_You_Need.pdf", "BERT.pdf")]
        collection.add(*papers, recipe=RECIPES)
        yield collection


@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason="the real data is not there (THRESHER_DATA)")
@pytest.mark.parametrize("recipe", RECIPES)
def test_the_blogs_own_question_is_not_answered_with_learning_rates(two_papers: Collection, recipe: str) -> None:
    answer = two_papers.ask(TRANSFORMER, recipe=recipe)
    assert "5e-5" not in answer.text
    if recipe not in (
        "ecrag-literal",
        "hybrid-literal",
        "chunkrag-v1",
    ):  # as printed: they show what mentions a transformer
        assert answer.state != "answered" or "attention" in answer.text


def of_attention(question: str, pieces: list[str]) -> str:
    """The reply of a model that finds the definition in its evidence."""
    at = next((at for at, piece in enumerate(pieces, start=1) if "attention" in piece), None)
    return f"A Transformer is a network architecture based on attention [{at}]." if at else "NOT IN THE EVIDENCE"


@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason="the real data is not there (THRESHER_DATA)")
@pytest.mark.parametrize("recipe", RECIPES)
def test_the_blogs_own_question_is_answered_by_the_model(two_papers: Collection, serve: Serve, recipe: str) -> None:
    server = serve(Judge(score=lambda question, text: 0.9 if "attention" in text else 0.1, answer=of_attention))
    answer = two_papers.ask(TRANSFORMER, recipe=recipe, settings=using(server))
    assert "A Transformer is a network architecture based on attention." in answer.text
    assert answer.state == "answered"
    if recipe == "corrective":  # no paper says it so: a passage stands before what the model wrote
        assert "The model wrote: A Transformer" in answer.text
    else:
        assert answer.answered_by == "model"


@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason="the real data is not there (THRESHER_DATA)")
@pytest.mark.parametrize("recipe", ["rag", "hybrid", "corrective"])
def test_the_reports_two_models_are_not_called_equivalent(tmp_path: Path, recipe: str) -> None:
    with thresher.open(tmp_path) as collection:
        collection.add(DATA / "papers" / "2005.11401.pdf", recipe=recipe)
        answer = collection.ask("What is the difference between RAG-Sequence and RAG-Token?", recipe=recipe)
    said = re.findall(r"\*\*(.+?)\*\*", answer.text) or [answer.text]
    assert not any("equivalent" in one for one in said)
