"""Where a home, and each of its collections, keeps its small files."""

from __future__ import annotations

from pathlib import Path

from thresher.home.files import LocalFiles
from thresher.protocols import Files

COLLECTIONS = "collections"
"""The folder of a home that holds its collections, a folder each."""


def files_at(folder: Path) -> Files:
    """The files of a home, or of a folder in it, the records of its collections among them."""
    return LocalFiles(folder)


def files_of(folder: Path) -> Files:
    """What the collection of a folder keeps besides its tables: traces, labels, calibrations."""
    return files_at(folder)
