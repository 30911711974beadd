"""Files that are replaced as a whole: a reader sees the old one or the new one, never half."""

from __future__ import annotations

import os
from pathlib import Path


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
