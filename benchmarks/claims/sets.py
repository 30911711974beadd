"""The claims, and the documents that they are about."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.machine import DATA
from benchmarks.real_text.documents import MANUALS

FOLDER = Path(__file__).parent
DOCUMENTS = FOLDER / "documents"
PARTS = ("choose", "final")
TRUE, FALSE, UNSTATED = "true", "false", "unstated"


@dataclass(frozen=True)
class Claim:
    """A sentence about a document; both of a pair have its id."""

    id: str
    kind: str
    document: str
    label: str
    """`TRUE`, `FALSE` or `UNSTATED`."""
    text: str

    @property
    def part(self) -> str:
        """The half of its document."""
        return part_of(self.document)


def part_of(document: str) -> str:
    """By its name, so that no document stands in both: rules are chosen on `choose` and told on `final`."""
    return PARTS[hashlib.sha256(document.encode()).digest()[0] % 2]


def pairs() -> list[dict[str, Any]]:
    """Rows with `id`, `kind`, `document`, `true`, `false`, and `decides`: the words of the document that decide."""
    return _rows("pairs.jsonl")


def claims() -> Iterator[Claim]:
    """All of them, the two of a pair one after the other."""
    for row in pairs():
        yield Claim(row["id"], row["kind"], row["document"], TRUE, row["true"])
        yield Claim(row["id"], row["kind"], row["document"], FALSE, row["false"])
    for row in _rows("unstated.jsonl"):
        yield Claim(row["id"], UNSTATED, row["document"], UNSTATED, row["claim"])


def real(document: str) -> bool:
    """Whether it is a page of a manual or a paper, and not one of ours."""
    return "/" in document


def path_of(document: str) -> Path:
    """Where it lies."""
    if not real(document):
        return DOCUMENTS / document
    return (DATA if document.startswith("papers/") else MANUALS) / document


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]
