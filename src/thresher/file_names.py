"""Names of sources without the folders of this machine: a file by its name alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from pathlib import PurePath
from typing import Any, TypeVar

SOURCES = ("source", "also")
"""Fields and keys that hold sources, wherever they stand."""

Value = TypeVar("Value")


def file_name(source: str) -> str:
    """A file's name, an address or a row's name as it is.

    >>> file_name("/srv/minutes/may.md"), file_name("https://example.org/may"), file_name("ticket:4711/2")
    ('may.md', 'https://example.org/may', 'ticket:4711/2')
    """
    path = PurePath(source)
    return path.name if path.is_absolute() else source


def renamed(value: Value, name: Callable[[str], str]) -> Value:
    """A value with every source in it, however deep, under the name that `name` gives it."""
    made: Value = _renamed(value, name, is_source=False)
    return made


def _renamed(value: Any, name: Callable[[str], str], *, is_source: bool) -> Any:
    match value:
        case str():
            return name(value) if is_source else value
        case dict():
            return {key: _renamed(item, name, is_source=key in SOURCES) for key, item in value.items()}
        case list() | tuple():
            return type(value)(_renamed(item, name, is_source=is_source) for item in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    before = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    after = {key: _renamed(item, name, is_source=key in SOURCES) for key, item in before.items()}
    return replace(value, **{key: item for key, item in after.items() if item is not before[key]})
