"""Passages that belong to a dataset, and the files from which they are indexed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from thresher.evals.whole_files import write_whole


@dataclass(frozen=True, slots=True)
class Passage:
    """One document of a corpus; `id` becomes its source."""

    id: str
    title: str
    text: str

    def to_dict(self) -> dict[str, str]:
        """One line of a BEIR corpus."""
        return {"_id": self.id, "title": self.title, "text": self.text}


@dataclass(frozen=True)
class Corpus:
    """Passages in the order in which they are indexed."""

    passages: tuple[Passage, ...]

    @cached_property
    def written(self) -> bytes:
        """The corpus.jsonl."""
        return "".join(json.dumps(passage.to_dict()) + "\n" for passage in self.passages).encode()

    @cached_property
    def sha256(self) -> str:
        """Of the corpus.jsonl."""
        return hashlib.sha256(self.written).hexdigest()

    def write(self, path: Path) -> Path:
        """Write the corpus.jsonl, unless it is there already: a file that stays is not indexed again."""
        if not path.is_file() or path.read_bytes() != self.written:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, self.written)
        return path


def passage_id(title: str, text: str) -> str:
    """A name for a passage that is the same in every file that has it."""
    return hashlib.sha256(f"{title}\n{text}".encode("utf-8", "backslashreplace")).hexdigest()[:16]
