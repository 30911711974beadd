"""`thresher ci` and `thresher ci record`."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from threading import Event
from typing import Annotated, Literal

import typer

from thresher.cli import output
from thresher.cli.options import FAILED, RecipeName, Strict, Target, on_collection
from thresher.errors import ThresherError, UsageError
from thresher.tracing.explain import counted
from thresher_ci import recording
from thresher_ci.knowledge import Question
from thresher_ci.report import FORMATS, Report
from thresher_ci.run import Job, watched

SECONDS_BETWEEN_LOOKS = 2.0

ci_app = typer.Typer(help="Say which answers a change of documents or settings breaks.", rich_markup_mode=None)

Format = Literal["text", "json", "junit", "markdown"]
Knowledge = Annotated[Path, typer.Option("--knowledge", metavar="FILE", help="The expectations.")]
Documents = Annotated[
    Path | None,
    typer.Option("--documents", metavar="FOLDER", help="Ask of this folder; else of the collection as it is."),
]


@ci_app.callback(invoke_without_command=True)
@on_collection()
def ci(
    target: Target,
    context: typer.Context,
    knowledge: Knowledge = Path("knowledge.yaml"),
    documents: Documents = None,
    against: Annotated[
        str,
        typer.Option(
            "--against", metavar="REF|HOME|last", help="Compare with a git ref of the folder, a home, or the last run."
        ),
    ] = "",
    form: Annotated[Format, typer.Option("--format", help="How the result is printed.")] = "text",
    watching: Annotated[bool, typer.Option("--watch", help="Run again whenever a file changes.")] = False,
    recipe: RecipeName = None,
    strict: Strict = None,
) -> None:
    """Ask what is expected; exit 0 when nothing broke, 1 when something did, 2 where it could not be asked."""
    if context.invoked_subcommand is not None:
        return
    chosen = (target.recipe(recipe), target.settings, target.strict(strict))
    job = Job(knowledge, folder_of(target), target.collection, documents, *chosen, output.complain)
    shown = "json" if target.json else form

    def show(report: Report) -> None:
        output.say(FORMATS[shown](report))
        sys.stdout.flush()

    if watching:
        waiting = Event()
        try:
            for report in watched(job, against, wait=partial(waiting.wait, SECONDS_BETWEEN_LOOKS)):
                show(report)
        except KeyboardInterrupt:
            output.complain("no longer watching")
        return
    try:
        report = job.run(against)
    except ThresherError as error:  # 1 says that an answer broke
        raise UsageError(error.what, subject=error.subject, next_step=error.next_step) from error
    show(report)
    if report.failed:
        raise typer.Exit(FAILED)


@ci_app.command("record")
@on_collection(reads_settings=False)
def record(
    target: Target,
    traces: Annotated[
        list[str] | None, typer.Argument(metavar="TRACE...", help="Stored answers, or `last`; else all called right.")
    ] = None,
    knowledge: Knowledge = Path("knowledge.yaml"),
    documents: Documents = None,
    accept: Annotated[bool, typer.Option("--accept", help="You confirm that these answers are right.")] = False,
    asked_by: Annotated[str, typer.Option("--asked-by", metavar="NAME", help="Who asks for it.")] = "",
) -> None:
    """Write expectations from answers that a person confirmed: by `feedback`, on the page, or with --accept."""
    if accept and not traces:
        raise UsageError(
            "needs the answers that you confirm", subject="--accept", next_step="give their traces, or last"
        )
    folder = "" if documents is None else str(documents.absolute())
    with target.open() as collection:
        answers = recording.confirmed(collection, traces or [], accept=accept)
    written = recording.record(knowledge, answers, documents=folder, asked_by=asked_by)

    def say(questions: list[Question]) -> None:
        output.say(f"{counted(len(questions), 'expectation')} written to {knowledge}")

    target.show([one.to_yaml() for one in written], lambda _: say(written))


def folder_of(target: Target) -> Path:
    """The home, which must be a folder of this machine: states are indexed beside it."""
    if not isinstance(target.home, Path):
        raise UsageError("is not on this machine", subject=str(target.home), next_step="give a folder as `home`")
    return target.home
