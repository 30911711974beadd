"""`thresher eval report`: runs and studies on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from thresher import printing
from thresher.commands.evals import eval_app
from thresher.commands.options import AsJson


@eval_app.command("report")
def eval_report(
    directories: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs and studies.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the report.")],
    title: Annotated[str, typer.Option("--title", help="Of the page.")] = "What was measured",
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", help="Recipe the others are compared with; the first of a run when not given."),
    ] = None,
    changes: Annotated[
        int, typer.Option("--changes", min=0, help="Questions gained and lost that are shown, of each recipe.")
    ] = 10,
    full_changes: Annotated[
        bool, typer.Option("--full-changes", help="Write all of them to changes/RUN.jsonl as well.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Write one HTML page and Markdown with every table and figure that the folders have data for."""
    from thresher.evals.report.writing import write_report

    report = write_report(directories, out, title=title, baseline=baseline, shown=changes, full_changes=full_changes)
    if json:
        printing.as_json(report.to_dict())
        return
    sections = printing.counted(len(report.sections), "section")
    printing.say(f"{sections} and {printing.counted(len(report.figures), 'figure')}: {report.html}, {report.markdown}")
