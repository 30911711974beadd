from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.documents.making import read_all, read_one, refusal, rows_of, save
from thresher.errors import DocumentError
from thresher.structure.locators import locate
from thresher.types import Document

PEOPLE = [{"name": "Ada", "city": "Paris", "tags": ["a", "b"]}, {"name": "Bruno", "age": 41}, {"name": "Clara"}]
NOTES = ["| city | note |", "| Rome | a b |"]
TOWNS = ["| city | n |", "| Rome | 1 |", "| Bern |  |"]


@pytest.mark.parametrize(
    ("name", "source", "rows"),
    [
        ("a.csv", 'city,note\nRome,"a\n b"\n', NOTES),
        ("b.csv", "city;note\nRome;a b\n", NOTES),
        ("c.tsv", "city\tnote\nRome\ta b\n", NOTES),
        ("d.csv", "sep=;\ncity;note\nRome;a b\n", NOTES),
        ("e.csv", ",2023\nEast,4\n", ["|  | 2023 |", "| East | 4 |"]),
        ("a.json", '[{"city": "Rome", "n": 1}, {"city": "Bern", "n": null}]', TOWNS),
        ("a.jsonl", '{"city": "Rome", "n": 1}\n\n{"city": "Bern", "n": null}\n', TOWNS),
        ("b.json", '[{"city": "Rome", "n": 1}, {"city": "Bern"}]', TOWNS),  # a record may lack a field
    ],
)
def test_records_are_one_table_whatever_parts_them(name: str, source: str, rows: list[str], tmp_path: Path) -> None:
    document = read_one(save(tmp_path, name, source))
    assert (document.kind, rows_of(document)) == (name.partition(".")[2].replace("tsv", "csv"), rows)


def test_json_with_a_text_field_is_that_text_and_its_scalars_are_metadata(tmp_path: Path) -> None:
    value = {"title": "Oats", "date": "2020-01-02", "text": "All about oats.", "stars": 3, "tags": ["a"], "none": None}
    document = read_one(save(tmp_path, "a.json", json.dumps(value)))
    assert (document.kind, document.title, document.date) == ("json", "Oats", "2020-01-02")
    assert document.text == "All about oats."
    assert document.metadata == {"stars": 3}


def test_other_json_and_records_that_lack_most_fields_become_lines(tmp_path: Path) -> None:
    nested = read_one(save(tmp_path, "b.json", '{"a": {"b": 1, "c": [true, "x"]}, "d": [{"e": 2}]}'))
    assert nested.text == "a.b: 1\na.c: true, x\nd.1.e: 2"
    assert not read_one(save(tmp_path, "b.json", json.dumps(PEOPLE))).tables


def test_json_records_under_a_key_are_a_table_with_that_key_above(tmp_path: Path) -> None:
    value = {"site": "Lyon", "data": {"staff": [*PEOPLE[:1], {"name": "Bo", "city": "Oslo", "tags": []}]}, "end": 1}
    document = read_one(save(tmp_path, "a.json", json.dumps(value)))
    assert rows_of(document) == ["| name | city | tags |", "| Ada | Paris | a, b |", "| Bo | Oslo |  |"]
    assert document.text.startswith("site: Lyon\nend: 1\n\ndata.staff\n\n| name |")
    assert [mark.name for mark in document.marks if mark.start == document.tables[0].rows[2][0]] == ["$.data.staff[1]"]


@pytest.mark.parametrize(
    ("name", "source", "what"),
    [
        ("a.json", '{"a": 1,\n  b}', "line 2, column 3"),
        ("a.json", "[" * 100_000 + "]" * 100_000, "nested"),
        ("a.json", f"[{'9' * 10_000}]", "malformed JSON"),
        ("a.jsonl", '{"a": 1}\n{"a": }\n{"a": 3}', "line 2: malformed JSON"),
    ],
)
def test_what_is_malformed_is_refused_with_its_place(name: str, source: str, what: str, tmp_path: Path) -> None:
    assert what in refusal(tmp_path, name, source).what


