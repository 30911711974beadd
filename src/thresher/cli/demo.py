"""What the demo indexes and asks: Thresher's own documentation, and an almanac to correct from."""

from __future__ import annotations

from pathlib import Path

from thresher.errors import StoreError

COLLECTION = "demo"

OUTSIDE = "demo-almanac"
"""A second collection, from which the third question is corrected."""

QUESTIONS = (
    ("What happens to an input that cannot be read?", None),
    ("Which country won the football world cup in 1998?", None),
    ("Which country won the football world cup in 1998?", f"collection:{OUTSIDE}"),
)
"""Each with the place outside where a correction may come from: the second and third differ in nothing else."""


def samples() -> list[Path]:
    """README and the pages of docs, without the folders in it: the results of all measurements would take minutes."""
    folder = _folder()
    return [folder / "README.md", *sorted((folder / "docs").glob("*.md"))]


def almanac() -> Path:
    """The folder of the second collection."""
    return _folder() / "examples" / "almanac"


def _folder() -> Path:
    """Beside the package in an installation, the project's folder in a checkout."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "samples", package.parent.parent):
        if all((folder / name).exists() for name in ("README.md", "docs", "examples/almanac")):
            return folder
    raise StoreError(
        "the sample documents are not installed", next_step="reinstall thresher, or index your own documents"
    )
