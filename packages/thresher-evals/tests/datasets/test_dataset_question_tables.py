"""Question files as people keep them: CSV, Excel, with and without ids."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from openpyxl import Workbook

from thresher.errors import UsageError
from thresher_evals.dataset import Gold, Question
from thresher_evals.datasets.qa import read_questions

ROWS = (
    ("Question", "Answers", "Answerable", "Source", "Page", "Comment"),
    ("When was it opened?", "1854 | in 1854", "yes", "railway.pdf", "2", "ask Ann"),
    ("Who won in 1974?", "", "no", "", "", ""),
    ("", "", "", "", "", ""),
    ("How long is it?", "41 km", "", "", "", ""),
)


def csv(path: Path, *, delimiter: str = ",", encoding: str = "utf-8") -> Path:
    path.write_bytes("\r\n".join(delimiter.join(row) for row in ROWS).encode(encoding))
    return path


def xlsx(path: Path) -> Path:
    book = Workbook()
    assert book.active is not None
    for row in ROWS:
        book.active.append([int(cell) if cell.isdigit() else cell or None for cell in row])
    book.save(path)
    return path


def plain(questions: list[Question]) -> list[tuple[object, ...]]:
    return [(one.question, one.answers, one.answerable, one.gold) for one in questions]


@pytest.mark.parametrize(
    "write",
    [
        lambda folder: csv(folder / "q.csv"),
        lambda folder: csv(folder / "q.csv", delimiter=";", encoding="utf-8-sig"),
        lambda folder: csv(folder / "q.tsv", delimiter="\t"),
        lambda folder: xlsx(folder / "q.xlsx"),
    ],
    ids=["commas", "semicolons as Excel writes them", "tabs", "a workbook"],
)
def test_a_table_is_a_question_a_row(write: Callable[[Path], Path], tmp_path: Path) -> None:
    questions = read_questions(write(tmp_path))
    assert plain(questions) == [
        ("When was it opened?", ("1854", "in 1854"), True, (Gold("railway.pdf", 2),)),
        ("Who won in 1974?", (), False, ()),
        ("How long is it?", ("41 km",), True, ()),
    ]


def test_a_question_keeps_its_id_wherever_it_stands(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("question\nWhat is a?\nWhat is b?\n", encoding="utf-8")
    (tmp_path / "q.jsonl").write_text('{"question": "What is b?"}\n{"question": "What is a?"}\n', encoding="utf-8")
    first, second = read_questions(tmp_path / "q.csv")
    assert [one.id for one in read_questions(tmp_path / "q.jsonl")] == [second.id, first.id]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("title,answer\na,b\n", "has no column `question`, its first row is: title, answer"),
        ("", "has no column `question`, its first row is: empty"),
        ("question,answerable\nWhat?,perhaps\n", "q.csv:2: 'answerable' is 'perhaps'; write yes or no"),
        ("question,source,page\nWhat?,a.pdf,iv\n", "q.csv:2: 'page' is 'iv'; give a whole number"),
        ("question,answers\n,a\n", "q.csv:2: 'question' is not a text"),
        ("question\nWhat?\nWhat?\n", "q.csv:3: the question stands on an earlier line too"),
    ],
)
def test_what_is_wrong_with_a_table_is_told_with_its_row(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as raised:
        read_questions(tmp_path / "q.csv")
    assert told in str(raised.value)


@pytest.mark.parametrize("name", ["q.csv", "q.xlsx"])
def test_a_file_that_is_no_table_is_told(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"\xff\xfe nothing of the kind")
    with pytest.raises(UsageError, match=r"is not UTF-8|is no Excel workbook"):
        read_questions(tmp_path / name)
