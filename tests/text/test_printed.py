"""What is printed moves no terminal, whoever wrote it."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

import thresher
from tests.conftest import Run
from thresher.text.markup import json_text, shown

HOSTILE = "a\x1b[2Jb\x1b]8;;http://evil.example\x07c\rd\x9b31me\u202e\u061cf\x7f"


def test_controls_are_written_out_and_lines_and_tabs_stay() -> None:
    written = shown(f"one\ttwo\n{HOSTILE}é")
    assert written.startswith("one\ttwo\na\\x1b[2Jb\\x1b]8;;")
    assert written.endswith("c\\rd\\x9b31me\\u202e\\u061cf\\x7fé")
    assert all(one.isprintable() or one in "\t\n" for one in written)


def test_json_says_the_same_without_a_control() -> None:
    written = json_text({"é": HOSTILE})
    assert json.loads(written) == {"é": HOSTILE}
    assert written.isprintable()


@pytest.fixture
def hostile_home(tmp_path: Path) -> Path:
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "a\x1b[2J\r.txt").write_text(f"The tide at Fernby rises by 4.2 {HOSTILE} metres.", encoding="utf-8")
    row = {"_id": HOSTILE, "title": f"Tides {HOSTILE}", "text": f"The tide at Fernby rises {HOSTILE} by 4 metres."}
    (texts / "corpus.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    with thresher.open(tmp_path / "home") as collection:
        collection.add(texts)
        assert len(collection.documents()) == 2
    return tmp_path / "home"


HOW = "How high is the tide at Fernby?"

COMMANDS = [
    ("documents",),
    ("documents", "--json"),
    ("search", HOW),
    ("ask", HOW),
    ("ask", HOW, "--json"),
    ("ask", HOW, "--stream"),
    ("explain", "last"),
    ("ask", "How high is \x1b[2J?", "--where", "\x1b[2J"),
    ("check", "The tide at Fernby rises by 4.2 metres."),
    ("delete", "none\x1b[2J"),
    ("\x1b[2J",),
    ("collections", "drop", "\x1b[2J"),
]


def test_no_output_of_a_command_moves_the_terminal(run: Run, hostile_home: Path) -> None:
    for command in COMMANDS:
        ran = run(*command, "--home", hostile_home)
        for text in (ran.out, ran.err):
            assert all(one.isprintable() or one in "\t\n" for one in text), (command, text)


def test_a_home_is_for_its_user_alone(hostile_home: Path, run: Run) -> None:
    run("ask", HOW, "--home", hostile_home)
    modes = {path: stat.S_IMODE(os.stat(path).st_mode) for path in (hostile_home, *hostile_home.rglob("*"))}
    assert modes[hostile_home] == modes[hostile_home / "collections"] == 0o700
    assert {mode for path, mode in modes.items() if path.parent.name == "traces"} == {0o600}
