"""The command line: parse, call, print. What a command does is in the library."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from thresher import recipes
from thresher.cli import output
from thresher.cli.options import (
    DEFAULT_HOME,
    DONE,
    FAILED,
    IN_PART,
    WRONG_USAGE,
    AsJson,
    Home,
    Question,
    RecipeName,
    Settings,
    Strict,
    Target,
    Where,
    assignments,
    in_flags,
    on_collection,
    open_collection,
    options_of,
)
from thresher.cli.start_up import without_rest_client
from thresher.errors import ThresherError, UsageError

ENTRY_POINTS = "thresher.commands"
"""The group in which another distribution names its command."""


class Extension(TyperGroup):
    """The commands of another distribution, which is imported when one of them is called."""

    def __init__(self, name: str, purpose: str, *, distribution: str) -> None:
        super().__init__(name=name, help=purpose)
        self.distribution = distribution

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the real group."""
        group = self.group()
        if parent is not None:
            parent.command.commands[self.name] = group  # an error of it is told in the words of its options
        return group.make_context(info_name, args, parent=parent, **extra)

    def group(self) -> Any:
        """The real group. Raises UsageError where the distribution is not installed."""
        from importlib.metadata import entry_points

        name = str(self.name)
        found = entry_points(group=ENTRY_POINTS, name=name)
        if not found:
            raise UsageError(
                f"the package '{self.distribution}' is not installed",
                subject=f"thresher {name}",
                next_step=f"install with: pip install {self.distribution}",
            )
        around = typer.Typer(rich_markup_mode=None)
        around.add_typer(found[name].load(), name=name)
        return typer.main.get_group(around).commands[name]


class Commands(TyperGroup):
    """Our own commands, and those of the distributions on top."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        purpose = "Measure recipes on questions with known answers."
        self.commands["eval"] = Extension("eval", purpose, distribution="thresher-evals")


app = typer.Typer(
    name="thresher",
    cls=Commands,
    help="Answers from your own documents that do not trust what was retrieved until it has been judged.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # drawing the help with rich takes a tenth of a second longer
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit; errors become one line on stderr and an exit code."""
    without_rest_client()
    command = typer.main.get_command(app)
    try:
        code = _run(command, sys.argv[1:] if arguments is None else arguments)
    except ThresherError as error:
        output.complain(f"thresher: {in_flags(str(error), command)}")
        code = WRONG_USAGE if isinstance(error, UsageError) else FAILED
    except BrokenPipeError:
        # Whoever read our output has seen enough. Python would complain at its end that it cannot write the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = FAILED
    except OSError as error:
        what = f"{error.filename or 'disk'}: {error.strerror or error}"
        output.complain(f"thresher: {what}; free space or mend it, then run again")
        code = FAILED
    except KeyboardInterrupt:
        output.complain("thresher: interrupted; what was committed is kept, run the command again to go on")
        code = FAILED
    sys.exit(code)


def _run(command: Any, arguments: Sequence[str]) -> int:
    """Parse and call, without typer's own words for errors: those take several lines."""
    try:
        with command.make_context("thresher", list(arguments)) as context:
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
    if "\n" in message:
        sys.stderr.write(message + "\n")
        return
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "thresher"
    output.complain(f"thresher: {message[:1].lower()}{message[1:].rstrip('.')}; see {path} --help")


# --- documents --------------------------------------------------------------------------------------------------------


@app.command()
@on_collection()
def index(
    target: Target,
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
) -> None:
    """Take in documents: new ones are added, changed ones replaced, unchanged ones skipped, broken ones reported."""
    from thresher.settings import parse_assignments

    with target.open() as collection, output.indexing() as progress:
        report = collection.add(
            *paths,
            recipe=recipe or (),
            include=include or (),
            exclude=exclude or (),
            prune=prune,
            metadata=parse_assignments(metadata or [], parameter="metadata", example="author=me"),
            settings=target.settings,
            stdin=sys.stdin.buffer,
            progress=progress,
            announce=output.complain,
        )
    target.show(report, output.report)
    output.failures(report.failed)
    output.remarks(report.remarks)
    if report.failed:
        done = report.added + report.updated + report.unchanged + report.duplicates
        raise typer.Exit(IN_PART if done else FAILED)


