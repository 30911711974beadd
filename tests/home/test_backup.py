"""A home in one file while others write, and back."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import thresher
from tests.conftest import Run
from thresher.errors import UsageError
from thresher.home.backup import backup, restore

WRITER = """
import sys
from pathlib import Path
import thresher
with thresher.open(sys.argv[1]) as collection:
    print("begun", flush=True)
    for number in range(1000):
        file = Path(sys.argv[2]) / f"{number % 7}.txt"
        file.write_text(f"The tide at Fernby rises by {number} metres.")
        collection.add(file)
        if number % 5 == 4:
            collection.delete(file)
        collection.ask("How high is the tide at Fernby?", recipe="rag")
"""


def test_a_home_comes_back_whole(home: Path, tmp_path: Path, run: Run) -> None:
    question = "When was the K\u00f5pu lighthouse built?"
    with thresher.open(home) as collection:
        answer = collection.ask(question, recipe="rag")
        collection.feedback(answer.trace, right=True)
    (home / "server").mkdir(exist_ok=True)
    (home / "server" / "keys.json").write_text("[]")
    file, new = tmp_path / "home.backup", tmp_path / "new"
    assert run("backup", file, "--home", home).code == 0
    assert file.stat().st_mode & 0o077 == 0
    assert run("restore", file, "--home", new).out == f"{new} is restored from {file}\n"
    with thresher.open(new) as collection, thresher.open(home) as before:
        assert collection.documents() == before.documents()
        assert collection.traces.load(answer.trace)["text"] == answer.text
        assert len(collection.labels.labels()) == 1
        assert collection.ask(question, recipe="rag").text == answer.text
        assert collection.doctor() == []
    assert (new / "server" / "keys.json").read_text() == "[]"
    assert not [path for path in (*home.iterdir(), *new.iterdir()) if path.name.startswith(".")]
    with pytest.raises(UsageError, match="is there already"):
        restore(new, file)


@pytest.mark.slow
def test_a_home_is_written_while_another_process_indexes_deletes_and_asks(tmp_path: Path) -> None:
    home, texts = tmp_path / "home", tmp_path / "texts"
    texts.mkdir()
    command = [sys.executable, "-c", WRITER, str(home), str(texts)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        while not list(home.glob("collections/default/traces/*.json")):
            assert writer.poll() is None
        for number in range(3):
            backup(home, tmp_path / f"{number}.backup")
        assert writer.poll() is None
        writer.kill()
    for number in range(3):
        assert restore(tmp_path / f"{number}", tmp_path / f"{number}.backup") == []
        with thresher.open(tmp_path / f"{number}") as collection:
            assert {finding.where for finding in collection.doctor() if not finding.mended} == set()
            assert collection.ask("How high is the tide at Fernby?", recipe="rag").citations


def test_what_is_no_backup_is_refused_and_nothing_stays(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no backup")
    with tarfile.open(tmp_path / "other", "w:gz") as other:
        other.add(tmp_path / "text", "home/x")
    for name in ("text", "other", "nothing"):
        with pytest.raises(UsageError):
            restore(tmp_path / "new", tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "text"]
    with pytest.raises(UsageError, match="no such home"):
        backup(tmp_path / "nowhere", tmp_path / "x")
