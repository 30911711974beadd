"""What the judge and the checker read, kept from run to run, so that only new passages are read.

A reading depends on nothing but the engine with its models, the question, the title and the text; it is kept under a
hash of these.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import thresher
from thresher.protocols import Files

FILE = "readings.json"

MOST_KEPT = 100_000
"""Readings, some 10 MB: those of 4,000 questions. The ones that were not used for longest go first."""

FILES = ("*.py", "*.json", "*.onnx")
"""Of the engine: code, prompts, fitted tables and weights."""


Pair = tuple[str, str, str]
"""Question or claim, title, text."""


class Named(Protocol):
    """A model."""

    @property
    def name(self) -> str:
        """With a hash of its weights."""
        ...


class Readings:
    """The readings of all runs of a home; a file that is damaged or of another version is as good as none."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._values: dict[str, list[float]] = {}
        try:
            stored = json.loads(files.read(FILE) or b"{}")
            self._values = {str(key): list(value) for key, value in stored.items()}
        except (ValueError, AttributeError, TypeError):
            return

    def __call__(self, model: Named, form: type) -> Kept:
        """The memory of a model for one form of its readings."""
        return Kept(self._values, lambda: f"{model.name} {form.__name__}", form)

    def save(self) -> None:
        """Write them whole."""
        kept = dict(list(self._values.items())[-MOST_KEPT:])
        self._files.write(FILE, json.dumps(kept).encode())


class Kept:
    """The readings of one model in one form."""

    def __init__(self, values: dict[str, list[float]], name: Callable[[], str], form: type) -> None:
        self._values, self._name, self._form = values, name, form

    def get(self, keys: Iterable[Pair]) -> dict[Pair, Any]:
        """Those that are known."""
        found: dict[Pair, Any] = {}
        for key in keys:
            if (value := self._values.pop(hashed := self._hashed(key), None)) is not None:
                self._values[hashed] = value  # the last that was used
                found[key] = self._form(*value)
        return found

    def put(self, values: Mapping[Pair, Any]) -> None:
        """Remember readings."""
        self._values.update((self._hashed(key), list(astuple(value))) for key, value in values.items())

    def _hashed(self, key: Pair) -> str:
        text = json.dumps([engine(), self._name(), *key])
        return hashlib.sha256(text.encode()).hexdigest()[:24]


@cache
def engine() -> str:
    """Fingerprint of the installed engine: code, prompts, fitted tables, weights."""
    found = hashlib.sha256()
    folder = Path(thresher.__file__).parent
    for file in sorted(one for pattern in FILES for one in folder.rglob(pattern)):
        found.update(str(file.relative_to(folder)).encode() + b"\0" + file.read_bytes())
    return found.hexdigest()
