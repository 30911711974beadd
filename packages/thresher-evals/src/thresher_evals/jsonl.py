"""Reads question files line by line; a bad line is a UsageError that names the file and the line."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thresher.errors import UsageError


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON object of a file and where it stands; the readers check the type of what they return."""

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

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts, empty where the field is absent; blank ones are left out."""
        value = self.fields.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.bad(f"'{name}' is not a list of texts")
        return tuple(item for item in value if item.strip())

    def boolean(self, name: str, *, default: bool) -> bool:
        """True or false, `default` where the field is absent."""
        value = self.fields.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.bad(f"'{name}' is neither true nor false")
        return value


def records(path: Path) -> Iterator[Record]:
    """The objects of a JSON Lines file; blank lines are passed over."""
    for number, line in lines(path):
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise bad_line(path, number, f"not JSON ({error.msg})", next_step="one JSON object a line") from error
        if not isinstance(value, dict):
            raise bad_line(path, number, "not a JSON object", next_step="one JSON object a line")
        yield Record(path, number, value)


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Line numbers from 1 and the lines that are not blank, without their ends."""
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


def unreadable(path: Path, error: OSError) -> UsageError:
    """The error for a file that cannot be read at all."""
    reason = error.strerror or type(error).__name__
    return UsageError(f"cannot be read ({reason})", subject=str(path), next_step="check the dataset's path")


def bad_line(path: Path, number: int, what: str, *, next_step: str = "") -> UsageError:
    """The error for one line of a file."""
    return UsageError(what, subject=f"{path}:{number}", next_step=next_step)


def digest(*paths: Path) -> str:
    """sha256 of the files' bytes, one after the other. Raises UsageError for one that cannot be read."""
    total = hashlib.sha256()
    for path in paths:
        try:
            with path.open("rb") as stream:
                while block := stream.read(1 << 20):
                    total.update(block)
        except OSError as error:
            raise unreadable(path, error) from error
    return total.hexdigest()


# --- files that are replaced as a whole: a reader sees the old one or the new one, never half -------------------------


def write_whole(path: Path, content: bytes) -> None:
    """Write beside the file, then take its place; the folder is there already. Raises OSError."""
    beside = unfinished(path)
    try:
        beside.write_bytes(content)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def unfinished(path: Path) -> Path:
    """The file while this process writes it; another process writes another one."""
    return path.with_name(f"{path.name}.{os.getpid()}.new")


def is_left_of(path: Path, name: str) -> bool:
    """Whether a file is what a killed process left of writing one called `name`."""
    return path.name.startswith(f"{name}.") and path.suffix == ".new"
