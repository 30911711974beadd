from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from thresher.errors import StoreError
from thresher.home.files import LocalFiles
from thresher.models.cassette import FOLDERS, ReplyCache, _name
from thresher.models.pool import in_parallel


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_a_reply_is_found_by_another_cache_of_the_same_folder(tmp_path: Path) -> None:
    ReplyCache(LocalFiles(tmp_path / "replies")).put(["m", "why"], "because\n\ud800")
    other = ReplyCache(LocalFiles(tmp_path / "replies"))
    assert other.get(["m", "why"]) == "because\n\ud800"
    assert other.get(["m", "when"]) is None
    assert other.get(["mw", "hy"]) is None


def test_a_newer_reply_takes_the_place_of_the_older(tmp_path: Path) -> None:
    cache = ReplyCache(LocalFiles(tmp_path))
    cache.put(["k"], "old")
    cache.put(["k"], "new")
    assert cache.get(["k"]) == "new"
    assert len(files(tmp_path)) == 1


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b'{"reply": "half', b"[]", b"null", b"{}", b'{"reply": 7}', b"\xff\xfe", b"[" * 100_000],
    ids=lambda damage: repr(damage[:20]),
)
def test_a_damaged_file_is_missing_and_mended_by_the_next_reply(tmp_path: Path, damage: bytes) -> None:
    cache = ReplyCache(LocalFiles(tmp_path))
    cache.put(["k"], "whole")
    (file,) = files(tmp_path)
    file.write_bytes(damage)
    assert cache.get(["k"]) is None
    cache.put(["k"], "whole")
    assert cache.get(["k"]) == "whole"


def test_a_folder_that_cannot_be_written_or_read_is_no_error(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    cache = ReplyCache(LocalFiles(in_the_way))
    with caplog.at_level(logging.INFO):
        cache.put(["k"], "lost")
        assert cache.get(["k"]) is None
    assert "cannot be stored" in caplog.text


def test_a_write_that_fails_half_way_leaves_nothing_behind(tmp_path: Path) -> None:
    cache = ReplyCache(LocalFiles(tmp_path))
    cache.put(["k"], "first")
    (file,) = files(tmp_path)
    file.unlink()
    file.mkdir()  # a file cannot be moved into the place of a folder
    cache.put(["k"], "second")
    assert files(tmp_path) == []


def test_the_oldest_go_when_there_are_too_many(tmp_path: Path) -> None:
    cache = ReplyCache(LocalFiles(tmp_path), max_replies=2 * FOLDERS)
    keys = [[str(number)] for number in range(3 * FOLDERS)]
    for number, key in enumerate(keys):
        cache.put(key, "reply")
        file = tmp_path / _name(key)
        os.utime(file, ns=(number, number))  # one after the other, whatever the clock's grain
    written: dict[str, list[int]] = {}
    for number, key in enumerate(keys):
        written.setdefault(_name(key)[:2], []).append(number)
    wanted = [number for numbers in written.values() for number in numbers[-2:]]
    assert [number for number, key in enumerate(keys) if cache.get(key) is not None] == sorted(wanted)


def test_files_are_small_json_two_levels_down_that_hold_no_prompt(tmp_path: Path) -> None:
    ReplyCache(LocalFiles(tmp_path)).put(["secret question"], "reply")
    (file,) = files(tmp_path)
    assert len(file.relative_to(tmp_path).parts) == 2
    assert json.loads(file.read_text()) == {"reply": "reply"}


def test_threads_write_and_read_the_same_replies(tmp_path: Path) -> None:
    caches = [ReplyCache(LocalFiles(tmp_path), max_replies=FOLDERS * 4) for _ in range(2)]

    def use(number: int) -> bool:
        cache = caches[number % 2]
        cache.put([str(number % 5)], str(number % 5) * 1000)
        return cache.get([str(number % 5)]) in (str(number % 5) * 1000, None)

    assert all(in_parallel([lambda n=n: use(n) for n in range(200)], workers=8))
    assert len(files(tmp_path)) == 5


def test_clearing_forgets_replies_and_leaves_what_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    cache = ReplyCache(LocalFiles(tmp_path))
    cache.put(["k"], "reply")
    cache.clear()
    cache.clear()
    assert cache.get(["k"]) is None
    assert files(tmp_path) == [tmp_path / "notes.txt"]
    ReplyCache(LocalFiles(tmp_path / "never made")).clear()


def test_what_cannot_be_cleared_is_an_error(tmp_path: Path) -> None:
    class Stuck(LocalFiles):
        def remove(self, names: Iterable[str]) -> None:
            if list(names):
                raise StoreError("cannot be removed")

    cache = ReplyCache(Stuck(tmp_path))
    cache.put(["k"], "reply")
    with pytest.raises(StoreError, match="cannot be removed"):
        cache.clear()
