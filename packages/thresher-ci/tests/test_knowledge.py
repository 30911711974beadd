from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from thresher.errors import UsageError
from thresher_ci.knowledge import SCHEMA, Expected, Question, read, write
from thresher_ci.recording import record

WRONG = [
    ("questions: []", 1, "one question at least"),
    ("questions:\n  - expect: refused", 2, '"question" is missing'),
    ("questions:\n  - question: Who?", 2, '"expect" is missing'),
    ("questions:\n  - question: Who?\n    expect: maybe", 3, "\"expect\" is 'maybe'"),
    ("questions:\n  - question: Who?\n    expect: {quote: Words.}", 3, '"source" is missing beside "quote"'),
    ("questions:\n  - question: Who?\n    expect: {source: a.md}", 3, 'either a "quote"'),
    ("questions:\n  - question: Who?\n    expect: {value: ''}", 3, '"value" must be a text'),
    ("questions:\n  - question: Who?\n    expect: refused\n    by: Mara", 4, 'unknown field "by"'),
    ("questions:\n  - question: Who?\n    expect: refused\nmore: 1", 4, 'unknown field "more"'),
]


@pytest.mark.parametrize(("text", "line", "message"), WRONG)
def test_a_wrong_file_is_refused_with_its_line(text: str, line: int, message: str, tmp_path: Path) -> None:
    file = tmp_path / "knowledge.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=message) as caught:
        read(file)
    assert f"line {line}:" in str(caught.value)


@pytest.mark.parametrize("text", [text for text, _, _ in WRONG])
def test_the_published_schema_refuses_what_is_refused(text: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(text), json.loads(SCHEMA.read_text(encoding="utf-8")))


def test_a_question_that_stands_twice_is_refused_with_both_lines(tmp_path: Path) -> None:
    file = tmp_path / "knowledge.yaml"
    file.write_text(
        "questions:\n- question: Who is it?\n  expect: refused\n- question: who  is it?\n  expect: refused\n",
        encoding="utf-8",
    )
    with pytest.raises(UsageError, match=r"line 4: the question stands in line 2 already"):
        read(file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("questions:\n  - question: [\n", r"line 3: is no YAML"),
        ("questions: " + "[" * 9999, "nested too deeply"),
        ("? {a: 1}\n: 2\n", "line 1: unknown field"),
        ("questions: &q [*q]\n", "line 1: a question must have"),
    ],
)
def test_what_is_no_yaml_is_refused_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "knowledge.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        read(file)


def test_questions_are_appended_and_what_stands_there_stays(tmp_path: Path) -> None:
    file = tmp_path / "knowledge.yaml"
    file.write_text("questions:  # of ours\n- question: Who?\n  expect: refused\n", encoding="utf-8")
    write(file, [Question("Où?", Expected("Ici: même.", "a.md"), asked_by="Jo")])
    assert file.read_text(encoding="utf-8").startswith("questions:  # of ours\n- question: Who?\n")
    first, second = read(file)
    assert first.expected.is_refusal
    assert (second.question, second.expected, second.asked_by) == ("Où?", Expected("Ici: même.", "a.md"), "Jo")
    jsonschema.validate(
        yaml.safe_load(file.read_text(encoding="utf-8")), json.loads(SCHEMA.read_text(encoding="utf-8"))
    )


def test_a_value_that_yaml_takes_for_a_number_is_its_words(tmp_path: Path) -> None:
    file = tmp_path / "knowledge.yaml"
    file.write_text("questions:\n- question: How many?\n  expect: {value: 007}\n", encoding="utf-8")
    assert read(file)[0].expected.value == "007"


def test_a_question_that_stands_there_in_other_case_or_spacing_is_not_recorded_again(tmp_path: Path) -> None:
    file = tmp_path / "knowledge.yaml"
    answer = {"question": "Who rebuilt  the lamp?", "abstained": True, "citations": ()}
    assert len(record(file, [answer])) == 1
    assert record(file, [{**answer, "question": "who rebuilt the lamp?"}]) == []
    assert len(read(file)) == 1