def test_each_line_of_a_corpus_is_a_passage_with_its_text_untouched(tmp_path: Path) -> None:
    text = "  two  spaces\n\n\n\nand ﬁ\u00a0end "
    lines = [
        {"_id": "a1", "title": "Oats", "text": text, "metadata": {"year": 1999, "nested": []}, "url": "http://x"},
        {"_id": 7, "text": "Rye."},
    ]
    item = save(tmp_path, "corpus.jsonl", "\n".join(map(json.dumps, lines)))
    first, second = read_all(item, metadata={"set": "test"})
    assert isinstance(first, Document)
    assert isinstance(second, Document)
    assert (first.source, first.title, first.text, first.kind) == ("a1", "Oats", text, "passage")
    assert first.container == item.source
    assert first.metadata == {"year": 1999, "url": "http://x", "set": "test"}
    assert (second.source, second.title) == ("7", "")


def test_a_bad_line_of_a_corpus_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    good = '{"_id": "%s", "text": "words"}'
    bad = {
        b"{broken": "malformed JSON",
        b'{"_id": "x"}': "no text",
        b"[1]": "not a JSON object",
        b'{"text": "words"}': "no _id",
        b'{"_id": "g1", "text": "again"}': "the _id 'g1' was used before",
        b'{"_id": "u", "text": "\xff"}': "not valid UTF-8 at byte 22 of the line",
        b'{"_id": "e", "text": " "}': "the text is empty",
        b'{"_id": "s", "text": "\\ud800"}': "has half of a surrogate pair",
        b'{"_id": "t", "text": "words", "title": "\\ud800"}': "has half of a surrogate pair",
        b'{"_id": "k", "text": "words", "\\ud800": 1}': "has half of a surrogate pair",
        b"[" * 100_000: "malformed JSON",
    }
    item = save(tmp_path, "c.jsonl", b"\n".join([(good % "g1").encode(), *bad, (good % "g2").encode()]))
    found = read_all(item)
    assert [document.source for document in found if isinstance(document, Document)] == ["g1", "g2"]
    failures = [error for error in found if isinstance(error, DocumentError)]
    assert [error.subject for error in failures] == [f"{item.source}:{n}" for n in range(2, len(bad) + 2)]
    assert [error.what for error in failures] == list(bad.values())
    assert all(error.next_step for error in failures)


def test_lines_before_the_header_and_behind_the_rows_are_text_and_rows_keep_their_numbers(tmp_path: Path) -> None:
    source = "sep=;\nExport of rainfall;;\nCreated;2024-01-02;\n\nRegion;Level;Note\nEast;0,4;\nWest;1,2;dry\nBy: me\n"
    document = read_one(save(tmp_path, "a.csv", source))
    assert rows_of(document) == ["| Region | Level | Note |", "| East | 0,4 |  |", "| West | 1,2 | dry |"]
    assert document.text.startswith("Export of rainfall\n\nCreated 2024-01-02\n\n| Region")
    assert document.text.endswith("\n\nBy: me")
    assert [mark.name for mark in document.marks if mark.kind == "row"] == ["5"]


def test_a_notebook_is_its_cells_and_what_they_printed_without_pictures(tmp_path: Path) -> None:
    picture = "iVBORw0KGgoAAAANSUhEUg" * 50
    cells = [
        {"cell_type": "markdown", "source": ["# Tide study\n", "\n", "| a | b |\n", "|---|---|\n", "| 1 | 2 |"]},
        {
            "cell_type": "code",
            "source": ["# mean\n", "print(x.mean())"],
            "outputs": [
                {"output_type": "stream", "text": ["3.41\n"]},
                {"output_type": "display_data", "data": {"image/png": picture, "text/plain": ["<Figure>"]}},
            ],
        },
        {"cell_type": "markdown", "source": f"The gauge: ![g](data:image/png;base64,{picture})"},
    ]
    document = read_one(save(tmp_path, "a.ipynb", json.dumps({"cells": cells, "nbformat": 4})))
    assert (document.kind, document.title) == ("ipynb", "Tide study")
    assert rows_of(document) == ["| a | b |", "| 1 | 2 |"]
    assert document.text.endswith("# mean\nprint(x.mean())\n\n3.41\n\n<Figure>\n\nThe gauge: ![g]()")
    at = document.text.index("3.41")
    assert locate(document, at, at + 4).startswith("cell 2")


def test_json_named_ipynb_is_refused(tmp_path: Path) -> None:
    assert "no cells" in refusal(tmp_path, "a.ipynb", "[1, 2]").what
