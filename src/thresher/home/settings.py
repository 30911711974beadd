"""Settings of a collection, common to all recipes; distributions bring tables of their own.

    [project.entry-points."thresher.settings"]
    mine = "my_package.settings:MySettings"

is the table `mine`: a `thresher.settings.Frozen` model with a default for every field, and `heed`, see `Table`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Protocol, cast

from pydantic import Field, create_model

from thresher.plugins import brought, loaded
from thresher.protocols import Home
from thresher.settings import TABLES, Frozen, around, resolved


class Table(Protocol):
    """A model of settings that a distribution brings for its store, or its homes."""

    def heed(self, folder: Home) -> None:
        """A call gave the values in `model_fields_set` for the collection in a folder."""


class ReadingSettings(Frozen):
    """What the process that reads files may use, and what it reads; of a file that wants more there is an error."""

    memory_megabytes: int = Field(2048, ge=256, le=1_048_576, description="MiB of memory at most (Linux)")
    seconds: float = Field(
        300.0, gt=0, le=86_400, description="seconds for a file, a page of OCR or the next rows of a corpus at most"
    )
    stack_megabytes: int = Field(64, ge=1, le=1024, description="MiB of stack: how deep a file may be nested")
    hidden: bool = Field(True, description="read hidden text, sheets and slides too; `index` counts them")


class CollectionSettings(Frozen):
    """What every collection has; `model` has the tables of distributions as well."""

    store: str = Field("lance", description="who keeps its tables; a collection stays with the one it was made with")
    memory_megabytes: int = Field(
        1024,
        ge=16,
        le=1_048_576,
        description="MB that a process keeps of what it has read of tables: rows of small ones, and indexes",
    )
    reading: ReadingSettings = ReadingSettings()


@cache
def model() -> type[CollectionSettings]:
    """The settings of a collection with the tables that installed distributions bring. Raises UsageError."""
    kinds = {name: loaded(entry) for name, entry in sorted(brought(TABLES).items())}
    tables: Any = {name: (kind, kind()) for name, kind in kinds.items()}
    return create_model("CollectionSettings", __base__=CollectionSettings, **tables)


def of_home(home: Home) -> CollectionSettings:
    """What is set around a home. An unknown key is refused when a recipe is configured."""
    return around(model(), home)


def heed(folder: Home, given: Mapping[str, Any]) -> None:
    """Tell each table what a call gave of it, by dotted key, for the collection in a folder. Raises UsageError."""
    names = [name for name in brought(TABLES) if any(key.startswith(f"{name}.") for key in given)]
    if names:
        found = resolved(model(), {key: value for key, value in given.items() if key.partition(".")[0] in names})
        for name in names:
            cast(Table, getattr(found, name)).heed(folder)
