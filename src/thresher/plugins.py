"""Parts that other distributions bring: what they name under the entry point `thresher.parts` is called once.

    [project.entry-points."thresher.parts"]
    mine = "my_package.parts:register"

`register` takes nothing and puts lines into the registries of docs/extending.md. Stores and recipes have groups of
their own, and are not loaded before they are named:

    [project.entry-points."thresher.stores"]
    mine = "my_package:MyStore"

    [project.entry-points."thresher.recipes"]
    mine = "my_package.recipes:MINE"
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from thresher.errors import UsageError, missing

GROUP = "thresher.parts"


@cache
def waiting() -> list[EntryPoint]:
    """The entry points that were not called yet, by name."""
    return sorted(entry_points(group=GROUP), key=lambda one: one.name)


def load_plugins() -> None:
    """Call what every installed distribution registers, each once. Raises UsageError for one that fails."""
    left = waiting()
    while left:
        entry = left.pop(0)  # gone before it is called: what it registers may look up recipes itself
        try:
            entry.load()()
        except Exception as error:
            left.insert(0, entry)
            raise _broken(entry, error) from error


@cache
def brought(group: str) -> dict[str, EntryPoint]:
    """What installed distributions bring under a group of entry points, by name; nothing of it is loaded."""
    return {one.name: one for one in entry_points(group=group)}


def loaded(entry: EntryPoint) -> Any:
    """What an entry point names. Raises UsageError for one that cannot be imported."""
    try:
        return entry.load()
    except Exception as error:
        raise _broken(entry, error) from error


def required(group: str, name: str) -> Any:
    """What an installed distribution brings under a name of a group. Raises MissingExtra where none does."""
    entry = brought(group).get(name)
    if entry is None:
        raise missing(group, name) or UsageError("is provided by no installed package", subject=f"{group} {name}")
    return loaded(entry)


def _broken(entry: EntryPoint, error: Exception) -> UsageError:
    return UsageError(
        f"could not be loaded ({type(error).__name__}: {error})",
        subject=f"entry point {entry.name} = {entry.value}",
        next_step="repair or uninstall the distribution that provides it",
    )
