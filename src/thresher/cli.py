"""The command line: parse, call, print. What a command does is in the library."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thresher import printing, recipes
from thresher.errors import ThresherError, UsageError
from thresher.start_up import without_rest_client

if TYPE_CHECKING:
    from thresher.collection import Collection

DONE, FAILED, WRONG_USAGE, IN_PART = 0, 1, 2, 3
"""Exit codes of the public contract."""

app = typer.Typer(
    name="thresher",
    help="Answers from your own documents that do not trust what was retrieved until it has been judged.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # drawing the help with rich takes a tenth of a second longer
)
eval_app = typer.Typer(help="Measure recipes on questions with known answers.", no_args_is_help=True)
app.add_typer(eval_app, name="eval")

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

    with _open(home, collection) as opened, printing.indexing() as progress:
        report = opened.add(
            *paths,
            recipe=recipe or (),
            include=include or (),
            exclude=exclude or (),
            prune=prune,
            metadata=parse_assignments(metadata or [], option="--metadata", example="author=me"),
            settings=_assignments(settings),
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
    with _open(home, collection) as opened:
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
    with _open(home, collection) as opened:
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
    with _open(home, collection) as opened:
        findings = opened.doctor(repair=not check, settings=_assignments(settings))
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
    with _open(home, collection) as opened:
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
    with _open(home, collection) as opened:
        found = opened.search(
            question, recipe=recipe, limit=limit, where=where, settings=_assignments(settings), strict=strict
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

    with _open(home, collection) as opened:
        run = opened.run(
            question,
            recipe=recipe,
            outside=outside,
            where=where,
            settings=_assignments(settings),
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
                    printing.answer(step, steps=False, options=_options(home, collection))


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
    with _open(home, collection) as opened:
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
        from thresher.evals.datasets import load

        loaded = load(f"qa:{questions}")
        labelled = [(question.question, question.answerable) for question in loaded.questions]
    searches = 2 * number if labelled is None else len(labelled)
    with _open(home, collection) as opened, printing.counting(searches, "searches") as progress:
        made = opened.calibrate(labelled, number=number, seed=seed, settings=_assignments(settings), progress=progress)
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
    given = _assignments(settings)
    check_known(given, keys(recipe.settings))
    return recipe.describe(recipe.configured(given))


# --- evals ------------------------------------------------------------------------------------------------------------


@eval_app.command("run")
def eval_run(
    dataset: Annotated[
        str,
        typer.Option("--dataset", metavar="KIND:PATH", help="beir:DIR, qa:FILE, routing:FILE or refusal:FILE."),
    ],
    recipe: Annotated[list[str], typer.Option("--recipe", help="Recipe to measure (repeatable).")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the rows of this run.")],
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Results per question.")] = None,
    split: Annotated[str, typer.Option("--split", help="Ask the questions of train, tune, final or all.")] = "all",
    sample: Annotated[int | None, typer.Option("--sample", min=1, help="Ask this many questions only.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the sample.")] = 0,
    outside: Annotated[
        str,
        typer.Option(
            "--outside",
            metavar="PLACE",
            help="Where correcting recipes look: none, web, collection:NAME; auto is the dataset's own, if it has one.",
        ),
    ] = "auto",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was stopped.")] = False,
    home: Home = DEFAULT_HOME,
    collection: Annotated[
        str | None, typer.Option("--collection", help="Default: `default`; one of its own where documents come along.")
    ] = None,
    settings: Settings = None,
    json: AsJson = False,
) -> None:
    """Put the questions of a dataset to recipes and keep a row of each."""
    from thresher.evals.asking import CollectionAsker
    from thresher.evals.datasets import load
    from thresher.evals.preparing import collection_of, files, outside_of
    from thresher.evals.runs import run

    loaded = load(dataset, split=split, sample=sample, seed=seed)
    name = collection or collection_of(loaded)
    elsewhere = outside_of(loaded, name) if outside == "auto" else outside
    report_failed = False
    for corpus, owner in files(loaded, home, name, outside=elsewhere):
        with _open(home, owner) as opened, printing.indexing() as progress:
            report = opened.add(corpus, recipe=recipe, settings=_assignments(settings), progress=progress)
        printing.failures(report.failed)
        report_failed = report_failed or bool(report.failed)
    if loaded.note and not json:
        told = ", ".join(f"{number} {category}" for category, number in loaded.categories.items())
        printing.say(f"{told} ({loaded.note})")
    with _open(home, name) as opened:
        asker = CollectionAsker(opened, _assignments(settings), outside=elsewhere)
        described = {one: asker.settings_of(one) for one in recipe}
        for one in recipe:
            asker.warm_up(one)
        with printing.counting(len(loaded.questions) * len(recipe), "questions") as count:
            done = run(
                asker,
                loaded,
                recipe,
                out,
                limit=limit,
                resume=resume,
                settings=described,
                outside=elsewhere,
                progress=count,
            )
    if json:
        printing.as_json(done.to_dict())
    else:
        for one in recipe:
            printing.say(f"{one}: {done.asked[one]} asked, {done.skipped[one]} done before, {done.failed[one]} failed")
        printing.say(f"rows in {out}; score them with: thresher eval score {out}")
    failed = sum(done.failed.values())
    if failed or report_failed:
        asked = sum(done.asked.values()) + sum(done.skipped.values())
        raise typer.Exit(FAILED if failed == asked else IN_PART)


@eval_app.command("score")
def eval_score(
    directory: Annotated[Path, typer.Argument(help="Folder of a run.")],
    measure: Annotated[list[str] | None, typer.Option("--measure", help="Only these measures.")] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", help="Recipe the others are compared with; the first when not given.")
    ] = None,
    split: Annotated[str, typer.Option("--split", help="Only the questions of train, tune or final.")] = "all",
    json: AsJson = False,
) -> None:
    """Compute the measures of a run from its rows, with 95 % intervals."""
    from thresher.evals.score import score
    from thresher.evals.splits import read_split

    scored = score(directory, measures=measure, baseline=baseline, split=read_split(split))
    if json:
        printing.as_json(scored)
        return
    names = list(dict.fromkeys(name for values in scored["recipes"].values() for name in values))
    rows = [[name, *(_interval(values.get(name)) for values in scored["recipes"].values())] for name in names]
    printing.table(f"{scored['dataset']}, n = {scored['n']}", ["measure", *scored["recipes"]], rows)


def _interval(value: dict[str, Any] | None) -> str:
    if value is None or value["value"] is None:
        return "-"
    return f"{value['value']:.4g} [{value['low']:.4g}, {value['high']:.4g}] n={value['n']}"


# --- demo -------------------------------------------------------------------------------------------------------------


@app.command()
def demo(home: Home = DEFAULT_HOME, json: AsJson = False) -> None:
    """Index the documentation that comes with Thresher; answer a question, refuse one, and correct one from outside."""
    from thresher.demo import COLLECTION, OUTSIDE, QUESTIONS, almanac, samples

    with _open(home, COLLECTION) as opened, _open(home, OUTSIDE) as outside:
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
        printing.say(f"$ thresher ask{_options(home, COLLECTION)}{asked} {answer.question!r}")
        printing.answer(answer, steps=True, options=_options(home, COLLECTION))


# --- inside -----------------------------------------------------------------------------------------------------------


def _open(home: Path, collection: str) -> Collection:
    from thresher.collection import Collection

    return Collection(home, collection, completing=printing.Completing())


def _options(home: Path, collection: str) -> str:
    """The options that name a collection, those with their usual values left out."""
    given = "" if home == DEFAULT_HOME else f" --home {quote(str(home))}"
    return given if collection == "default" else f"{given} --collection {quote(collection)}"


def _assignments(settings: list[str] | None) -> dict[str, str]:
    from thresher.settings import parse_assignments

    return parse_assignments(settings or [])
