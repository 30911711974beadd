from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.quality.sets import TYPED_PAGES
from benchmarks.real_text import documents


def test_the_pages_are_of_the_packages_and_each_is_listed_once() -> None:
    lines = documents.PAGES.read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(set(lines)) == 313
    listed = [*lines, *TYPED_PAGES.read_text(encoding="utf-8").splitlines()]
    assert {line.split(" ", 1)[0] for line in listed} == set(documents.PACKAGES)
    assert len(set(documents.PAPERS)) == 28


def test_a_download_that_fails_says_what_failed_and_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    refusing = tmp_path / "apt-get"
    refusing.write_text("#!/bin/sh\necho 'E: Unable to locate package' >&2\nexit 100\n", encoding="utf-8")
    refusing.chmod(0o755)
    with pytest.raises(documents.CannotFetch, match=r"download apache2-doc failed: E: Unable.*apt-get update"):
        documents.fetch(tmp_path / "manuals")


def test_where_there_is_no_apt_the_error_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(documents.CannotFetch, match="apt-get cannot be run"):
        documents.fetch(tmp_path / "manuals")
