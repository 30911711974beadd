"""Text inside pictures, kept out of what is read as sentences, lists and forms, with every offset as it was."""

from __future__ import annotations

from collections.abc import Iterator

from thresher.types import Document


def without_figures(document: Document) -> str:
    """The text with line breaks in place of what stands in pictures, as long as it was."""
    if not document.figures:
        return document.text
    kept = [document.text[start:end] for start, end in between_figures(document)]
    for at, (start, end) in enumerate(document.figures):
        kept.insert(2 * at + 1, "\n" * (end - start))
    return "".join(kept)


def between_figures(document: Document) -> Iterator[tuple[int, int]]:
    """Spans of what stands before, between and behind the pictures, in order; empty ones too."""
    ends = [0, *(end for _, end in document.figures)]
    starts = [*(start for start, _ in document.figures), len(document.text)]
    yield from zip(ends, starts, strict=True)
