from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import thresher
from thresher.collection import Collection
from thresher.question.spelling import edits

HANDBOOK = """# Handbook

The canteen is open from 11:30 to 14:00. Requests for leave are sent to Anna Warburg.

Reservations of the meeting room are cancelled after fifteen minutes. The horse stands in the stable.

The kestrel nests in the tower, and the petrel on the beach.
"""


@pytest.fixture(scope="module")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    folder: Path = tmp_path_factory.mktemp("spelling")
    (folder / "handbook.md").write_text(HANDBOOK, encoding="utf-8")
    with thresher.open(folder / "home") as collection:
        collection.add(folder / "handbook.md")
        yield collection


@pytest.mark.parametrize(
    ("typed", "understood"),
    [
        ("when is the cantene open", "when is the canteen open"),
        ("Cantean hours?", "canteen hours?"),
        ("who gets the requsts for laeve", "who gets the requests for leave"),
        ("when are resevations cancelled", "when are reservations cancelled"),
    ],
)
def test_a_mistyped_word_is_the_one_word_of_the_collection_that_is_a_letter_away(
    handbook: Collection, typed: str, understood: str
) -> None:
    answer = handbook.ask(typed)
    assert answer.standalone == understood
    assert answer.question == typed
    later = handbook.ask(f"and {typed}", history=[("Where is the horse?", "In the stable.")])
    assert later.question == f"and {typed}", "what was typed is kept in a conversation"


@pytest.mark.parametrize(
    "typed",
    [
        "When is the canteen open?",
        "where is the house",  # a word, though the collection has a horse
        "where is the horser",  # a form of a word
        "who is marburg",  # a name may be another one's
        "Who is Anna Marburg?",
        "where does the petstrel nest",  # two letters from both birds
        "who wrote canten.txt",
        "what does cantee_n do",
    ],
)
def test_a_word_that_many_have_a_name_and_a_part_of_an_address_stay(handbook: Collection, typed: str) -> None:
    assert handbook.ask(typed).standalone is None


def test_each_word_a_letter_away_is_made() -> None:
    assert {"at", "cart", "bat", "act"} <= set(edits("cat"))
    assert "dog" not in edits("cat")


def test_a_word_longer_than_any_is_not_corrected_letter_by_letter(handbook: Collection) -> None:
    began = time.process_time()
    assert handbook.ask(f"where is the {'ab' * 750}").standalone is None
    assert time.process_time() - began < 2.0  # its 81,000 edits took five seconds and two gigabytes
