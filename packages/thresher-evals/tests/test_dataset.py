"""Splits follow the published rule, and what belongs together stays together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from thresher.errors import UsageError
from thresher_evals.dataset import split_of
from thresher_evals.datasets.registry import load

Write = Callable[[Path, list[Any]], Path]


@pytest.mark.parametrize(
    ("key", "split"),
    [
        # sha1("split:George Rankin") is e7235f3d1bc3e194f54943cd36a8d0d9f5e684b4, which is 1 modulo 5.
        ("George Rankin", "train"),
        ("Harvard_University", "train"),  # 0
        ("European_Union_law", "tune"),  # 3
        ("Steam_engine", "final"),  # 4
    ],
)
def test_a_key_has_the_split_computed_by_hand(key: str, split: str) -> None:
    assert split_of(key) == split


def test_questions_without_a_subject_go_by_their_id_and_the_splits_share_nothing(
    tmp_path: Path, write_lines: Write
) -> None:
    spec = f"qa:{write_lines(tmp_path / 'many.jsonl', [{'id': n, 'question': f'{n}?'} for n in range(100)])}"
    parts = [[question.id for question in load(spec, split=split).questions] for split in ("train", "tune", "final")]
    assert sorted(id for part in parts for id in part) == sorted(map(str, range(100)))
    assert all(split_of(id) == "tune" for id in parts[1])
    assert len(load(spec, split="tune", sample=5).questions) == 5


def test_an_unknown_split_names_the_known_ones(qa: Path) -> None:
    with pytest.raises(UsageError, match="splits are train, tune, final, all"):
        load(f"qa:{qa}", split="test")
