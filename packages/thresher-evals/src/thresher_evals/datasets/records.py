"""Shared by the loaders: lines of a question file with errors by line, passages, and the loaded content.

A line without a required field raises a UsageError that names the file, the line and the field.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from thresher.errors import UsageError
from thresher.types import Origin
from thresher_evals.dataset import Corpus, Gold, Passage, Question, Split, Task, passage_id


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a question file and the files beside it; see `Dataset` for the fields."""

    questions: Iterable[Question]
    """Of every split; other splits are filtered out later."""
    task: Task = "ask"
    files: tuple[Path, ...] = ()
    """Files whose bytes determine the questions, if not the question file alone."""
    corpus: Path | None = None
    collection: str = ""
    corpora: Mapping[Origin, Corpus] = field(default_factory=dict)
    references: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    note: str = ""


Loader = Callable[[Path, Split], Content]
"""Reads a file or folder; the split matters only where questions are drawn within it."""

# --- lines ------------------------------------------------------------------------------------------------------------


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Line numbers from 1 and lines without line ends; blank lines are skipped. Raises UsageError."""
    try:
        with path.open("rb") as stream:
            for number, raw in enumerate(stream, start=1):
                try:
                    line = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                except UnicodeDecodeError as error:
                    raise bad_line(path, number, "not UTF-8", next_step="save the file as UTF-8") from error
                if line.strip():
                    yield number, line
    except OSError as error:
        raise unreadable(path, error) from error


def bad_line(path: Path, number: int, what: str, *, next_step: str = "") -> UsageError:
    """The error for one line of a file."""
    return UsageError(what, subject=f"{path}:{number}", next_step=next_step)


def unreadable(path: Path, error: OSError) -> UsageError:
    """The error for a file that cannot be read."""
    reason = error.strerror or type(error).__name__
    return UsageError(f"cannot be read ({reason})", subject=str(path), next_step="check the dataset's path")


def digest(*paths: Path) -> str:
    """sha256 of the concatenated files. Raises UsageError for one that cannot be read."""
    total = hashlib.sha256()
    for path in paths:
        try:
            with path.open("rb") as stream:
                while block := stream.read(1 << 20):
                    total.update(block)
        except OSError as error:
            raise unreadable(path, error) from error
    return total.hexdigest()


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON object of a file with its position; the methods check types and raise UsageError."""

    path: Path
    number: int
    fields: Mapping[str, Any]

    def bad(self, what: str, *, next_step: str = "") -> UsageError:
        """The error for this line."""
        return bad_line(self.path, self.number, what, next_step=next_step)

    def identity(self, name: str) -> str:
        """A required id: text or a whole number."""
        value = self.fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self.text(name)

    def text(self, name: str) -> str:
        """A required text that is not blank."""
        value = self.fields.get(name)
        if not isinstance(value, str) or not value.strip():
            raise self.bad(f"'{name}' is not a text", next_step=f'give "{name}": "..." on every line')
        return value

    def optional(self, name: str) -> str:
        """A stripped text, empty if absent."""
        value = self.fields.get(name)
        if value is not None and not isinstance(value, str):
            raise self.bad(f"'{name}' is not a text")
        return (value or "").strip()

    def one_of(self, name: str, allowed: Sequence[str]) -> str:
        """A required text among the allowed ones."""
        value = self.text(name)
        if value not in allowed:
            raise self.bad(f"'{name}' is '{value}'", next_step=f"it must be one of {', '.join(allowed)}")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts, empty if absent; blank ones are removed."""
        value = self.fields.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.bad(f"'{name}' is not a list of texts")
        return tuple(item for item in value if item.strip())

    def boolean(self, name: str, *, default: bool) -> bool:
        """True or false; `default` if absent."""
        value = self.fields.get(name)
        if value is not None and not isinstance(value, bool):
            raise self.bad(f"'{name}' is neither true nor false")
        return default if value is None else value

    def objects(self, name: str) -> tuple[Record, ...]:
        """A required list of objects, each as a record."""
        value = self.fields.get(name)
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.bad(f"'{name}' is not a list of objects", next_step=f'give "{name}": [{{...}}] on every line')
        return tuple(Record(self.path, self.number, item) for item in value)


def records(path: Path) -> Iterator[Record]:
    """The objects of a JSON Lines file; blank lines are skipped."""
    for number, line in lines(path):
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise bad_line(path, number, f"not JSON ({error.msg})", next_step="one JSON object a line") from error
        if not isinstance(value, dict):
            raise bad_line(path, number, "not a JSON object", next_step="one JSON object a line")
        yield Record(path, number, value)


def unique(source: Path | Iterable[Record], *names: str) -> dict[str, Record]:
    """The lines by id: the first field of `names` that a line has, by default `id`."""
    fields = names or ("id",)
    by_id: dict[str, Record] = {}
    for record in records(source) if isinstance(source, Path) else source:
        id = record.identity(next((name for name in fields if name in record.fields), fields[0]))
        if id in by_id:
            raise record.bad(f"the id '{id}' stands on an earlier line too", next_step="ids must be unique")
        by_id[id] = record
    return by_id


# --- collections put together from the lines of a question file: whole passages, or articles of single sentences ------


class Passages:
    """Passages in order of insertion; a repeated text is the same passage."""

    def __init__(self) -> None:
        self._by_text: dict[str, Passage] = {}

    def add(self, title: str, text: str) -> str:
        """The id of the passage with this text."""
        return self._by_text.setdefault(text, Passage(passage_id(title, text), title, text)).id

    @property
    def corpus(self) -> Corpus:
        """All of them."""
        return Corpus(tuple(self._by_text.values()))


NO_METADATA: Mapping[str, str] = MappingProxyType({})


class Articles:
    """One passage for each article: its known sentences, one per line, in order of insertion."""

    def __init__(self) -> None:
        self._starts: dict[tuple[str, str], dict[str, int]] = {}
        self._metadata: dict[tuple[str, str], Mapping[str, str]] = {}

    def add(self, title: str, sentence: str, *, address: str = "", metadata: Mapping[str, str] = NO_METADATA) -> Gold:
        """The position of a sentence in its article, identified by title and address; its first metadata counts."""
        self._metadata.setdefault((title, address), metadata)
        starts = self._starts.setdefault((title, address), {})
        start = starts.setdefault(sentence, sum(len(earlier) + 1 for earlier in starts))
        return Gold(passage_id(title, address), start=start, end=start + len(sentence))

    @property
    def corpus(self) -> Corpus:
        """All of them."""
        return Corpus(
            tuple(
                Passage(passage_id(title, address), title, "\n".join(starts), self._metadata[title, address])
                for (title, address), starts in self._starts.items()
            )
        )


def sides(inside: Passages | Articles, outside: Passages | None = None) -> Mapping[Origin, Corpus]:
    """The corpora of a dataset, without an empty side."""
    gathered = {Origin.INSIDE: inside.corpus, Origin.OUTSIDE: outside.corpus if outside else Corpus(())}
    return {origin: corpus for origin, corpus in gathered.items() if corpus.passages}
