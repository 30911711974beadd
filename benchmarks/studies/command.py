"""`thresher eval study`: measure one of the studies, keep its rows, print what they say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from shlex import join
from typing import Annotated, Any

import typer

from benchmarks.studies.study import Study, conduct
from thresher.cli import output
from thresher.cli.options import AsJson, Home, Settings, assignments, target_of
from thresher.cli.output import counting
from thresher.errors import UnknownSetting, UsageError
from thresher_evals.datasets.registry import load
from thresher_evals.report.study import study_section

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


def studies() -> Mapping[str, Study]:
    """Every study by its name. A new one is a file with its `STUDY` and a word here and in `HELP`."""
    from benchmarks.studies import crag_actions, growth, judge_accuracy, redundancy, relevance, retrieved

    modules = (redundancy, relevance, growth, retrieved, crag_actions, judge_accuracy)
    return {module.STUDY.name: module.STUDY for module in modules}


app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("study", help=HELP)
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
    home: Home = None,
    collection: Annotated[
        str | None, typer.Option("--collection", help="Default: `default`, or that of the dataset's documents.")
    ] = None,
    settings: Settings = None,
    json: AsJson = False,
) -> None:
    """Measure, keep the rows, and print what they say."""
    home = target_of(home, collection, {}, json).home
    known = studies()
    if kind not in known:
        raise UnknownSetting(kind, known, kind="kind of study")
    if (questions is None) == (dataset is None):
        raise UsageError(
            "needs questions, from one place", subject=f"study {kind}", next_step="give --questions or --dataset"
        )
    spec, given, study = dataset or f"qa:{questions}", assignments(settings), known[kind]
    loaded = load(spec, sample=sample, seed=seed)
    materials = study.prepare(loaded, given, home=home, collection=collection, seed=seed)
    options = {"dataset": spec, "sample": sample, "seed": seed, "home": home, "collection": collection, "out": out}
    with counting(study.number(materials), "rows") as count:
        done = conduct(study, materials, out, resume=resume, command=typed(kind, options, given), progress=count)
    found = study_section(out, kind)
    tables = [(table, [[str(cell) or "-" for cell in row] for row in table.rows]) for table in found.tables]
    if json:
        told = [{"title": one.title, "columns": one.columns, "rows": rows, "note": one.note} for one, rows in tables]
        section = {"title": found.title, "text": list(found.text), "tables": told}
        output.as_json({"directory": str(out), "kind": kind, **done._asdict(), "section": section})
        return
    output.say(found.title)
    for paragraph in found.text:
        output.say(f"\n{paragraph}")
    for table, rows in tables:
        output.say("" if output.on_terminal() else f"\n{table.title}")
        output.table(table.title, table.columns, rows)
        if table.note:
            output.say(table.note)
    output.say(f"\n{done.measured} rows measured, {done.skipped} there before; in {out}")


def typed(kind: str, options: Mapping[str, Any], given: Mapping[str, str]) -> str:
    """The command as it can be typed again, without the values of secret settings."""
    words = ["thresher", "eval", "study", kind]
    words += [word for name, value in options.items() if value is not None for word in (f"--{name}", str(value))]
    for key, value in given.items():
        words += ["--set", f"{key}={'***' if key.endswith('api_key') else value}"]
    return join(words)