@app.command()
@on_collection(reads_settings=False)
def status(target: Target) -> None:
    """What a collection holds: documents, chunk tables, encoders."""
    with target.open() as collection:
        documents = collection.documents()
        described = {
            "collection": target.collection,
            "home": str(target.home),
            "documents": len(documents),
            "characters": sum(document.characters for document in documents),
            "pages": sum(document.pages for document in documents),
            "tables": collection.tables(),
        }
    target.show(described, output.status)


@app.command()
@on_collection(reads_settings=False)
def documents(target: Target) -> None:
    """List the documents."""
    with target.open() as collection:
        target.show(collection.documents(), output.documents)


@app.command()
@on_collection()
def doctor(
    target: Target, check: Annotated[bool, typer.Option("--check", help="Only look, change nothing.")] = False
) -> None:
    """Check the collection on disk and mend what can be mended; exit 1 when something is left."""
    with target.open() as collection:
        findings = collection.doctor(repair=not check, settings=target.settings)
    sound = all(finding.mended for finding in findings)
    target.show({"sound": sound, "findings": findings}, output.diagnosis)
    if not sound:
        raise typer.Exit(FAILED)


@app.command()
@on_collection(reads_settings=False)
def delete(
    target: Target,
    sources: Annotated[list[str], typer.Argument(metavar="SOURCE...", help="As `thresher documents` lists them.")],
    purge: Annotated[
        bool, typer.Option("--purge", help="Also drop old versions and the traces that quote them.")
    ] = False,
) -> None:
    """Forget documents."""
    with target.open() as collection:
        target.show({"deleted": collection.delete(*sources, purge=purge)}, output.deleted)


# --- questions --------------------------------------------------------------------------------------------------------


@app.command()
@on_collection()
def search(
    target: Target,
    question: Question,
    recipe: RecipeName = recipes.DEFAULT,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many results.")] = 5,
    where: Where = None,
    strict: Strict = False,
) -> None:
    """Show the chunks a recipe finds for a question."""
    with target.open() as collection:
        result = collection.search(
            question, recipe=recipe, limit=limit, where=where, settings=target.settings, strict=strict
        )
    target.show(result, output.hits)


@app.command()
@on_collection()
def ask(
    target: Target,
    question: Question,
    recipe: RecipeName = recipes.DEFAULT,
    outside: Annotated[
        str | None,
        typer.Option("--outside", metavar="PLACE", help="Where to correct from: none, web or collection:NAME."),
    ] = None,
    where: Where = None,
    after: Annotated[
        str | None, typer.Option("--after", metavar="TRACE", help="Follow up on a stored answer: its id, or `last`.")
    ] = None,
    stream: Annotated[
        bool, typer.Option("--stream", help="Show each step, and a model's sentences as they are checked.")
    ] = False,
    strict: Strict = False,
    budget_calls: Annotated[int | None, typer.Option("--budget-calls", min=0, help="Model calls at most.")] = None,
    budget_tokens: Annotated[int | None, typer.Option("--budget-tokens", min=0, help="Model tokens at most.")] = None,
    budget_seconds: Annotated[float | None, typer.Option("--budget-seconds", min=0.0, help="Seconds at most.")] = None,
) -> None:
    """Answer a question from the documents, with citations, or say why not."""
    from thresher.generation.llm import in_silence
    from thresher.types import Step

    generated = False

    def on_sentence(sentence: str) -> None:
        if generated:
            return  # of an answer that was not written sentence by sentence: it is shown whole
        target.show({"sentence": sentence}, lambda said: output.say(f"sentence  {said['sentence'].strip()}"))

    with target.open() as collection:
        by_model = collection.settings(recipe, target.settings)["llm.model"]
        history = [] if after is None else collection.traces.conversation(after)
        run = collection.run(
            question,
            on_sentence=on_sentence if stream and by_model else in_silence,
            history=history,
            recipe=recipe,
            outside=outside,
            where=where,
            settings=target.settings,
            strict=strict,
            budget_calls=budget_calls,
            budget_tokens=budget_tokens,
            budget_seconds=budget_seconds,
        )
        for step in run:
            if not isinstance(step, Step):
                target.show(step, partial(output.answer, options=target.options))
                continue
            generated = generated or step.name == "generate"
            if stream:
                target.show(step, output.step)


