"""docs/results/seeds.md: every table and figure of the sources with ours beside it, from stored rows alone."""

from __future__ import annotations

from pathlib import Path

from benchmarks import machine
from benchmarks.seeds import chunkrag, crag, ecrag, guides, items
from benchmarks.seeds.sections import Section

PAGE = machine.ROOT / "docs" / "results" / "seeds.md"

OPENING = """# The sources' tables, ours beside them

<!-- Made by `python -m benchmarks.seeds` from benchmarks/results/seeds and docs/results/datasets; do not edit. -->

Every table and figure of the five sources (and of the CRAG paper that they follow): what it shows, what is published,
what comes out here, and what cannot be run here. Everything that runs without a chat model of 7 billion parameters
was run; for the rest the reason is given. Published numbers are of other generators, data and machines: they show the
direction of a difference, not its size. What the sources claim wrongly from their own numbers is in the
[claims audit](../audit.md); codes such as X13 are those of [methods](../methods.md)."""


def markdown() -> str:
    """The page, from what is stored."""
    chapters = (
        ("ChunkRAG", chunkrag.sections()),
        ("ECRAG", ecrag.sections()),
        ("The CRAG blog", guides.blog()),
        ("The hybrid report", guides.report()),
        ("CRAG", crag.sections()),
    )
    parts = [OPENING, items.chapter()]
    for title, sections in chapters:
        parts += [f"## {title}", *map(Section.markdown, sections)]
    return "\n\n".join(parts) + "\n"


def write() -> Path:
    """Write the page where the documentation has it."""
    PAGE.write_text(markdown(), encoding="utf-8")
    return PAGE
