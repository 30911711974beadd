"""What one of our distributions brings and is not installed is named with the extra that installs it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from thresher.errors import BROUGHT_BY, missing

ROOT = Path(__file__).resolve().parents[1]


def project(folder: Path) -> dict[str, object]:
    return dict(tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"])


@pytest.mark.parametrize(("group", "name"), [(group, name) for group in BROUGHT_BY for name in BROUGHT_BY[group]])
def test_each_name_is_brought_by_the_distribution_of_its_extra(group: str, name: str) -> None:
    extra = BROUGHT_BY[group][name]
    assert project(ROOT)["optional-dependencies"][extra] == [f"thresher-{extra}"]  # type: ignore[index]
    assert name in project(ROOT / "packages" / f"thresher-{extra}")["entry-points"][group]  # type: ignore[index]


def test_the_error_says_what_to_install() -> None:
    told = "the package 'thresher-bucket' is not installed; install with: pip install 'thresher[bucket]'"
    assert str(missing("thresher.homes", "s3")) == told
    assert missing("thresher.homes", "ftp") is None
