"""How Thresher is cited stands in CITATION.cff; the README refers to it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
KEYS = {"cff-version", "message", "title", "abstract", "type", "authors", "version", "license", "keywords"}
"""Of the format 1.2.0, those that are used; the first three and the authors are required."""


def test_the_citation_file_is_of_the_format_and_says_what_the_project_does() -> None:
    told = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {"cff-version", "message", "title", "authors"} <= set(told) <= KEYS
    assert (told["cff-version"], told["type"], told["license"]) == ("1.2.0", "software", project["license"])
    assert all(set(author) == {"name"} and author["name"] for author in told["authors"])
    assert "](CITATION.cff)" in (ROOT / "README.md").read_text(encoding="utf-8")