@app.command()
@on_collection(reads_settings=False)
def explain(
    target: Target,
    trace: Annotated[str, typer.Argument(help="Id of a trace, or `last`.")] = "last",
    replay: Annotated[
        bool, typer.Option("--replay", help="Ask again with the stored replies, without a network, and compare.")
    ] = False,
) -> None:
    """Show how an answer came about: every chunk with its scores, kept or dropped, and why."""
    with target.open() as collection:
        described = collection.traces.load(trace)
        labels = collection.traces.labels(trace)
        differences: list[str] = []
        if replay:
            answer, differences = collection.replay(trace)
            described = answer.to_dict(chunks=True)
    target.show(described, partial(output.explanation, labels=labels))
    if differences:
        output.complain(f"thresher: the replay differs from the stored answer in: {', '.join(differences)}")
        raise typer.Exit(FAILED)
    if replay:
        output.complain("the replay reached the stored answer")


@app.command()
@on_collection()
def calibrate(
    target: Target,
    questions: Annotated[
        Path | None,
        typer.Option("--questions", metavar="FILE", help="Labelled questions, JSON lines: id, question, answerable."),
    ] = None,
    number: Annotated[int, typer.Option("--number", min=1, help="Questions made where none are given.")] = 200,
    seed: Annotated[int, typer.Option("--seed", help="Of the questions that are made.")] = 0,
) -> None:
    """Learn what the local judge's scores are worth in this collection, and choose the bounds of the verdicts."""
    labelled = None if questions is None else _labelled(questions)
    searches = 2 * number if labelled is None else len(labelled)
    with target.open() as collection, output.counting(searches, "searches") as progress:
        calibration = collection.calibrate(
            labelled, number=number, seed=seed, settings=target.settings, progress=progress
        )
    target.show(calibration, output.calibration)


def _labelled(file: Path) -> list[tuple[str, bool]]:
    """The questions of a file, each with whether the documents answer it (they do where nothing is said)."""
    import json

    try:
        lines = file.expanduser().read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines()
    except OSError as error:
        what = "no such file" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})"
        raise UsageError(what, subject=str(file), next_step="check the path") from error
    labelled = []
    for number, line in enumerate(lines, start=1):
        try:
            match json.loads(line) if line.strip() else {}:
                case {"question": str(question), "answerable": bool(answerable)} if question.strip():
                    labelled.append((question, answerable))
                case {"question": str(question), **more} if question.strip() and "answerable" not in more:
                    labelled.append((question, True))
                case empty if empty != {}:
                    raise ValueError
        except ValueError as error:
            form = 'write {"question": "...", "answerable": true} on every line'
            raise UsageError("is no labelled question", subject=f"{file}, line {number}", next_step=form) from error
    return labelled


@app.command("train-judge")
@on_collection()
def train_judge(
    target: Target,
    labels: Annotated[
        Path,
        typer.Argument(metavar="QUESTIONS", help="JSON lines: question and passage with relevant, or answers."),
    ],
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="How often each training question is read.")] = 4,
    seed: Annotated[int, typer.Option("--seed", help="Of the order of what is read.")] = 0,
) -> None:
    """Train the judge further on your own labels, and keep it if that made it better; needs the extra `train`."""
    with target.open() as collection:
        trained = collection.train_judge(
            labels, epochs=epochs, seed=seed, settings=target.settings, counting=output.counting
        )
    target.show(trained, output.trained)


