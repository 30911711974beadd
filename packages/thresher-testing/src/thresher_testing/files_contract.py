"""The contract of `Files`, as tests for pytest: subclass `FilesContract` and open the files.

class TestMyFiles(FilesContract):
    def open_files(self, folder: Path) -> Files:
        return MyFiles(folder)
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic, time

import pytest

from thresher.errors import StoreError, UsageError
from thresher.protocols import Files

WRITERS = 8
"""Concurrent threads."""

CLOCKS_DIFFER = 60.0
"""Allowed error of the file server's clock, in seconds."""


class FilesContract:
    """The guarantees of `Files`."""

    def open_files(self, folder: Path) -> Files:
        """The files of a test; the same folder opened again has the same files."""
        raise NotImplementedError

    @pytest.fixture
    def files(self, tmp_path: Path) -> Files:
        """No files yet."""
        return self.open_files(tmp_path / "files")

    def test_what_is_not_there_is_none_and_no_error(self, files: Files) -> None:
        assert files.read("a.json") is None
        assert files.read("a/b.json") is None
        assert files.find("a/b.json") is None
        assert list(files.list()) == []
        files.remove(["a.json", "a/b.json"])

    def test_a_file_is_read_as_it_was_written(self, tmp_path: Path, files: Files) -> None:
        content = bytes(range(256)) * 40
        for written in (b"", content, b"newer"):
            files.write("traces/ab12.json", written, durable=written == content)
            assert files.read("traces/ab12.json") == written
        again = self.open_files(tmp_path / "files")
        assert again.read("traces/ab12.json") == b"newer"
        assert [again.find("traces/ab12.json")] == list(again.list())
        assert again.find("traces") is None

    def test_a_file_is_created_once(self, files: Files) -> None:
        assert files.create("one.json", b"first")
        assert not files.create("one.json", b"second")
        assert files.read("one.json") == b"first"
        files.remove(["one.json"])
        assert files.create("one.json", b"third")

    def test_of_many_that_create_a_file_at_once_one_does(self, tmp_path: Path, files: Files) -> None:
        def create(number: int) -> bool:
            return self.open_files(tmp_path / "files").create("one", str(number).encode())

        with ThreadPoolExecutor(WRITERS) as pool:
            made = list(pool.map(create, range(WRITERS)))
        assert made.count(True) == 1
        assert files.read("one") == str(made.index(True)).encode()

    def test_files_are_listed_by_prefix_and_age(self, files: Files) -> None:
        for name in ("z.json", "traces/b.json", "traces/a.json", "tracer", "other/traces/c.json"):
            files.write(name, name.encode())
        names = ["z.json", "traces/b.json", "traces/a.json", "tracer", "other/traces/c.json"]
        listed = files.list()
        assert sorted(file.name for file in listed) == sorted(names)
        assert [file.modified for file in listed] == sorted(file.modified for file in listed)
        assert all(file.bytes == len(file.name) and abs(file.modified - time()) < CLOCKS_DIFFER for file in listed)
        assert {file.name for file in files.list("traces/")} == {"traces/a.json", "traces/b.json"}
        assert {file.name for file in files.list("trace")} == {"traces/a.json", "traces/b.json", "tracer"}
        assert list(files.list("nothing/")) == []

    def test_a_file_that_is_written_again_is_the_youngest(self, files: Files) -> None:
        for name in ("a", "b", "a"):
            before = files.list()
            deadline = monotonic() + 10
            while files.list() == before or (before and files.list()[-1].modified <= before[-1].modified):
                files.write(name, f"{monotonic()}".encode())  # clocks of file systems and servers are coarse
                assert monotonic() < deadline
        assert [file.name for file in files.list()] == ["b", "a"]

    def test_many_files_are_all_listed_and_removed(self, files: Files) -> None:
        names = {f"many/{number:04}" for number in range(50)}
        with ThreadPoolExecutor(WRITERS) as pool:
            list(pool.map(lambda name: files.write(name, b"x"), sorted(names)))
        assert {file.name for file in files.list("many/")} == names
        files.remove(sorted(names)[1:])
        assert [file.name for file in files.list()] == ["many/0000"]

    def test_files_below_a_folder_are_the_same_files(self, files: Files) -> None:
        below = files.below("a").below("b")
        below.write("c.json", b"x")
        assert files.read("a/b/c.json") == b"x"
        assert [file.name for file in below.list()] == ["c.json"]
        assert below.where("c.json") == files.where("a/b/c.json")
        files.remove(["a/b/c.json"])
        assert below.read("c.json") is None

    def test_names_of_any_language_and_marks_are_names(self, files: Files) -> None:
        names = {"ä/größe 1.json", "a+b & c=d %2F#?.json", "日本/x", "it's"}
        for name in names:
            files.write(name, name.encode())
        assert {file.name for file in files.list()} == names
        assert all(files.read(name) == name.encode() for name in names)

    @pytest.mark.parametrize("name", ["", "/etc/passwd", "../out", "a/../../out", "a//b", ".hidden", "a/.b", "a\0b"])
    def test_a_name_that_leads_out_or_hides_is_refused(self, files: Files, name: str) -> None:
        for use in (files.read, files.where, files.below, lambda name: files.write(name, b"x")):
            with pytest.raises(UsageError):
                use(name)

    def test_a_reader_never_sees_half_of_a_file(self, tmp_path: Path, files: Files) -> None:
        whole = {bytes([mark]) * 100_000 for mark in range(4)}
        files.write("f", next(iter(whole)))

        def write() -> None:
            for one in whole:
                self.open_files(tmp_path / "files").write("f", one)

        with ThreadPoolExecutor(2) as pool:
            writing = pool.submit(write)
            seen = {files.read("f")}
            while not writing.done():
                seen.add(files.read("f"))
        assert seen <= whole

    def test_one_at_a_time_holds_a_lock(self, tmp_path: Path, files: Files) -> None:
        files.write("count", b"0")

        def count(_: int) -> None:
            own = self.open_files(tmp_path / "files")
            with own.lock("count.lock", 60):
                own.write("count", str(int(own.read("count") or b"") + 1).encode())

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(count, range(12)))
        assert files.read("count") == b"12"

    def test_a_lock_that_is_held_is_an_error_after_a_while_and_free_afterwards(
        self, tmp_path: Path, files: Files
    ) -> None:
        def hold(fail: bool) -> None:
            with self.open_files(tmp_path / "files").lock("a.lock", 0.1):
                if fail:
                    raise RuntimeError("inside")

        with ThreadPoolExecutor(1) as pool:
            with files.lock("a.lock", 1), pytest.raises(StoreError, match="held"):
                pool.submit(hold, False).result()
            with pytest.raises(RuntimeError, match="inside"):
                pool.submit(hold, True).result()
        with files.lock("a.lock", 1), files.lock("b.lock", 1):
            files.write("x", b"y")
        assert files.read("x") == b"y"
