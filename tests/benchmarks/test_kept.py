"""Nothing is shown that a recipe dropped, over all recipes on real questions; `python -m benchmarks.kept` asks more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import thresher
from benchmarks.kept import outside
from tests.real_data import DATA
from thresher import recipes

ASKED = 8


@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason="the real data is not there (THRESHER_DATA)")
def test_no_cited_character_was_dropped(tmp_path: Path) -> None:
    lines = (DATA / "squad" / "answered.jsonl").read_text(encoding="utf-8").splitlines()
    rows = list({row["context"]: row for row in map(json.loads, lines[::7])}.values())[: 3 * ASKED]
    for at, row in enumerate(rows):
        (tmp_path / f"p{at}.md").write_text(f"# {row['title']}\n\n{row['context']}\n", encoding="utf-8")
    cited = 0
    with thresher.open(tmp_path / "home") as collection:
        collection.add(tmp_path, recipe=recipes.names())
        for recipe in recipes.names():
            for row in rows[:ASKED]:
                answer = collection.ask(row["question"], recipe=recipe)
                cited += len(answer.citations) + len(answer.alternatives)
                assert [text for _, text in outside(answer)] == [], (recipe, row["question"])
    assert cited > ASKED * len(recipes.names()) / 2
