"""The command line: parse, call, print. What a command does is in the library."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from thresher import recipes
from thresher.cli import output as printing
from thresher.cli.options import (
    DEFAULT_HOME,
    DONE,
    FAILED,
    IN_PART,
    WRONG_USAGE,
    AsJson,
    Home,
    Name,
    Question,
    RecipeName,
    Settings,
    Strict,
    Where,
    assignments,
    open_collection,
    options_of,
)
from thresher.errors import StoreError, ThresherError, UsageError

REST_API = "lance_namespace_urllib3_client.api"


class _EmptyModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of the REST API, and gives every name in them an empty class."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """A spec for the modules of the REST API only."""
        if name != REST_API and not name.startswith(REST_API + "."):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=name == REST_API)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing runs; names are made when they are asked for."""

        def made(name: str) -> type:
            if name.startswith("__"):
                raise AttributeError(name)
            return type(name, (), {"__module__": module.__name__})

        module.__getattr__ = made  # type: ignore[method-assign]


def without_rest_client() -> None:
    """Make the next `import lancedb` of this process skip its REST client."""
    if "lance_namespace_urllib3_client" not in sys.modules:
        sys.meta_path.insert(0, _EmptyModules())


# --- the command line: parse, call, print. What a command does is in the library --------------------------------------


app = typer.Typer(
    name="thresher",
    help="Answers from your own documents that do not trust what was retrieved until it has been judged.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # drawing the help with rich takes a tenth of a second longer
)
for extension in entry_points(group="thresher.commands"):
    app.add_typer(extension.load(), name=extension.name)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit; errors become one line on stderr and an exit code."""
    without_rest_client()
    try:
        code = _run(arguments)
    except ThresherError as error:
        printing.complain(f"thresher: {error}")
        code = WRONG_USAGE if isinstance(error, UsageError) else FAILED
    except BrokenPipeError:
        # Whoever read our output has seen enough. Python would complain at its end that it cannot write the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = FAILED
    except OSError as error:
        printing.complain(
            f"thresher: {error.filename or 'disk'}: {error.strerror or error}; free space or mend it, then run again"
        )
        code = FAILED
    except KeyboardInterrupt:
        printing.complain("thresher: interrupted; what was committed is kept, run the command again to go on")
        code = FAILED
    sys.exit(code)


def _run(arguments: Sequence[str] | None) -> int:
    """Parse and call, without typer's own words for errors: those take several lines."""
    command = typer.main.get_command(app)
    try:
        with command.make_context("thresher", [*(sys.argv[1:] if arguments is None else arguments)]) as context:
            command.invoke(context)
        sys.stdout.flush()
    except typer.Exit as done:
        return done.exit_code
    except Exception as error:
        if not hasattr(error, "format_message"):  # what typer raises for a command line it cannot read
            raise
        _complain_of_usage(error)
        return WRONG_USAGE
    return DONE


def _complain_of_usage(error: Any) -> None:
    """What is wrong with a command line, in one line; the help for a command that needs more than its name."""
    message = error.format_message()
    context = getattr(error, "ctx", None)
    if "\n" in message:
        sys.stderr.write(message + "\n")
        return
    what = message[:1].lower() + message[1:].rstrip(".")
    path = context.command_path if context is not None else "thresher"
    printing.complain(f"thresher: {what}; see {path} --help")


# --- documents --------------------------------------------------------------------------------------------------------


@app.command()
def index(
    paths: Annotated[list[str], typer.Argument(metavar="PATH|URL|-...", help="Files, folders, URLs, or - for stdin.")],
    recipe: Annotated[list[str] | None, typer.Option("--recipe", help="Prepare for this recipe (repeatable).")] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove documents whose files vanished from the folders.")
    ] = False,
    include: Annotated[list[str] | None, typer.Option("--include", metavar="GLOB")] = None,
    exclude: Annotated[list[str] | None, typer.Option("--exclude", metavar="GLOB")] = None,
    metadata: Annotated[
        list[str] | None, typer.Option("--metadata", metavar="KEY=VALUE", help="Field added to every document.")
    ] = None,
    home: Home = DEFAULT_HOME,
    collection: Name = "default",
    settings: Settings = None,
    json: AsJson = False,
) -> None:
    """Take in documents: new ones are added, changed ones replaced, unchanged ones skipped, broken ones reported."""
    from thresher.settings import parse_assignments

    with open_collection(home, collection) as opened, printing.indexing() as progress:
        report = opened.add(
            *paths,
            recipe=recipe or (),
            include=include or (),
            exclude=exclude or (),
            prune=prune,
            metadata=parse_assignments(metadata or [], option="--metadata", example="author=me"),
            settings=assignments(settings),
            stdin=sys.stdin.buffer,
            progress=progress,
        )
    if json:
        printing.as_json(report.to_dict())
    else:
        printing.report(report)
    printing.failures(report.failed)
    if report.failed:
        done = report.added + report.updated + report.unchanged + report.duplicates
        raise typer.Exit(IN_PART if done else FAILED)


