from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from thresher.retrieval.spelling import SpellingRewriter, correction, distance
from thresher.text.language import foreign_language
from thresher.types import Query

COUNTS = {
    "transformer": 40,
    "manager": 9,
    "kettlewick": 2,
    "longformer": 12,
    "wickham": 8,
    "barham": 5,
    "line": 30,
    "refund": 6,
    "refunds": 5,
    "branch": 20,
    "lease": 7,
    "least": 7,
    "rare": 1,
}
LANGUAGE = {"what", "does", "wine", "made", "which", "cost", "branch", "manager", "know", "about"}

rewrite = SpellingRewriter(lambda: COUNTS, LANGUAGE.__contains__)


def spelled(question: str) -> str:
    return rewrite(Query(question, question)).search


@pytest.mark.parametrize(
    ("question", "corrected"),
    [
        ("What does the transfromer cost?", "What does the transformer cost?"),
        ("What does the manger of Kettlewikc know?", "What does the manager of Kettlewick know?"),
        ("What does Longformr cost?", "What does Longformer cost?"),
        ("What about a refnud?", "What about a refund?"),
    ],
)
def test_a_misspelt_word_is_corrected_to_a_frequent_one(question: str, corrected: str) -> None:
    assert spelled(question) == corrected


@pytest.mark.parametrize(
    "question",
    [
        "What is wine made of?",  # a word of the language that the collection does not have
        "What does Barnham know about the branch?",  # another name
        "What does Wockham know about the branch?",  # another letter makes another name
        "What does ZX-47a cost about the branch?",
        "What about the leasy branch?",  # lease and least are as near
        "What about the rere branch?",  # the word that is near is rare itself
        "What does zzgrrph mpfrtz cost?",
    ],
)
def test_what_may_be_meant_is_left_alone(question: str) -> None:
    assert spelled(question) == question


def test_a_correction_is_searched_read_and_told() -> None:
    query = rewrite(Query("What does the transfromer cost?", "transfromer cost"))
    assert query.search == "transformer cost"
    assert query.question == "What does the transformer cost?"
    assert query.notes.facts["corrected"] == "searched for “transformer” instead of “transfromer”"


def test_a_question_in_another_language_is_not_corrected_but_named() -> None:
    query = rewrite(Query("Was kostet die Lease der Filiale?", "Was kostet die Lease der Filiale?"))
    assert query.search == "Was kostet die Lease der Filiale?"
    assert query.notes.facts["language"] == "German"


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wie viele Schichten hat das Modell?", "German"),
        ("Quel est le taux d'apprentissage de BERT ?", "French"),
        ("¿Cuántos años tiene el contrato de la casa?", "Spanish"),
        ("How many layers does BERT have?", ""),
        ("What is the role of the Bundesrat in die Zeit?", ""),
        ("refunds", ""),
    ],
)
def test_the_language_of_a_question_is_told_by_its_small_words(question: str, language: str) -> None:
    assert foreign_language(question) == language


def test_the_case_of_a_word_is_kept() -> None:
    assert correction("Transfromer", COUNTS, is_name=False) == "Transformer"


@pytest.mark.parametrize(
    ("one", "other", "edits"), [("ab", "ba", 1), ("abc", "abc", 0), ("abc", "ac", 1), ("a", "xyz", 3)]
)
def test_two_letters_swapped_are_one_edit(one: str, other: str, edits: int) -> None:
    assert distance(one, other, 3) == edits


@given(some.text("abc", max_size=7), some.text("abc", max_size=7))
def test_a_distance_is_the_same_both_ways(one: str, other: str) -> None:
    assert distance(one, other, 2) == distance(other, one, 2)
