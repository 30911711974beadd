"""Files that change, move or go after they were indexed: `index` follows them, and an answer names them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run
from thresher.documents.registry import EXTRACTION
from thresher.indexing.store import DocumentStore

TEXTS = {
    "boats.txt": "The ferry to Norrholm leaves at 07:40 from the east quay.",
    "mill.txt": "The mill on the hill grinds rye since 1720.",
    "bells.txt": "The town hall of Varn has three bells.",
}
FERRY = "When does the ferry to Norrholm leave?"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "town"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def home(run: Run, folder: Path, tmp_path: Path) -> tuple[str, Path]:
    """The folder, indexed."""
    home = "--home", tmp_path / "home"
    run("index", folder, *home)
    return home


def names(run: Run, home: tuple[str, Path]) -> list[str]:
    return sorted(Path(one["source"]).name for one in run("documents", *home, "--json").json)


def records(home: tuple[str, Path], **changed: Any) -> dict[str, dict[str, Any]]:
    """What is recorded of the files by name, with some of it changed as an earlier version had written it."""
    store = DocumentStore(home[1] / "collections" / "default")
    if changed:
        store.record_table("read_files").merge([{**row, **changed} for row in store.files().values()])
    return {Path(file).name: row for file, row in store.files().items()}


def test_index_forgets_what_is_gone_from_its_folder(run: Run, folder: Path, home: tuple[str, Path]) -> None:
    (folder / "bells.txt").unlink()
    kept = run("index", folder, "--keep-missing", *home)
    assert "bells.txt: the file is gone, its text is still in the collection; index the folder with --prune" in kept.err
    assert names(run, home) == sorted(TEXTS)
    assert run("index", folder, *home).out.startswith("2 unchanged, 1 removed; ")
    assert names(run, home) == ["boats.txt", "mill.txt"]


@pytest.mark.parametrize("gone", [2, 3])
def test_index_forgets_nothing_where_most_of_a_folder_is_gone(
    run: Run, folder: Path, home: tuple[str, Path], gone: int
) -> None:
    for name in list(TEXTS)[:gone]:
        (folder / name).unlink()
    told = run("index", folder, *home)
    assert f"town: {gone} of the 3 files that were indexed are gone, and nothing was forgotten" in told.err
    assert "is a drive not mounted" in told.err
    assert names(run, home) == sorted(TEXTS)
    assert run("index", folder, "--prune", *home, "--json").json["removed"] == gone


def test_of_a_folder_that_is_missing_everything_is_kept(run: Run, folder: Path, home: tuple[str, Path]) -> None:
    folder.rename(folder.with_name("elsewhere"))
    told = run("index", folder, "--prune", *home)
    assert (told.code, "what was indexed from there before is kept" in told.err) == (1, True)
    assert names(run, home) == sorted(TEXTS)


def test_a_file_or_folder_that_was_renamed_takes_its_citations_along(
    run: Run, folder: Path, home: tuple[str, Path]
) -> None:
    (folder / "boats.txt").rename(folder / "ferries.txt")
    assert run("index", folder / "ferries.txt", *home).out.startswith("1 renamed; 0 new chunks")
    moved = folder.rename(folder.with_name("village"))
    report = run("index", moved.parent, "--exclude", "home", *home, "--json").json
    assert (report["renamed"], report["duplicates"], report["removed"], report["remarks"]) == (3, 0, 0, [])
    cited = run("ask", FERRY, *home, "--json").json["citations"][0]
    assert (cited["source"], cited["title"]) == (str(moved / "ferries.txt"), "ferries")
    assert "stale" not in cited


def test_a_stale_file_is_named_beside_its_citation(run: Run, folder: Path, home: tuple[str, Path]) -> None:
    file = folder / "boats.txt"
    os.utime(file, ns=(1, 1))
    told = run("ask", FERRY, *home)
    assert "boats.txt, line 1, characters 0-57 (changed since it was indexed)" in told.out
    assert run("index", folder, *home, "--json").json["unchanged"] == 3  # its bytes are what they were
    assert "stale" not in run("ask", FERRY, *home, "--json").json["citations"][0]
    file.unlink()
    assert run("ask", FERRY, *home, "--json").json["citations"][0]["stale"] == "gone"
    assert "(no longer there)" in run("explain", "last", *home).out
    file.write_text(TEXTS[file.name])
    assert "the replay reached the stored answer" in run("explain", "last", "--replay", *home).err


def test_files_that_an_older_version_read_are_read_anew(run: Run, folder: Path, home: tuple[str, Path]) -> None:
    records(home, extraction=EXTRACTION - 1, size=None, modified=None)
    assert "stale" not in run("ask", FERRY, *home, "--json").json["citations"][0]  # its state was not kept then
    assert run("index", folder, "--no-reread", *home).out.startswith("3 unchanged; ")
    assert {row["extraction"] for row in records(home).values()} == {EXTRACTION - 1}
    told = run("index", folder, *home)
    assert "files that an older version of the extraction read are read anew; not with --no-reread" in told.err
    assert told.out.startswith("3 unchanged, 3 read anew; 0 new chunks")
    assert {(row["extraction"], row["size"]) for row in records(home).values()} == {
        (EXTRACTION, len(text)) for text in TEXTS.values()
    }


def test_a_line_break_in_the_name_of_a_file_is_visible(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a\n  [2] b.txt").write_text(TEXTS["boats.txt"])
    home = ("--home", tmp_path / "home")
    run("index", tmp_path, *home)
    assert r"a\n  [2] b.txt, line 1" in run("ask", FERRY, *home).out