@app.command()
def status(
    home: Home = DEFAULT_HOME, collection: Name = "default", settings: Settings = None, json: AsJson = False
) -> None:
    """What a collection holds: documents, chunk tables, encoders."""
    with open_collection(home, collection) as opened:
        documents = opened.documents()
        tables = opened.tables()
    described: dict[str, Any] = {
        "collection": collection,
        "home": str(home),
        "documents": len(documents),
        "characters": sum(document.characters for document in documents),
        "pages": sum(document.pages for document in documents),
        "tables": tables,
    }
    if json:
        printing.as_json(described)
        return
    sizes = [(len(documents), "document"), (described["pages"], "page"), (described["characters"], "character")]
    told = ", ".join(printing.counted(number, what) for number, what in sizes)
    printing.say(f"collection {collection} in {home}: {told}")
    printing.table(
        "chunk tables",
        ["cut and encoded", "level", "chunks", "expected by formula"],
        [[row["fingerprint"], row["level"], row["chunks"], row["estimated"]] for row in tables],
    )


@app.command()
def documents(
    home: Home = DEFAULT_HOME, collection: Name = "default", settings: Settings = None, json: AsJson = False
) -> None:
    """List the documents."""
    with open_collection(home, collection) as opened:
        records = opened.documents()
    if json:
        printing.as_json([record.to_dict() for record in records])
        return
    columns = ["document", "kind", "pages", "characters", "date", "title", "source", "also"]
    rows = [
        [f"Doc{r.number}", r.kind, r.pages or None, r.characters, r.date, r.title, r.source, ", ".join(r.also)]
        for r in records
    ]
    printing.table(printing.counted(len(records), "document"), columns, rows)


@app.command()
def doctor(
    check: Annotated[bool, typer.Option("--check", help="Only look, change nothing.")] = False,
    home: Home = DEFAULT_HOME,
    collection: Name = "default",
    settings: Settings = None,
    json: AsJson = False,
) -> None:
    """Check the collection on disk and mend what can be mended; exit 1 when something is left."""
    with open_collection(home, collection) as opened:
        findings = opened.doctor(repair=not check, settings=assignments(settings))
    left = [finding for finding in findings if not finding.mended]
    if json:
        printing.as_json({"sound": not left, "findings": [finding.to_dict() for finding in findings]})
    else:
        for finding in findings:
            printing.say(f"{'mended' if finding.mended else 'found'}: {finding.where}: {finding.what}")
        printing.say("the collection is sound" if not left else f"{len(left)} things are left")
    if left:
        raise typer.Exit(FAILED)


@app.command()
def delete(
    sources: Annotated[list[str], typer.Argument(metavar="SOURCE...", help="As `thresher documents` lists them.")],
    purge: Annotated[
        bool, typer.Option("--purge", help="Also drop old versions and the traces that quote them.")
    ] = False,
    home: Home = DEFAULT_HOME,
    collection: Name = "default",
    settings: Settings = None,
    json: AsJson = False,
) -> None:
    """Forget documents."""
    with open_collection(home, collection) as opened:
        gone = opened.delete(*sources, purge=purge)
    if json:
        printing.as_json({"deleted": gone})
    else:
        printing.say(f"{len(gone)} deleted: {', '.join(gone[:10])}{', …' if len(gone) > 10 else ''}")


# --- questions --------------------------------------------------------------------------------------------------------


@app.command()
def search(
    question: Question,
    recipe: RecipeName = recipes.DEFAULT,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many results.")] = 5,
    where: Where = None,
    strict: Strict = False,
    home: Home = DEFAULT_HOME,
    collection: Name = "default",
    settings: Settings = None,
    json: AsJson = False,
) -> None:
    """Show the chunks a recipe finds for a question."""
    with open_collection(home, collection) as opened:
        found = opened.search(
            question, recipe=recipe, limit=limit, where=where, settings=assignments(settings), strict=strict
        )
    if json:
        printing.as_json(found.to_dict())
    else:
        printing.hits(found)


