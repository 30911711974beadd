"""A claim gets a label from the checker where no chat model names one, and none without evidence."""

from __future__ import annotations

import pytest

from thresher.collection import Collection
from thresher.recipes.check import passages
from thresher.types import ClaimState
from thresher_evals.asker import CollectionAsker, Put
from thresher_evals.claim_labels import state_of
from thresher_evals.dataset import Question
from thresher_evals.metrics.answers import Outcome, outcome
from thresher_evals.rows import Row

PUBHEALTH = ("true", "false", "mixture", "unproven")
FEVER = ("SUPPORTS", "REFUTES", "NOT_ENOUGH_INFO")
TEXT = (
    "The lighthouse of Kõpu was completed in 1531. It is 36 metres high. Dogs are not allowed in the lighthouse. "
    "The ferry to Ruhnu sails on Mondays."
)
MONDAYS = "The ferry to Ruhnu sails on Mondays."


@pytest.fixture(scope="module")
def asker(tmp_path_factory: pytest.TempPathFactory) -> CollectionAsker:
    folder = tmp_path_factory.mktemp("kopu")
    (folder / "kopu.txt").write_text(TEXT)
    with Collection(folder / "home", "default") as collection:
        collection.add(folder / "kopu.txt", recipe="rag")
    return CollectionAsker(Collection(folder / "home", "default"), {})


def row(asker: CollectionAsker, claim: str, right: str, options: tuple[str, ...], recipe: str = "rag") -> Row:
    text = f"Claim: {claim}\nIs this right?\nAnswer with one of these labels: {', '.join(options)}."
    question = Question("1", text, (right,), options=options, claim=claim)
    return Put(asker, "ask", 5, {recipe: ""}, alone=True)(recipe, question)


@pytest.mark.parametrize(
    ("claim", "pubhealth", "fever"),
    [
        ("The lighthouse of Kõpu was completed in 1531.", "true", "SUPPORTS"),
        ("Dogs are allowed in the lighthouse of Kõpu.", "false", "REFUTES"),
        ("The keeper of the lighthouse of Kõpu collects stamps.", "unproven", "NOT_ENOUGH_INFO"),
    ],
)
def test_what_supports_denies_or_does_neither_becomes_the_label_of_the_set(
    asker: CollectionAsker, claim: str, pubhealth: str, fever: str
) -> None:
    for label, options in ((pubhealth, PUBHEALTH), (fever, FEVER)):
        found = row(asker, claim, label, options)
        assert found.reply is not None
        assert (found.reply.text, found.generator) == (label, "checker")
        assert outcome(found) is Outcome.RIGHT


def test_a_claim_for_which_nothing_was_handed_on_is_refused_and_not_called_unproven(asker: CollectionAsker) -> None:
    found = row(asker, "Ibuprofen cures baldness.", "unproven", PUBHEALTH, recipe="crag")
    assert found.context == ()
    assert outcome(found) is Outcome.REFUSED_WRONGLY


def test_a_set_without_a_label_for_neither_leaves_the_answer_as_it_was(asker: CollectionAsker) -> None:
    found = row(asker, "The keeper of the lighthouse of Kõpu collects stamps.", "false", ("true", "false"))
    assert found.generator != "checker"


def test_a_question_with_options_and_no_claim_is_not_labelled(asker: CollectionAsker) -> None:
    question = Question("1", "When does the ferry to Ruhnu sail?\n(A) Mondays\n(B) Fridays", ("A",), options=("A", "B"))
    assert Put(asker, "ask", 5, {"rag": ""}, alone=True)("rag", question).generator != "checker"


def test_a_claim_of_two_sentences_is_denied_by_one_and_supported_by_both(asker: CollectionAsker) -> None:
    def state(claim: str) -> ClaimState:
        return state_of(asker.check(claim, passages([TEXT])).claims)

    assert state(f"{MONDAYS} The lighthouse of Kõpu was completed in 1531.") is ClaimState.SUPPORTED
    assert state(f"{MONDAYS} The lighthouse of Kõpu was completed in 1931.") is ClaimState.CONTRADICTED
    assert state(f"{MONDAYS} The keeper of the lighthouse of Kõpu collects stamps.") is ClaimState.UNVERIFIED
    assert state_of(()) is ClaimState.UNVERIFIED
