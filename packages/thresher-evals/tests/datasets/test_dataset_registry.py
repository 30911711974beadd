"""Datasets are read whole, or the bad line is named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from thresher.errors import UsageError
from thresher_evals.dataset import Gold
from thresher_evals.datasets.registry import load

Write = Callable[[Path, list[Any]], Path]


def test_judgements_are_also_found_in_the_qrels_folder_and_without_a_header(beir: Path, write_lines: Write) -> None:
    (beir / "qrels.tsv").unlink()
    write_lines(beir / "qrels" / "test.tsv", ["3\tf\t2"])
    (question,) = load(f"beir:{beir}").questions
    assert (question.id, question.grades) == ("3", {"f": 2})


def test_gold_ids_are_gold_sources_and_blank_answers_are_left_out(qa: Path) -> None:
    first, second, third = load(f"qa:{qa}").questions
    assert first.gold == (Gold("ada.pdf", page=2),)
    assert (second.gold, second.answers, second.answerable) == ((Gold("x"),), ("Paris",), True)
    assert (third.id, third.answerable, third.relevance) == ("3", False, {})


def test_a_sample_is_seeded_keeps_the_order_and_lies_within_a_larger_one(tmp_path: Path, write_lines: Write) -> None:
    spec = f"qa:{write_lines(tmp_path / 'many.jsonl', [{'id': n, 'question': f'{n}?'} for n in range(50)])}"
    ten = [question.id for question in load(spec, sample=10, seed=3).questions]
    twenty = [question.id for question in load(spec, sample=20, seed=3).questions]
    assert set(ten) < set(twenty)
    assert ten == sorted(ten, key=int)
    assert ten != [question.id for question in load(spec, sample=10, seed=4).questions]
    assert len(load(spec, sample=100).questions) == 50


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("beer:x", "unknown kind of dataset; did you mean 'beir'"),
        ("questions.jsonl", "not KIND:PATH"),
        ("qa:", "not KIND:PATH"),
        ("qa:/nowhere/at/all.jsonl", "no such file"),
    ],
)
def test_a_spec_that_cannot_be_says_what_can(spec: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load(spec)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "bad.jsonl:2: not JSON"),
        ("[]", "bad.jsonl:2: not a JSON object"),
        ('{"id": "1", "question": "again?"}', "bad.jsonl:2: the id '1' stands on an earlier line"),
        ('{"id": "2"}', "bad.jsonl:2: 'question' is not a text"),
        ('{"question": "?", "id": ["2"]}', "bad.jsonl:2: 'id' is not a text"),
        ('{"id": "2", "question": "?", "answers": "Paris"}', "bad.jsonl:2: 'answers' is not a list"),
        ('{"id": "2", "question": "?", "answerable": "no"}', "bad.jsonl:2: 'answerable' is neither"),
        ('{"id": "2", "question": "?", "gold": ["a"]}', "bad.jsonl:2: 'gold' is not a list of objects"),
        ('{"id": "2", "question": "?", "gold": [{"page": 1}]}', "bad.jsonl:2: a gold passage has no 'source'"),
        ('{"id": "2", "question": "?", "gold": [{"source": "a", "page": 0}]}', "bad.jsonl:2: 'page' of a gold passage"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, write_lines: Write, line: str, message: str) -> None:
    path = write_lines(tmp_path / "bad.jsonl", ['{"id": "1", "question": "?"}', line])
    with pytest.raises(UsageError, match=message):
        load(f"qa:{path}")


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "latin.jsonl"
    path.write_bytes(b'{"id": "1", "question": "caf\xe9?"}\n')
    with pytest.raises(UsageError, match=r"latin\.jsonl:1: not UTF-8"):
        load(f"qa:{path}")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1\ta", "qrels.tsv:7: fewer than 3 columns"),
        ("1\tf\thigh", "qrels.tsv:7: the score 'high' is not"),
        ("1\tf\t0.5", "qrels.tsv:7: the score '0.5' is not"),
        ("99\tf\t1", "qrels.tsv:7: the query '99' is not in"),
        ("1\ta\t2", "qrels.tsv:7: 'a' was given another grade"),
    ],
)
def test_a_bad_judgement_is_named(beir: Path, line: str, message: str) -> None:
    with (beir / "qrels.tsv").open("a") as stream:
        stream.write(f"{line}\n")
    with pytest.raises(UsageError, match=message):
        load(f"beir:{beir}")


def test_a_folder_without_its_files_says_which_are_missing(beir: Path) -> None:
    (beir / "queries.jsonl").unlink()
    with pytest.raises(UsageError, match=r"no queries\.jsonl; beir:DIR needs"):
        load(f"beir:{beir}")


def test_an_id_that_utf_8_cannot_write_is_sampled_as_any_other(
    tmp_path: Path, write_lines: Callable[[Path, Sequence[Any]], Path]
) -> None:
    path = write_lines(tmp_path / "odd.jsonl", [{"id": f"{name}\ud800", "question": "Who?"} for name in "abc"])
    assert len(load(f"qa:{path}", sample=2).questions) == 2
