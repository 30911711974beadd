"""`thresher eval study`: measurements that are not questions and answers."""

from __future__ import annotations

from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thresher import printing
from thresher.commands.evals import eval_app
from thresher.commands.options import DEFAULT_HOME, AsJson, Home, Settings, assignments
from thresher.errors import UsageError

if TYPE_CHECKING:
    from thresher.evals.report.section import Section

HELP = """Measure something that is not a question and its answer, and keep the rows.

\b
Kinds:
  redundancy  what each redundancy threshold removes of what was retrieved
  relevance   how relevant plain and filtered chunks are, by the same judge
  growth      latency, memory and size against the number of documents
  retrieved   ECRAG's chunks and subchunks of a question, with distances
  actions     CRAG's three actions replayed on its own contexts
  evaluator   how well judges tell the gold page from the others

The settings of each are in docs/studies.md; those of recipes can be given too.
"""


@eval_app.command("study", help=HELP)
def eval_study(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="What to measure; see above.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the rows of this study.")],
    questions: Annotated[
        Path | None, typer.Option("--questions", metavar="FILE", help="Questions; short for --dataset qa:FILE.")
    ] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", metavar="KIND:PATH", help="Questions, as `thresher eval run` takes them.")
    ] = None,
    sample: Annotated[int | None, typer.Option("--sample", min=1, help="Use this many questions only.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the sample and of every draw.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a study that was stopped.")] = False,
    home: Home = DEFAULT_HOME,
    collection: Annotated[
        str | None, typer.Option("--collection", help="Default: `default`, or that of the dataset's documents.")
    ] = None,
    settings: Settings = None,
    json: AsJson = False,
) -> None:
    """Measure, keep the rows, and print what they say."""
    from thresher.evals.datasets import load
    from thresher.evals.studies.kinds import kind_of
    from thresher.evals.studies.reading import section_of
    from thresher.evals.studies.running import conduct, prepare

    chosen = kind_of(kind)
    if (questions is None) == (dataset is None):
        raise UsageError(
            "needs questions, from one place", subject=f"study {kind}", next_step="give --questions or --dataset"
        )
    spec = dataset or f"qa:{questions}"
    given = assignments(settings)
    loaded = load(spec, sample=sample, seed=seed)
    materials = prepare(chosen, loaded, given, home=home, collection=collection, seed=seed)
    typed = _command(
        kind, dataset=spec, sample=sample, seed=seed, home=home, collection=collection, out=out, given=given
    )
    with printing.counting(chosen.number(materials), "rows") as count:
        done = conduct(chosen, materials, out, resume=resume, command=typed, progress=count)
    section = section_of(out)
    if json:
        printing.as_json({**done.to_dict(), "section": _described(section)})
        return
    _print(section)
    printing.say(f"{done.measured} rows measured, {done.skipped} there before; in {out}")


def _command(kind: str, *, given: dict[str, str], **options: Any) -> str:
    """The command as it can be typed again, without the values of secret settings."""
    words = ["thresher", "eval", "study", kind]
    for name, value in options.items():
        if value is not None:
            words += [f"--{name}", str(value)]
    for key, value in given.items():
        words += ["--set", f"{key}={'***' if key.endswith('api_key') else value}"]
    return join(words)


def _described(section: Section) -> dict[str, Any]:
    """JSON form of what the rows say."""
    return {
        "title": section.title,
        "text": list(section.text),
        "tables": [
            {
                "title": table.title,
                "columns": list(table.columns),
                "rows": [list(row) for row in table.rows],
                "note": table.note,
            }
            for table in section.tables
        ],
    }


def _print(section: Section) -> None:
    """The section's words and tables."""
    printing.say(section.title)
    for paragraph in section.text:
        printing.say(f"\n{paragraph}")
    for table in section.tables:
        printing.say()
        if not printing.on_terminal():
            printing.say(table.title)
        shown = [["-" if cell is None else cell for cell in row] for row in table.rows]
        printing.table(table.title, list(table.columns), shown)
        if table.note:
            printing.say(table.note)
    printing.say()
