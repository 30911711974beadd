"""The demo: Thresher's own documentation as the sample documents; one question answered, one refused, one corrected."""

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


def samples() -> list[str]:
    """README and docs: beside the package in an installation, in the project's folder in a checkout.

    Without the folders in docs: the report of all measurements would take minutes to read.
    """
    folder = _folder()
    return [str(folder / "README.md"), *map(str, sorted((folder / "docs").glob("*.md")))]


def almanac() -> list[str]:
    """The documents of the second collection."""
    return [str(_folder() / "examples" / "almanac")]


def _folder() -> Path:
    package = Path(__file__).resolve().parent
    for folder in (package / "samples", package.parent.parent):
        if all((folder / name).exists() for name in ("README.md", "docs", "examples/almanac")):
            return folder
    raise StoreError(
        "the sample documents are not installed", next_step="reinstall thresher, or index your own documents"
    )
