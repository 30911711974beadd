"""What the commands have in common: options, exit codes, and how a collection is opened."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from thresher.cli import output as printing

if TYPE_CHECKING:
    from thresher.collection import Collection

DONE, FAILED, WRONG_USAGE, IN_PART = 0, 1, 2, 3
"""Exit codes of the public contract."""

Home = Annotated[Path, typer.Option("--home", envvar="THRESHER_HOME", help="Folder of all collections.")]
Name = Annotated[str, typer.Option("--collection", help="Which collection.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting; see `thresher show`.")
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
RecipeName = Annotated[str, typer.Option("--recipe", help="Which recipe; see `thresher recipes`.")]
Where = Annotated[str | None, typer.Option("--where", help="Filter on metadata, e.g. \"kind = 'pdf' AND page <= 3\".")]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse when a part of the recipe is not available.")]
Question = Annotated[str, typer.Argument(help="The question.")]

DEFAULT_HOME = Path(".thresher")


def open_collection(home: Path, collection: str) -> Collection:
    """The collection, telling on stderr when it completes an index."""
    from thresher.collection import Collection

    return Collection(home, collection, completing=printing.Completing())


def options_of(home: Path, collection: str) -> str:
    """The options that name a collection, those with their usual values left out."""
    given = "" if home == DEFAULT_HOME else f" --home {quote(str(home))}"
    return given if collection == "default" else f"{given} --collection {quote(collection)}"


def assignments(settings: list[str] | None) -> dict[str, str]:
    """The KEY=VALUE of --set."""
    from thresher.settings import parse_assignments

    return parse_assignments(settings or [])
