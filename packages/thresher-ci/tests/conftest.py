"""A handbook in a git repository, and the models that stay loaded."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import bundled_models, kept_reading_processes, pytest_collection_modifyitems, run, serve
from thresher_ci.run import Job

__all__ = ["bundled_models", "kept_reading_processes", "pytest_collection_modifyitems", "run", "serve"]

LEAVE = """# Leave

A new employee has 25 days of leave a year. Leave is asked for two weeks ahead. Unused days end on 31 March.
"""
TRAVEL = """# Travel

The train is booked in second class. A hotel may cost 140 euros a night. Meals are paid up to 28 euros a day.
"""
OFFICE = """# Office

The office opens at 7:30. Visitors sign the book at the desk. The alarm code is kept by Jana Novak.
"""
KNOWLEDGE = """questions:
  - question: How many days of leave does a new employee have?
    expect:
      source: leave.md
      quote: A new employee has 25 days of leave a year.
    asked_by: Mara
  - question: What may a hotel cost a night?
    expect: {value: 140 euros}
  - question: Who keeps the alarm code?
    expect: {source: office.md, quote: The alarm code is kept by Jana Novak.}
  - question: What is the boiling point of gallium?
    expect: refused
"""


@pytest.fixture
def handbook(tmp_path: Path, bundled_models: object) -> Path:
    """The folder of three documents, committed beside their expectations."""
    folder = tmp_path / "repository" / "handbook"
    folder.mkdir(parents=True)
    for name, text in (("leave.md", LEAVE), ("travel.md", TRAVEL), ("office.md", OFFICE)):
        (folder / name).write_text(text, encoding="utf-8")
    (folder.parent / "knowledge.yaml").write_text(KNOWLEDGE, encoding="utf-8")
    git(folder.parent, "init", "--quiet")
    git(folder.parent, "add", ".")
    git(folder.parent, "-c", "user.name=Mara", "-c", "user.email=mara@localhost", "commit", "--quiet", "-m", "Begin")
    return folder


@pytest.fixture
def job(handbook: Path, tmp_path: Path) -> Callable[..., Job]:
    def make(**more: object) -> Job:
        usual = Job(handbook.parent / "knowledge.yaml", tmp_path / "home", "default", handbook, "corrective", {})
        return replace(usual, **more)  # type: ignore[arg-type]

    return make


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True)
