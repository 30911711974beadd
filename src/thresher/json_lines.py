"""JSON lines that a user names: questions and labels."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from thresher.errors import UsageError

SHOWN_LINES = 5
"""Faulty lines that an error names."""


def lines_of(file: Path) -> list[tuple[int, bytes]]:
    """The lines of a file that are not blank, with their numbers from 1. Raises UsageError for no readable file."""
    try:
        lines = file.expanduser().read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines()
    except OSError as error:
        what = "no such file" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})"
        raise UsageError(what, subject=str(file), next_step="check the path") from error
    return [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]


def read_rows(file: Path, fault: Callable[[Any], str], *, form: str) -> list[dict[str, Any]]:
    """The objects of JSON lines; `fault` says what is wrong with one, `form` what is right. Raises UsageError."""
    rows, faults = [], []
    for number, line in lines_of(file):
        try:
            row = json.loads(line)
            found = fault(row)
        except (ValueError, RecursionError):
            found = "is no JSON"
        if found:
            faults.append(f"line {number} {found}")
        else:
            rows.append(row)
    if faults:
        more = f"; and {len(faults) - SHOWN_LINES} more lines" if len(faults) > SHOWN_LINES else ""
        raise UsageError(
            f"{'; '.join(faults[:SHOWN_LINES])}{more}", subject=str(file), next_step=f"write {form} on every line"
        )
    return rows