@app.command()
def ask(
    question: Question,
    recipe: RecipeName = recipes.DEFAULT,
    outside: Annotated[
        str | None,
        typer.Option("--outside", metavar="PLACE", help="Where to correct from: none, web or collection:NAME."),
    ] = None,
    where: Where = None,
    stream: Annotated[bool, typer.Option("--stream", help="Show each step as it finishes.")] = False,
    strict: Strict = False,
    budget_calls: Annotated[int | None, typer.Option("--budget-calls", min=0, help="Model calls at most.")] = None,
    budget_tokens: Annotated[int | None, typer.Option("--budget-tokens", min=0, help="Model tokens at most.")] = None,
    budget_seconds: Annotated[float | None, typer.Option("--budget-seconds", min=0.0, help="Seconds at most.")] = None,
    home: Home = DEFAULT_HOME,
    collection: Name = "default",
    settings: Settings = None,
    json: AsJson = False,
) -> None:
    """Answer a question from the documents, with citations, or say why not."""
    from thresher.types import Answer, Step

    with open_collection(home, collection) as opened:
        run = opened.run(
            question,
            recipe=recipe,
            outside=outside,
            where=where,
            settings=assignments(settings),
            strict=strict,
            budget_calls=budget_calls,
            budget_tokens=budget_tokens,
            budget_seconds=budget_seconds,
        )
        for step in run:
            match step:
                case Step() if stream and json:
                    printing.as_json(step.to_dict())
                case Step() if stream:
                    printing.say(printing.step_line(step))
                case Answer() if json:
                    printing.as_json(step.to_dict())
                case Answer():
                    printing.answer(step, steps=False, options=options_of(home, collection))


@app.command()
def explain(
    trace: Annotated[str, typer.Argument(help="Id of a trace, or `last`.")] = "last",
    replay: Annotated[
        bool, typer.Option("--replay", help="Ask again with the stored replies, without a network, and compare.")
    ] = False,
    home: Home = DEFAULT_HOME,
    collection: Name = "default",
    settings: Settings = None,
    json: AsJson = False,
) -> None:
    """Show how an answer came about: every chunk with its scores, kept or dropped, and why."""
    with open_collection(home, collection) as opened:
        described = opened.traces.load(trace)
        labels = opened.traces.labels(trace)
        differences: list[str] = []
        if replay:
            answer, differences = opened.replay(trace)
            described = answer.to_dict(chunks=True)
    if json:
        printing.as_json(described)
    else:
        printing.explanation(described, labels)
    if differences:
        printing.complain(f"thresher: the replay differs from the stored answer in: {', '.join(differences)}")
        raise typer.Exit(FAILED)
    if replay:
        printing.complain("the replay reached the stored answer")


# --- calibration ------------------------------------------------------------------------------------------------------


@app.command()
def calibrate(
    questions: Annotated[
        Path | None,
        typer.Option("--questions", metavar="FILE", help="Labelled questions, JSON lines: id, question, answerable."),
    ] = None,
    number: Annotated[int, typer.Option("--number", min=1, help="Questions made where none are given.")] = 200,
    seed: Annotated[int, typer.Option("--seed", help="Of the questions that are made.")] = 0,
    home: Home = DEFAULT_HOME,
    collection: Name = "default",
    settings: Settings = None,
    json: AsJson = False,
) -> None:
    """Learn what the local judge's scores are worth in this collection, and choose the bounds of the verdicts."""
    labelled = None
    if questions is not None:
        from thresher_evals.datasets.registry import load

        loaded = load(f"qa:{questions}")
        labelled = [(question.question, question.answerable) for question in loaded.questions]
    searches = 2 * number if labelled is None else len(labelled)
    with open_collection(home, collection) as opened, printing.counting(searches, "searches") as progress:
        made = opened.calibrate(labelled, number=number, seed=seed, settings=assignments(settings), progress=progress)
    if json:
        printing.as_json(made.to_dict())
    else:
        printing.calibration(made)


# --- recipes ----------------------------------------------------------------------------------------------------------


@app.command("recipes")
def list_recipes(json: AsJson = False) -> None:
    """List the recipes and what stands in their slots."""
    described = [_describe(name) for name in recipes.names()]
    if json:
        fields = ("name", "preset_of", "slots", "follows", "needs_llm")
        printing.as_json([{field: recipe[field] for field in fields} for recipe in described])
        return
    slots = ["retrieve", "judge", "decide", "correct", "refine", "generate"]
    rows = [[recipe["name"], *(recipe["slots"][slot] for slot in slots)] for recipe in described]
    printing.table("recipes", ["recipe", *slots], rows)