# --- recipes ----------------------------------------------------------------------------------------------------------


@app.command("recipes")
def list_recipes(json: AsJson = False) -> None:
    """List the recipes and what stands in their slots."""
    described = [_describe(name) for name in recipes.names()]
    if json:
        fields = ("name", "preset_of", "slots", "follows", "needs_llm")
        output.as_json([{field: recipe[field] for field in fields} for recipe in described])
        return
    slots = ["retrieve", "judge", "decide", "correct", "refine", "generate"]
    rows = [[recipe["name"], *(recipe["slots"][slot] for slot in slots)] for recipe in described]
    output.table("recipes", ["recipe", *slots], rows)


@app.command()
def show(
    recipe: Annotated[str, typer.Argument(help="A recipe or preset.")],
    diff: Annotated[str | None, typer.Option("--diff", help="Show only what differs from this one.")] = None,
    settings: Settings = None,
    json: AsJson = False,
) -> None:
    """Show a recipe: its slots, its settings, what it follows and where it departs."""
    from thresher.settings import descriptions

    one = _describe(recipe, settings)
    if diff is not None:
        other = _describe(diff)
        changed = ",".join(f"{key}={value}" for key, value in assignments(settings).items())
        names = (recipe if recipe != diff or not changed else f"{recipe}[{changed}]", diff)
        differences = _differences(one, other, names)
        if json:
            output.as_json(differences)
        else:
            output.recipe_differences(names, differences)
    elif json:
        output.as_json(one)
    else:
        output.recipe(one, descriptions(recipes.get(recipe).settings))


def _describe(name: str, settings: list[str] | None = None) -> dict[str, Any]:
    recipe = recipes.get(name)
    return recipe.describe(recipe.configured(assignments(settings)))


def _differences(one: dict[str, Any], other: dict[str, Any], names: tuple[str, str]) -> list[dict[str, Any]]:
    """The slots and settings in which two recipes differ, `-` where one has none of that name."""
    rows = []
    for part in ("slots", "settings"):
        for key in dict.fromkeys((*one[part], *other[part])):
            values = [described[part].get(key, "-") for described in (one, other)]
            if values[0] != values[1]:
                rows.append({"part": part, "key": key, **dict(zip(names, values, strict=True))})
    return rows


# --- demo -------------------------------------------------------------------------------------------------------------


@app.command()
def demo(home: Home = DEFAULT_HOME, json: AsJson = False) -> None:
    """Index the documentation that comes with Thresher; answer a question, refuse one, and correct one from outside."""
    from thresher.cli.demo import COLLECTION, OUTSIDE, QUESTIONS, almanac, samples

    with open_collection(home, COLLECTION) as collection, open_collection(home, OUTSIDE) as outside:
        with output.indexing() as progress:
            report = collection.add(*samples(), prune=True, progress=progress)
            outside.add(almanac(), prune=True)
        answers = [(collection.ask(question, outside=place), place) for question, place in QUESTIONS]
    if json:
        output.as_json({"index": report, "answers": [answer for answer, _ in answers]})
        return
    indexed = output.counted(report.added + report.updated + report.unchanged, "document")
    output.say(f"Indexed {indexed} of Thresher's own in {report.seconds:.1f} s.")
    options = options_of(home, COLLECTION)
    for answer, place in answers:
        output.say()
        where = "" if place is None else f" --outside {place}"
        output.say(f"$ thresher ask{options}{where} {answer.question!r}")
        output.answer(answer, steps=True, options=options)
    command = called_as()
    output.say()
    output.say("Your own documents:")
    output.say(f"$ {command} index FOLDER")
    output.say(f'$ {command} ask "A question?"')


def called_as() -> str:
    """What to type to call this command: its name where the shell finds it, else the file."""
    here, found = Path(sys.argv[0]), shutil.which("thresher")
    if not here.exists() or (found and Path(found).samefile(here)):
        return "thresher"
    return os.path.relpath(here)
