"""Texts of documents, models and callers as they may be printed: nothing in them moves, colours or links a terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

_MOVES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Controls of terminals (ESC, CR, C1), but for tab and line end, and marks that turn the direction of writing."""


def shown(text: str) -> str:
    r"""The text with controls as they are written in Python.

    >>> shown("a\x1b[2Jb\r\n")
    'a\\\\x1b[2Jb\\\\r\\n'
    """
    return _MOVES.sub(lambda found: ascii(found[0])[1:-1], text)


def json_text(value: Any, *, default: Callable[[Any], Any] | None = None) -> str:
    """JSON that is safe to print: what `shown` changes stands in it as JSON writes it."""
    written = json.dumps(value, ensure_ascii=False, default=default)
    return _MOVES.sub(lambda found: f"\\u{ord(found[0]):04x}", written)
