from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import thresher
from tests.documents import making
from thresher.documents.formats.pdf_pages import failure, loaded, private_folder, temporary_folder
from thresher.errors import DocumentError

READS_TWO = """
import os, sys
from pathlib import Path
from thresher.documents.read import fetch, parse
from thresher.documents.sources import Item
for name in sys.argv[1:]:
    item = Item(name, name, Path(name))
    print(next(parse(item, *fetch(item))).text)
print(os.environ["TMPDIR"])
print(*(line.split()[-1] for line in open("/proc/self/maps") if "kreuzberg-pdfium" in line and "deleted" not in line))
"""


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="looks at what the process has loaded")
@pytest.mark.parametrize("planted", ["a folder", "a link"])
def test_a_library_that_another_user_planted_is_not_loaded(planted: str, tmp_path: Path) -> None:
    shared, theirs = tmp_path / "tmp", tmp_path / "theirs"
    shared.mkdir(0o1777)
    folder = theirs if planted == "a link" else shared / "kreuzberg-pdfium"
    folder.mkdir()
    (folder / "libpdfium.so").write_bytes(b"not what it seems")
    if planted == "a link":
        (shared / "kreuzberg-pdfium").symlink_to(theirs)
    files = [making.save(tmp_path, f"{n}.pdf", making.pdf([f"Page {n} of oats."])).source for n in (1, 2)]
    ran = subprocess.run(
        [sys.executable, "-c", READS_TWO, *files],
        env={**os.environ, "TMPDIR": str(shared)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ran.stdout.splitlines() == ["Page 1 of oats.", "Page 2 of oats.", str(shared), ""]
    assert os.listdir(shared) == ["kreuzberg-pdfium"]  # and nothing is left behind
    assert (folder / "libpdfium.so").read_bytes() == b"not what it seems"


def test_a_private_folder_is_where_no_other_user_can_replace_it(tmp_path: Path) -> None:
    for name, mode in (("open", 0o777), ("group", 0o770), ("sticky", 0o1777), ("own", 0o755)):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(mode)
    for name in ("sticky", "own"):
        with private_folder(tmp_path / "missing", tmp_path / "open", tmp_path / "group", tmp_path / name) as folder:
            assert folder.parent == tmp_path / name
            assert folder.stat().st_mode & 0o777 == 0o700
        assert not folder.exists()
    with pytest.raises(DocumentError, match="safe from other users") as caught, private_folder(tmp_path / "open"):
        pass
    assert "TMPDIR" in caught.value.next_step


def test_a_folder_of_another_user_is_not_trusted(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    os.chown(tmp_path, 65534, 65534)
    with pytest.raises(DocumentError), private_folder(tmp_path):
        pass


@pytest.mark.parametrize("before", [None, "/var/tmp"])
def test_the_temporary_folder_is_afterwards_what_it_was(
    before: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)
    if before is not None:
        monkeypatch.setenv("TMPDIR", before)
    with contextlib.suppress(ValueError), temporary_folder(tmp_path):
        assert os.environ["TMPDIR"] == str(tmp_path)
        raise ValueError("a library that cannot be loaded")
    assert os.environ.get("TMPDIR") == before


def test_nothing_else_imports_the_extractor() -> None:
    package = Path(thresher.__file__).parent
    importing = {
        file.relative_to(package).as_posix()
        for file in package.rglob("*.py")
        if re.search(r"^\s*(?:import|from) kreuzberg", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert importing == {"documents/formats/pdf_pages.py"}
    assert loaded().__name__ == "kreuzberg"


@pytest.mark.parametrize("message", ["weird\nsecond line", "timed out after 3s", "", "PdfiumLibraryInternalError"])
def test_every_message_of_the_extractor_becomes_one_line_with_a_next_step(message: str) -> None:
    error = failure(message)
    assert error.next_step
    assert "\n" not in str(error)
