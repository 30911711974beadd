"""Commands about documents: taken in, listed, checked, forgotten."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thresher.cli import output
from thresher.cli.options import FAILED, IN_PART, On, Target, Where, Yes, on_collection
from thresher.errors import DocumentError, StoreError, UsageError
from thresher.tracing.explain import counted, shortened
from thresher.tracing.explain import where as place_of

if TYPE_CHECKING:
    from thresher.collection import Collection
    from thresher.indexing.catalog import DocumentRecord
    from thresher.indexing.ingest import Remark, Report

LABEL = re.compile(r"Doc\d+")  # of a document, in `thresher documents`

Paths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATH|URL|-...",
        help="Files, folders, URLs, or - for stdin; none to make the index of --recipe for what is there.",
        show_default=False,
    ),
]
Recipes = Annotated[
    list[str] | None,
    typer.Option("--recipe", metavar="NAME", help="Prepare the chunks of this recipe too (repeatable)."),
]
Include = Annotated[
    list[str] | None, typer.Option("--include", metavar="GLOB", help="Only files of a folder whose names match.")
]
Exclude = Annotated[
    list[str] | None, typer.Option("--exclude", metavar="GLOB", help="No files of a folder whose names match.")
]


@on_collection()
def index(
    target: Target,
    paths: Paths = None,
    recipe: Recipes = None,
    prune: Annotated[
        bool | None,
        typer.Option(
            "--prune/--keep-missing",
            help="Forget documents whose files are gone from the folders, or keep all; else kept if most of a "
            "folder is gone.",
            show_default=False,
        ),
    ] = None,
    reread: Annotated[
        bool | None,
        typer.Option(
            "--reread/--no-reread",
            help="Read all unchanged files too, or none; else those that an older version read.",
            show_default=False,
        ),
    ] = None,
    include: Include = None,
    exclude: Exclude = None,
    metadata: Annotated[
        list[str] | None, typer.Option("--metadata", metavar="KEY=VALUE", help="Field added to every document.")
    ] = None,
    fast: Annotated[
        bool,
        typer.Option("--fast", help="Static vectors in a new collection: less time, less found by other words."),
    ] = False,
    processes: Annotated[
        int, typer.Option("--processes", min=1, metavar="N", help="Read and encode in so many processes.")
    ] = 1,
    on: On = None,
) -> None:
    """Take in documents: new ones are added, changed ones replaced, unchanged ones skipped, broken ones reported."""
    from thresher.settings import parse_assignments

    fields = parse_assignments(metadata or [], parameter="metadata", example="author=me")
    if not paths:
        _make_indexes(target, recipe or [])
        return
    _check_paths(paths)
    with target.open() as collection, output.indexing() as progress:
        try:
            report = collection.add(
                *paths,
                recipe=recipe or (),
                include=include or (),
                exclude=exclude or (),
                prune=prune,
                reread=reread,
                metadata=fields,
                settings={**({"encoder": "static"} if fast else {}), **target.settings},
                stdin=sys.stdin.buffer,
                progress=progress,
                announce=output.complain,
                processes=processes,
                on=on,
            )
        except KeyboardInterrupt as interrupt:
            raise KeyboardInterrupt(_kept(collection)) from interrupt
    target.show(report, _say_report)
    output.failures(report.failed)
    _say_remarks(report.remarks)
    done = report.added + report.updated + report.unchanged + report.duplicates + report.renamed
    if not (done or report.failed or report.skipped or target.json):
        names = " of those names" if include or exclude else ""
        output.complain(f"no file{names} is in {', '.join(paths)}; hidden files and folders are skipped")
    if report.failed:
        raise typer.Exit(IN_PART if done else FAILED)


def _make_indexes(target: Target, names: Sequence[str]) -> None:
    """Make the index of recipes for the documents that are there. Raises UsageError without a recipe."""
    if not names:
        raise UsageError("missing argument 'PATH|URL|-...'", next_step="see thresher index --help")
    with target.open() as collection:
        made = {name: collection.index(name, progress=output.Completing()) for name in names}
    target.show(
        made, lambda made: output.say(", ".join(f"{name}: {counted(new, 'new chunk')}" for name, new in made.items()))
    )


@on_collection(reads_settings=False)
def drop(
    target: Target,
    recipe: Annotated[str, typer.Option("--recipe", metavar="NAME", help="Which recipe, see `thresher status`.")],
    yes: Yes = False,
) -> None:
    """Remove the index of a recipe that is no longer asked; the documents stay. Asks before."""
    with target.open() as collection:
        rows = [row for row in collection.tables() if recipe in row["recipes"]]
        size = output.megabytes(sum(row["bytes"] for row in rows))
        if rows:
            output.confirm(f"drop the index of {recipe} in {target.collection}, {size}?", yes=yes)
        used = collection.discard(recipe)
    target.show({"dropped": used}, lambda _: output.say(f"the index of {', '.join(used)} is gone; the documents stay"))


def _check_paths(paths: Sequence[str]) -> None:
    """Raise DocumentError, before anything is loaded, where none of the paths exists."""
    from thresher.documents.sources import NOT_THERE

    files = [path for path in paths if path != "-" and "://" not in path]
    if len(files) == len(paths) and not any(Path(path).expanduser().exists() for path in files):
        raise DocumentError("no such file or folder", subject=", ".join(files), next_step=NOT_THERE)


def _kept(collection: Collection) -> str:
    """The documents that an interrupted `index` has committed, in words."""
    try:
        number = len(collection.documents())
    except StoreError:  # it was to be a new collection
        number = 0
    if not number:
        return "no document is in the collection yet"
    return f"{counted(number, 'document')} {'is' if number == 1 else 'are'} in the collection and kept"


@on_collection()
def watch(
    target: Target,
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDER...", help="Folders or files.")],
    every: Annotated[float, typer.Option("--every", min=0.1, help="Seconds between two looks.")] = 2.0,
    recipe: Recipes = None,
    include: Include = None,
    exclude: Exclude = None,
) -> None:
    """Index a folder, and again whenever a file in it is new, changed or gone; Ctrl-C ends it."""
    _check_paths([str(folder) for folder in folders])
    waiting = Event()
    seen: dict[str, tuple[int, int]] | None = None
    with target.open() as collection:
        try:
            while True:
                if (now := dict(_states(folders))) != seen:
                    seen = now
                    report = collection.add(
                        *folders,
                        recipe=recipe or (),
                        include=include or (),
                        exclude=exclude or (),
                        prune=None,
                        settings=target.settings,
                    )
                    _tell(target, report)
                waiting.wait(every)
        except KeyboardInterrupt:
            output.complain("no longer watching; what was indexed is kept")


def _states(folders: Sequence[Path]) -> Iterator[tuple[str, tuple[int, int]]]:
    """Each file with its time of change and its size."""
    for folder in folders:
        for file in sorted(folder.rglob("*")) if folder.is_dir() else [folder]:
            try:
                state = file.stat()
            except OSError:  # it went between the two looks
                continue
            if file.is_file():
                yield str(file), (state.st_mtime_ns, state.st_size)


def _tell(target: Target, report: Report) -> None:
    if report.added or report.updated or report.renamed or report.removed or report.failed or report.remarks:
        target.show(report, _say_report)
        output.failures(report.failed)
        _say_remarks(report.remarks)
        sys.stdout.flush()


@on_collection(reads_settings=False)
def status(target: Target) -> None:
    """What a collection holds: documents, the index of each recipe; and what is not configured."""
    with target.open() as collection:
        documents = collection.documents()
        described = {
            "collection": target.collection,
            "home": str(target.home),
            "documents": len(documents),
            "characters": sum(document.characters for document in documents),
            "pages": sum(document.pages for document in documents),
            "storage": collection.storage(),
            "extractions": collection.extractions(),
            "tables": collection.tables(),
        }
        settings = collection.settings(target.recipe(None))
    target.show(described, _say_status)
    if not target.json:
        output.not_configured(settings)


@on_collection(reads_settings=False)
def documents(
    target: Target,
    where: Where = None,
    fields: Annotated[
        bool, typer.Option("--fields", help="List the fields that --where may name, with their values.")
    ] = False,
) -> None:
    """List the documents, or those that a filter holds for."""
    with target.open() as collection:
        found = collection.documents(where=where)
    if fields:
        target.show(_fields(found), _say_fields)
        return
    target.show(found, _say_documents)
    if where and not found:
        output.complain("no document matches the filter; see what there is: thresher documents --fields")


def _fields(records: Sequence[DocumentRecord]) -> dict[str, dict[str, int]]:
    """The fields of documents, each value with the number of documents that have it."""
    fields: dict[str, Counter[str]] = {}
    for record in records:
        for name, value in {"kind": record.kind, "date": record.date, **record.metadata}.items():
            if value is not None:
                fields.setdefault(name, Counter())[str(value)] += 1
    return {name: dict(values.most_common()) for name, values in sorted(fields.items())}


@on_collection(reads_settings=False)
def holding(
    target: Target,
    document: Annotated[
        str, typer.Argument(metavar="DOCUMENT", help="Source, label (Doc3) or id; one deleted before by its source.")
    ],
) -> None:
    """List the earlier answers that rest on a document, for who learns that it was wrong."""
    with target.open() as collection:
        records = collection.documents()
        (source, *_) = _meant(document, records)
        found = collection.resting_on(source)
    target.show(found, partial(_say_resting, source))


@on_collection()
def doctor(
    target: Target,
    check: Annotated[bool, typer.Option("--check", help="Only look, change nothing.")] = False,
    purged: Annotated[
        list[str] | None,
        typer.Option("--purged", metavar="TEXT", help="Only look where a text is still kept (repeatable)."),
    ] = None,
) -> None:
    """Check the collection on disk and mend what can be mended; exit 1 when something is left."""
    with target.open() as collection:
        if purged:
            held = {text: collection.holding(text) for text in purged}
            target.show(held, _say_places)
            if any(held.values()):
                raise typer.Exit(FAILED)
            return
        findings = collection.doctor(repair=not check, settings=target.settings)
    sound = all(finding.mended for finding in findings)
    target.show({"sound": sound, "findings": findings}, _say_findings)
    if not sound:
        raise typer.Exit(FAILED)


@on_collection(reads_settings=False)
def delete(
    target: Target,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...", help="Sources, labels (Doc3), ids or globs ('*.pdf') of `thresher documents`."
        ),
    ],
    purge: Annotated[
        bool, typer.Option("--purge", help="Also drop old versions and the traces that quote them.")
    ] = False,
    yes: Yes = False,
) -> None:
    """Forget documents; asks before more than one."""
    with target.open() as collection:
        records = collection.documents()
        meant = list(dict.fromkeys(source for given in sources for source in _meant(given, records)))
        if len(meant) > 1:
            shown = ", ".join(meant[:3]) + (", …" if len(meant) > 3 else "")
            output.confirm(f"delete {len(meant)} sources ({shown})?", yes=yes or target.json)
        result: dict[str, object] = {"deleted": collection.delete(*meant, purge=purge)}
        remark = collection.purge_remark if purge else ""
    target.show({**result, "remark": remark} if remark else result, _say_deleted)
    if remark and not target.json:
        output.complain(f"note: {remark}")


def _meant(given: str, records: Sequence[DocumentRecord]) -> list[str]:
    """The sources that a label, an id or a glob means; anything else is left to the library."""
    sources = [source for record in records for source in (record.source, *record.also)]
    if given in sources:
        return [given]
    found = [record.source for record in records if given in (f"Doc{record.number}", record.id)]
    if not found and LABEL.fullmatch(given):
        there = f"there are Doc{records[0].number} to Doc{records[-1].number}" if records else "there are none"
        raise UsageError("is the label of no document", subject=given, next_step=f"{there}, see `documents()`")
    if not found and any(mark in given for mark in "*?["):
        found = [one for one in sources if fnmatchcase(one, given) or fnmatchcase(Path(one).name, given)]
        if not found:
            raise UsageError("matches no document", subject=given, next_step="see `documents()`")
    return found or [given]


# --- in words ---------------------------------------------------------------------------------------------------------

SHOWN_VALUES = 5  # of a field, the most frequent first
MOST_REMARKS = 5
REREAD = "thresher index PATH reads them anew"


def _say_report(done: Report) -> None:
    """The counts of an `index`, those of 0 left out."""
    kinds = ("added", "updated", "unchanged", "duplicates", "renamed", "removed")
    counts = {**{kind: getattr(done, kind) for kind in kinds}, "read anew": done.reread}
    told = [f"{number} {what if number > 1 else what.removesuffix('s')}" for what, number in counts.items() if number]
    told += [f"{len(done.failed)} not read"] if done.failed else []
    summary = ", ".join(told) or "nothing found"
    output.say(f"{summary}; {counted(done.chunks, 'new chunk')} in {done.seconds:.1f} s")
    if done.skipped:
        passed = [counted(number, what.partition(" ")[2]) for what, number in done.skipped.items()]
        output.say(f"passed by, since they are no documents: {', '.join(passed)}")


def _say_remarks(made: Sequence[Remark]) -> None:
    """One line on stderr for each of the first remarks."""
    for remark in made[:MOST_REMARKS]:
        output.complain(f"{place_of(remark.source, None)}: {remark.remark}; {remark.next}")
    if len(made) > MOST_REMARKS:
        output.complain(f"... and {len(made) - MOST_REMARKS} more such files (all of them with --json)")


def _say_status(described: Mapping[str, Any]) -> None:
    """The size of a collection and of the index of each recipe."""
    sizes = ", ".join(counted(described[f"{what}s"], what) for what in ("document", "page", "character"))
    output.say(f"collection {described['collection']} in {described['home']}: {sizes}")
    kept = described["storage"]
    versions = f"a table keeps {counted(kept['versions'], 'version')} at most"
    output.say(f"on disk: {output.megabytes(kept['bytes'])} in {counted(kept['files'], 'file')}; {versions}")
    older, unknown = described["extractions"]["older"], described["extractions"]["unknown"]
    if older:
        were = "was" if older == 1 else "were"
        output.say(f"{counted(older, 'document')} {were} read by an older extraction; {REREAD}")
    if unknown:
        output.say(f"which extraction read {counted(unknown, 'document')} is not known; {REREAD}")
    indexes: dict[str, list[Mapping[str, Any]]] = {}
    for row in described["tables"]:
        indexes.setdefault(row["fingerprint"], []).append(row)
    rows = []
    for tables in indexes.values():
        used = ", ".join(tables[0]["recipes"]) or "none by the settings of now"
        passages = sum(one["chunks"] for one in tables if one["level"] == "chunk")
        rows.append([used, passages, output.megabytes(sum(one["bytes"] for one in tables))])
    output.table("indexes", ["index of recipe", "passages", "size"], sorted(rows))


def _say_documents(records: Sequence[DocumentRecord]) -> None:
    """A row for each document."""
    rows = []
    for one in records:
        authors = str(one.metadata.get("author") or "")
        first, *others = authors.split(", ")
        authors = f"{first} and {len(others)} more" if len(others) > 2 else authors  # all of them with --json
        size = (one.kind, one.pages or None, one.characters)
        rows.append([f"Doc{one.number}", *size, one.date, one.title, authors, one.source, ", ".join(one.also)])
    columns = ["document", "kind", "pages", "characters", "date", "title", "authors", "source", "also"]
    output.table(counted(len(records), "document"), columns, rows)


def _say_resting(source: str, answers: Sequence[Mapping[str, Any]]) -> None:
    """A row for each answer that cites a document."""
    if not answers:
        output.say(f"no stored answer rests on {source}")
        return
    rows = [[one["trace"], one["asked"], one["question"], shortened(one["text"], 80)] for one in answers]
    output.table(f"{counted(len(rows), 'answer')} on {source}", ["trace", "asked", "question", "answer"], rows)


def _say_fields(counts: Mapping[str, Mapping[str, int]]) -> None:
    """A row for each field of the documents, with its most frequent values."""
    rows = []
    for name, values in counts.items():
        first = [f"{shortened(value, 40)} ({number})" for value, number in list(values.items())[:SHOWN_VALUES]]
        rows.append([name, len(values), ", ".join(first) + (", …" if len(values) > SHOWN_VALUES else "")])
    output.table("fields", ["field", "values", "documents of each"], rows)


def _say_findings(found: Mapping[str, Any]) -> None:
    """What `doctor` found and mended."""
    for finding in found["findings"]:
        output.say(f"{'mended' if finding.mended else 'found'}: {finding.where}: {finding.what}")
    left = sum(not finding.mended for finding in found["findings"])
    output.say(f"{left} things are left" if left else "the collection is sound")


def _say_places(found: Mapping[str, Sequence[str]]) -> None:
    """Where texts are still kept."""
    for text, places in found.items():
        output.say(f"“{text}” is in no table and no file" if not places else f"“{text}” is in:")
        for place in places:
            output.say(f"  {place}")


def _say_deleted(result: Mapping[str, Any]) -> None:
    """How many sources went, and the first of them."""
    gone = result["deleted"]
    output.say(f"{len(gone)} deleted: {', '.join(gone[:10])}{', …' if len(gone) > 10 else ''}")
