"""The demo: Thresher's own documentation as the sample documents, one question they answer, one they do not."""

from __future__ import annotations

from pathlib import Path

from thresher.errors import StoreError

COLLECTION = "demo"

QUESTIONS = (
    "What happens to an input that cannot be read?",
    "Which country won the football world cup in 1998?",
)


def samples() -> list[str]:
    """README and docs: beside the package in an installation, in the project's folder in a checkout."""
    package = Path(__file__).resolve().parent
    for folder in (package / "samples", package.parent.parent):
        readme, docs = folder / "README.md", folder / "docs"
        if readme.is_file() and docs.is_dir():
            return [str(readme), str(docs)]
    raise StoreError(
        "the sample documents are not installed", next_step="reinstall thresher, or index your own documents"
    )
