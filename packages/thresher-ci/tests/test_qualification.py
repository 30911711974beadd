"""What bounds a sentence otherwise after an edit near it. Nothing is read as a rewording or as an answer here."""

from __future__ import annotations

from pathlib import Path

import pytest

from thresher.documents.read import parse
from thresher.documents.sources import Item, fetch
from thresher.types import Document
from thresher_ci.context import context_of
from thresher_ci.knowledge import Expected
from thresher_ci.outcome import Place
from thresher_ci.qualification import qualifications

SENTENCE = "Receipts are handed in within 14 days."
TEXT = f"""# Travel

In force here and abroad. Trains are booked early.

## 2. Costs

A hotel may cost 140 euros. {SENTENCE} Meals are paid. Taxis are not. Tips are refunded.
"""


class Unread:
    """Finds that no wording supports another, and no sentence answers."""

    def __call__(self, sentence: str, passage: str) -> str:
        return "unverified"

    def answers(self, question: str, sentence: str, title: str) -> bool:
        return False


def place(folder: Path, text: str, near: str = SENTENCE) -> Place:
    file = folder / "travel.md"
    file.write_text(text, encoding="utf-8")
    item = Item(source=str(file), root=str(folder), path=file)
    document = next(one for one in parse(item, *fetch(item)) if isinstance(one, Document))
    start = document.text.index(near)
    end = start + len(near)
    return Place(near, "", "travel.md", "", context_of(document, start, end))


def told(folder: Path, old: str, new: str) -> str:
    assert old in TEXT
    after = place(folder, TEXT.replace(old, new), SENTENCE.split()[0])
    expected = Expected(quote=SENTENCE, source="travel.md")
    return qualifications("When are receipts handed in?", expected, place(folder, TEXT), after, Unread())


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("## 2. Costs", "## 2. Costs (superseded)", "its heading: “Travel > 2. Costs”, now “Travel > 2. Costs (s"),
        ("# Travel\n", "# Travel until 2025\n", "its heading"),
        ("within 14 days.", "within 14 days, except in August.", "its words: "),
        ("Receipts are", "Until 2025 Receipts are", "its words: "),
        ("Meals are", "The sales team has 30. Meals are", "added after it: “The sales team has 30.”"),
        ("A hotel may cost 140 euros. ", "", "removed before it: “A hotel may cost 140 euros.”"),
        ("Tips are", "All of this ends in June. Tips are", "added after it: “All of this ends in June.”"),
        ("Trains are booked early.", "Section 2 is void.", "added before it: “Section 2 is void.”"),
        ("Taxis are not.", "Taxis need receipts.", "after it: “Taxis are not.”, now “Taxis need receipts.”"),
    ],
)  # fmt: skip
def test_what_bounds_the_sentence_is_named(tmp_path: Path, old: str, new: str, why: str) -> None:
    assert told(tmp_path, old, new).startswith(why)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("## 2. Costs", "## 3. *Costs*"),
        ("Tips are refunded.", "Tips are refunded. Dogs travel free."),
        ("Trains are booked early.", "Trains are booked late."),
        ("A hotel may cost 140 euros.", "A hotel may cost 150 euros."),
        ("Taxis are not.", "Taxis, however,\nare not."),
        (SENTENCE, f"**{SENTENCE}**"),
    ],
)
def test_what_stands_elsewhere_or_is_written_otherwise_bounds_nothing(tmp_path: Path, old: str, new: str) -> None:
    assert told(tmp_path, old, new) == ""


def test_of_a_table_the_names_of_the_columns_bound_a_row_and_other_rows_do_not(tmp_path: Path) -> None:
    table = "# Fees\n\n| Who | Fee |\n|---|---|\n| Adults | 6 |\n| Children | 2 |\n"
    old, expected = place(tmp_path, table, "| Adults | 6 |"), Expected(value="6")

    def told(new: str) -> str:
        return qualifications("What do adults pay?", expected, old, place(tmp_path, new, "| Adults | 6 |"), Unread())

    assert told(table.replace("| 2 |", "| 3 |")) == ""
    assert "Fee in 2023" in told(table.replace("| Fee |", "| Fee in 2023 |"))
