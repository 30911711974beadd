"""`thresher collections ...`: the collections of a home, listed, renamed, dropped, copied, exported and imported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thresher.cli import output
from thresher.cli.options import FAILED, AsJson, Home, Yes, target_of
from thresher.tracing.explain import counted

if TYPE_CHECKING:
    from thresher.home import places
    from thresher.home.collections import Collections

collections = typer.Typer(
    help="The collections of a home: list, rename, drop, copy, export, import.", invoke_without_command=True
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of a collection, as `thresher collections` lists it.")]
New = Annotated[str, typer.Argument(metavar="NEW", help="The new name.")]
File = Annotated[Path, typer.Argument(metavar="FILE", help="The file, e.g. papers.thresher.")]


@collections.callback()
def _listed(context: typer.Context, home: Home = None, json: AsJson = False) -> None:
    """List the collections of a home; rename, drop, copy, export or import one."""
    if context.invoked_subcommand is None:
        list_collections(home, json)


@collections.command("list")
def list_collections(home: Home = None, json: AsJson = False) -> None:
    """List the collections: documents and bytes of each."""
    here = _collections(home)
    found = list(here)
    if json:
        output.as_json([{"name": one.name, "documents": one.documents, "bytes": one.bytes} for one in found])
        return
    if not found:
        output.complain(f"no collection is in {here.home} yet; run thresher index PATH")
        return
    rows = [[one.name, one.documents, output.megabytes(one.bytes)] for one in found]
    output.table(f"{counted(len(found), 'collection')} in {here.home}", ["collection", "documents", "size"], rows)


@collections.command()
def rename(name: Name, new: New, home: Home = None) -> None:
    """Give a collection another name."""
    _collections(home).rename(name, new)
    output.say(f"{name} is called {new} now")


@collections.command()
def drop(name: Name, home: Home = None, yes: Yes = False) -> None:
    """Remove a collection with its documents, chunk tables and traces; asks before."""
    here = _collections(home)
    sizes = {one.name: one for one in here}
    if name in sizes:
        output.confirm(f"drop {name} with {counted(sizes[name].documents, 'document')}?", yes=yes)
    here.drop(name)
    output.say(f"{name} is gone")


@collections.command()
def copy(name: Name, new: New, home: Home = None) -> None:
    """Make a second collection of the same documents; the traces stay with the first."""
    _collections(home).copy(name, new)
    output.say(f"{new} is a copy of {name}")


@collections.command("export")
def export(name: Name, file: File, home: Home = None) -> None:
    """Write a collection into one file, without its traces."""
    size = _collections(home).write(name, file)
    output.say(f"{name} is in {file}, {output.megabytes(size)}")


@collections.command("import")
def import_(
    file: File,
    home: Home = None,
    name: Annotated[str | None, typer.Option("--name", help="Another name than it had.")] = None,
) -> None:
    """Make a collection of a file that `export` wrote."""
    here = _collections(home)
    output.say(f"{here.read(file, name)} is in {here.home}")


def backup(file: File, home: Home = None) -> None:
    """Write a whole home into one file while others ask and write: collections, traces, keys, what a server keeps."""
    from thresher.home import collections as packed

    here = _collections(home).home
    size = packed.backup(here, file)
    output.say(f"{here} is in {file}, {output.megabytes(size)}; keep it as secret as the home")


def restore(file: File, home: Home = None) -> None:
    """Make a home of a file that `backup` wrote, where none is yet; exit 1 where something in it is damaged."""
    from thresher.home import collections as packed

    here = _collections(home).home
    found = packed.restore(here, file)
    for finding in found:
        output.complain(f"{finding.where}: {finding.what}")
    output.say(f"{here} is restored from {file}")
    if found:
        raise typer.Exit(FAILED)


def _collections(home: places.Home | None) -> Collections:
    from thresher.home.collections import Collections

    return Collections(target_of(home, "", {}, json=False).home)
