"""Lines are added whole, also after a kill and by several threads."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from thresher_evals.rows import LineFile


def test_a_torn_line_is_cut_before_more_is_added(tmp_path: Path) -> None:
    path = tmp_path / "rows" / "rag.jsonl"
    LineFile(path).add({"id": 1})
    with path.open("ab") as stream:
        stream.write(b'{"id": 2, "to')
    LineFile(path).add({"id": 3})
    assert path.read_bytes() == b'{"id": 1}\n{"id": 3}\n'


def test_threads_do_not_mix_their_lines(tmp_path: Path) -> None:
    lines = LineFile(tmp_path / "rows.jsonl")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: lines.add({"id": number, "text": "word " * 5000}), range(40)))
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_bytes().splitlines()]
    assert sorted(row["id"] for row in rows) == list(range(40))