@app.command()
def show(
    recipe: Annotated[str, typer.Argument(help="A recipe or preset.")],
    diff: Annotated[str | None, typer.Option("--diff", help="Show only what differs from this one.")] = None,
    settings: Settings = None,
    json: AsJson = False,
) -> None:
    """Show a recipe: its slots, its settings, what it follows and where it departs."""
    one = _describe(recipe, settings)
    if diff is not None:
        _show_difference(one, _describe(diff, None), json=json)
        return
    if json:
        printing.as_json(one)
        return
    printing.say(one["follows"].strip())
    printing.say()
    printing.table("slots", ["slot", "part"], list(one["slots"].items()))
    printing.table("settings", ["setting", "value", "what it is"], _setting_rows(recipe, one["settings"]))


def _show_difference(one: dict[str, Any], other: dict[str, Any], *, json: bool) -> None:
    names = (one["name"], other["name"])
    rows = []
    for part in ("slots", "settings"):
        for key in dict.fromkeys((*one[part], *other[part])):
            pair = [described[part].get(key, "-") for described in (one, other)]
            if pair[0] != pair[1]:
                rows.append({"part": part, "key": key, **dict(zip(names, pair, strict=True))})
    if json:
        printing.as_json(rows)
    else:
        told = [[row["key"], *(_value(row[name]) for name in names)] for row in rows]
        printing.table(f"{names[0]} and {names[1]}", ["key", *names], told)


def _setting_rows(recipe: str, values: dict[str, Any]) -> list[list[Any]]:
    from thresher.settings import descriptions

    told = descriptions(recipes.get(recipe).settings)
    return [[key, _value(value), told.get(key, "")] for key, value in values.items()]


def _value(value: Any) -> Any:
    return "not set" if value in (None, "") else value


def _describe(name: str, settings: list[str] | None = None) -> dict[str, Any]:
    from thresher.settings import check_known, keys

    recipe = recipes.get(name)
    given = assignments(settings)
    check_known(given, keys(recipe.settings))
    return recipe.describe(recipe.configured(given))


# --- demo -------------------------------------------------------------------------------------------------------------


@app.command()
def demo(home: Home = DEFAULT_HOME, json: AsJson = False) -> None:
    """Index the documentation that comes with Thresher; answer a question, refuse one, and correct one from outside."""
    with open_collection(home, COLLECTION) as opened, open_collection(home, OUTSIDE) as outside:
        with printing.indexing() as progress:
            report = opened.add(*samples(), prune=True, progress=progress)
            outside.add(*almanac(), prune=True)
        answers = [(opened.ask(question, outside=place), place) for question, place in QUESTIONS]
    if json:
        printing.as_json({"index": report.to_dict(), "answers": [answer.to_dict() for answer, _ in answers]})
        return
    documents = printing.counted(report.added + report.updated + report.unchanged, "document")
    printing.say(f"Indexed {documents} of Thresher's own in {report.seconds:.1f} s.")
    for answer, place in answers:
        printing.say()
        asked = "" if place is None else f" --outside {place}"
        printing.say(f"$ thresher ask{options_of(home, COLLECTION)}{asked} {answer.question!r}")
        printing.answer(answer, steps=True, options=options_of(home, COLLECTION))


# --- the demo: Thresher's own documentation as the sample documents; one question answered, one refused, one ----------


COLLECTION = "demo"

OUTSIDE = "demo-almanac"
"""A second collection, from which the third question is corrected."""

QUESTIONS = (
    ("What happens to an input that cannot be read?", None),
    ("Which country won the football world cup in 1998?", None),
    ("Which country won the football world cup in 1998?", f"collection:{OUTSIDE}"),
)
"""Each with the place outside where a correction may come from: the second and third differ in nothing else."""


def samples() -> list[str]:
    """README and docs: beside the package in an installation, in the project's folder in a checkout.

    Without the folders in docs: the report of all measurements would take minutes to read.
    """
    folder = _folder()
    return [str(folder / "README.md"), *map(str, sorted((folder / "docs").glob("*.md")))]


def almanac() -> list[str]:
    """The documents of the second collection."""
    return [str(_folder() / "examples" / "almanac")]


def _folder() -> Path:
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "samples", package.parent.parent):
        if all((folder / name).exists() for name in ("README.md", "docs", "examples/almanac")):
            return folder
    raise StoreError(
        "the sample documents are not installed", next_step="reinstall thresher, or index your own documents"
    )
