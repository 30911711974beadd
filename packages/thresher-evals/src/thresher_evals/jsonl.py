"""Reads line files with errors by line, and replaces files atomically."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from thresher.errors import UsageError


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


# --- atomic replacement: a reader sees the old file or the new one ----------------------------------------------------


def write_whole(path: Path, content: bytes) -> None:
    """Write beside the file, then replace it; the folder must exist. Raises OSError."""
    beside = unfinished(path)
    try:
        beside.write_bytes(content)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def unfinished(path: Path) -> Path:
    """The temporary file of this process."""
    return path.with_name(f"{path.name}.{os.getpid()}.new")


def is_left_of(path: Path, name: str) -> bool:
    """Whether a killed process left this file while writing `name`."""
    return path.name.startswith(f"{name}.") and path.suffix == ".new"
