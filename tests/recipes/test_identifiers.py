"""A question that names an identifier is answered by the entry that has exactly it, and refused where none has."""

from __future__ import annotations

from pathlib import Path

import pytest

import thresher

CODES = """# Pump codes

## E-0401 Suction blocked

Rinse the strainer under warm water.

## E-0410 Motor too hot

Let the motor cool for 40 minutes.

## E-0411 Bearing too warm

Grease the bearing with 12 grams of lithium grease.
"""


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> thresher.Collection:
    folder = tmp_path_factory.mktemp("codes")
    path = Path(folder) / "codes.md"
    path.write_text(CODES, encoding="utf-8")
    opened = thresher.open(folder / "home")
    opened.add(path)
    return opened


@pytest.mark.parametrize(("code", "said"), [("E-0410", "40 minutes"), ("E-0411", "12 grams"), ("e-0401", "strainer")])
def test_the_entry_with_the_code_is_the_answer(collection: thresher.Collection, code: str, said: str) -> None:
    answer = collection.ask(f"How do I fix {code}?")
    assert not answer.abstained
    assert said in answer.text
    assert sum(other in answer.text for other in ("40 minutes", "12 grams", "strainer")) == 1


@pytest.mark.parametrize("code", ["E-0412", "E-0140", "E-0400"])
def test_a_code_that_only_neighbours_are_like_is_refused(collection: thresher.Collection, code: str) -> None:
    assert collection.ask(f"How do I fix {code}?").abstained
