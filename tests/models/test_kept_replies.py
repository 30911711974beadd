from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from thresher.errors import BudgetSpent, NotRecorded, ProviderError, TooLong
from thresher.home.places import LocalFiles
from thresher.models.reply_cache import FOLDERS, ReplyCache
from thresher.models.running import in_parallel
from thresher.models.usage import Exchanges, content_hash


def never() -> str:
    raise AssertionError("playback asks nobody")


def raising(error: Exception) -> Callable[[], str]:
    def make() -> str:
        raise error

    return make


def stored(exchanges: Exchanges) -> Exchanges:
    """The record after a way through JSON, to be played back."""
    return Exchanges(json.loads(json.dumps(exchanges.stored())))


FAILURES = [
    ProviderError("down", subject="m at h", next_step="wait", retryable=True),
    TooLong("answered with status 400", subject="m at h", next_step="hand on fewer chunks"),
    BudgetSpent("the budget of 3 model calls is spent"),
]


def test_replies_and_failures_are_played_back_in_their_order_for_each_key() -> None:
    recorded = Exchanges()
    for key, reply in [("a", "1"), ("b", "2"), ("a", "3")]:
        assert recorded.reply([key], lambda reply=reply: reply) == reply
    for error in FAILURES:
        with pytest.raises(type(error)):
            recorded.reply(["a"], raising(error))
    played = stored(recorded)
    assert (recorded.replaying, played.replaying) == (False, True)
    assert [played.reply([key], never) for key in ("b", "a", "a")] == ["2", "1", "3"]
    for error in FAILURES:
        with pytest.raises(type(error)) as caught:
            played.reply(["a"], never)
        assert (type(caught.value), vars(caught.value)) == (type(error), vars(error))
    for key in ("a", "c"):
        with pytest.raises(NotRecorded, match="ask the question anew"):
            played.reply([key], never)


def test_a_mistake_is_not_recorded() -> None:
    recorded = Exchanges()
    with pytest.raises(ZeroDivisionError):
        recorded.reply(["a"], raising(ZeroDivisionError()))
    assert recorded.stored() == {}


def test_threads_record_every_reply_and_the_record_does_not_depend_on_who_was_first() -> None:
    numbers = list(range(60))
    forwards, backwards = Exchanges(), Exchanges()
    for exchanges, order in ((forwards, numbers), (backwards, numbers[::-1])):
        in_parallel([lambda n=n, e=exchanges: e.reply(["k", str(n)], lambda: f"r{n}") for n in order], workers=8)
    assert list(forwards.stored()) == list(backwards.stored())
    assert forwards.stored() == backwards.stored()


def test_what_is_asked_is_not_kept_and_half_characters_do_no_harm() -> None:
    recorded = Exchanges()
    recorded.reply(["secret \ud800 question"], lambda: "half \ud800")
    assert "secret" not in json.dumps(recorded.stored())
    assert stored(recorded).reply(["secret \ud800 question"], never) == "half \ud800"


# --- for later questions ----------------------------------------------------------------------------------------------


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_a_reply_is_found_by_another_cache_of_the_same_folder(tmp_path: Path) -> None:
    ReplyCache(LocalFiles(tmp_path / "replies")).put(["m", "why"], "because\n\ud800")
    other = ReplyCache(LocalFiles(tmp_path / "replies"))
    assert other.get(["m", "why"]) == "because\n\ud800"
    assert other.get(["m", "when"]) is None
    assert other.get(["mw", "hy"]) is None
    other.put(["m", "why"], "newer")
    assert (other.get(["m", "why"]), len(files(tmp_path))) == ("newer", 1)


@pytest.mark.parametrize(
    "damage",
    [b"", b'{"reply": "half', b"[]", b'{"reply": 7}', b"\xff\xfe", b"[" * 100_000],
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


def test_the_oldest_go_when_there_are_too_many_and_no_file_holds_a_prompt(tmp_path: Path) -> None:
    cache = ReplyCache(LocalFiles(tmp_path), max_replies=2 * FOLDERS)
    keys = [["secret question", str(number)] for number in range(2_000)]
    folder = content_hash(keys[0])[:2]
    keys = [key for key in keys if content_hash(key)[:2] == folder]
    for number, key in enumerate(keys):
        cache.put(key, "reply")
        newest = max(files(tmp_path), key=lambda file: file.stat().st_mtime_ns)
        os.utime(newest, ns=(number, number))  # one after the other, whatever the clock's grain
    assert len(keys) > 3
    assert [cache.get(key) for key in keys] == [*[None] * (len(keys) - 2), "reply", "reply"]
    assert [json.loads(file.read_text()) for file in files(tmp_path)] == [{"reply": "reply"}] * 2


def test_clearing_forgets_replies_and_leaves_what_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    cache = ReplyCache(LocalFiles(tmp_path))
    cache.put(["k"], "reply")
    cache.clear()
    cache.clear()
    assert cache.get(["k"]) is None
    assert files(tmp_path) == [tmp_path / "notes.txt"]
    ReplyCache(LocalFiles(tmp_path / "never made")).clear()
