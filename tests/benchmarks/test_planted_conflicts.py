"""How planted statements are made and what becomes of them is counted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchmarks.planted_conflicts import Fact, Row, alarms, copied, counted, row_of, states, store, stored

CONTEXT = "The tower is white. It was completed in 1867 by two masons. They lived there. It fell."
FACT = Fact("f1", "When?", ("1867",), "1868", {"copied": {"title": "A note", "text": "It was completed in 1868."}})


def answer(text: str, *titles: str) -> dict[str, object]:
    citations = [{"marker": at, "title": title, "quote": "…"} for at, title in enumerate(titles, start=1)]
    conflicts = [[1, 2]] if len(titles) > 1 else []
    return {"text": text, "abstained": False, "citations": citations, "conflicts": conflicts}


def row(text: str, *titles: str) -> Row:
    return row_of("copied", FACT, answer(text, *titles), 0.5)


def test_a_copied_statement_is_the_sentence_of_the_answer_and_the_next_with_another_value() -> None:
    planted = copied(CONTEXT, CONTEXT.index("1867"), "1867", "1868")
    assert planted == "It was completed in 1868 by two masons. They lived there."


def test_a_conflict_counts_as_shown_where_one_side_is_the_planted_document() -> None:
    told = "Perhaps: 1867 [1]; another document says 1868 [2]"
    shown = row(told, "Tower", "A note")
    assert (shown.shown, shown.right, shown.false) == (True, True, True)
    assert not row(told, "Tower", "Another tower").shown
    assert not row("1868 [1]", "A note").shown


def test_a_part_of_a_value_is_that_value() -> None:
    assert states("350,000", ("350,000 Danish krone",))
    assert states("135°", ("135",))
    assert not states("35", ("350,000 Danish krone",))


def test_of_the_answers_with_either_value_the_share_that_shows_the_conflict_is_told() -> None:
    rows = [
        row("1867 [1]; another document says 1868 [2]", "Tower", "A note"),
        row("1868 [1]", "A note"),
        row("1867 [1]", "Tower"),
        row("two masons [1]", "Tower"),
        replace(row("", "Tower"), abstained=True),
    ]
    found = counted(rows)
    names = ("conflict shown", "false alone", "right alone", "something else", "refused")
    assert [found[name] for name in names] == [1, 1, 1, 1, 1]
    assert found["shown of those with either value"]["value"] == 1 / 3


def test_a_conflict_where_none_is_planted_is_counted_with_what_was_read_of_it(tmp_path: Path) -> None:
    rows = [replace(row("1867 [1]", "Tower"), part="squad"), replace(row("a", "Tower", "Note"), part="squad", id="f2")]
    store(tmp_path / "rows.jsonl", rows)
    assert stored(tmp_path / "rows.jsonl") == rows
    found = alarms(rows, {"squad f2": "other buildings"})
    assert (found["answered"], found["conflict shown"], found["read"]) == (2, 1, {"other buildings": 1})
