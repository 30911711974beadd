"""`thresher eval run` and `eval score`: questions to rows, rows to numbers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from thresher import printing
from thresher.commands.options import (
    DEFAULT_HOME,
    FAILED,
    IN_PART,
    AsJson,
    Home,
    Settings,
    assignments,
    open_collection,
)

eval_app = typer.Typer(help="Measure recipes on questions with known answers.", no_args_is_help=True)


@eval_app.command("run")
def eval_run(
    dataset: Annotated[
        str,
        typer.Option(
            "--dataset", metavar="KIND:PATH", help="beir:DIR, qa:FILE, papers, squad:FILE, ...; see docs/datasets.md."
        ),
    ],
    recipe: Annotated[
        list[str],
        typer.Option("--recipe", help="Recipe to measure (repeatable), alone or with settings: crag[upper=0.6]."),
    ],
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
    degrade: Annotated[
        float | None,
        typer.Option(
            "--degrade", min=0, max=1, help="Hide the gold documents inside of all but this share of the questions."
        ),
    ] = None,
    parallel: Annotated[int, typer.Option("--parallel", min=1, help="Questions asked at a time.")] = 1,
    together: Annotated[
        bool,
        typer.Option(
            "--together",
            help="Ask question by question, every recipe in turn: faster, but what each took says nothing.",
        ),
    ] = False,
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
    from thresher.evals.variants import parse_variant

    recipe = list(dict.fromkeys(recipe))
    loaded = load(dataset, split=split, sample=sample, seed=seed)
    name = collection or collection_of(loaded)
    elsewhere = outside_of(loaded, name) if outside == "auto" else outside
    plain = list(dict.fromkeys(parse_variant(one).recipe for one in recipe))
    report_failed = False
    belongings: dict[str, list[Path]] = {}
    for corpus, owner in files(loaded, home, name, outside=elsewhere):
        belongings.setdefault(owner, []).append(corpus)
    for owner, corpora in belongings.items():
        # A variant with chunks of its own gets them when it is warmed up: a question completes what an index lacks.
        with open_collection(home, owner) as opened, printing.indexing() as progress:
            report = opened.add(*corpora, recipe=plain, settings=assignments(settings), progress=progress)
        printing.failures(report.failed)
        report_failed = report_failed or bool(report.failed)
    if not json:
        told = [f"{number} {category}" for category, number in loaded.categories.items()]
        printing.say("; ".join(filter(None, [", ".join(told) or f"{len(loaded.questions)} questions", loaded.note])))
    with open_collection(home, name) as opened:
        asker = CollectionAsker(
            opened, assignments(settings), outside=elsewhere, degraded=degrade, questions=loaded.questions
        )
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
                collection=name,
                outside=elsewhere,
                parallel=parallel,
                together=together,
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
    from thresher.evals.folder import read_run
    from thresher.evals.score import score
    from thresher.evals.splits import read_split
    from thresher.evals.together import WHY, is_together

    scored = score(directory, measures=measure, baseline=baseline, split=read_split(split))
    if json:
        printing.as_json(scored)
        return
    recipes = scored["recipes"]
    names = dict.fromkeys(name for values in recipes.values() for name, value in values.items() if value["n"])
    rows = [[name, *(interval(values.get(name)) for values in recipes.values())] for name in names]
    printing.table(f"{scored['dataset']}, n = {scored['n']}", ["measure", *recipes], rows)
    outcomes = scored["outcomes"]
    kinds = dict.fromkeys(kind for counts in outcomes.values() for kind in counts)
    counted = [[kind, *(outcomes[one].get(kind, 0) for one in recipes)] for kind in kinds]
    printing.table("outcomes, questions", ["outcome", *recipes], counted)
    if is_together(read_run(directory)):
        printing.say(WHY)
    for one, reason in scored["against"].get("skipped", {}).items():
        printing.say(f"{one} is not compared: {reason}")


def interval(value: Mapping[str, Any] | None) -> str:
    """`0.42 [0.31, 0.52] n=30`, or a dash where nothing can be said."""
    if value is None or value["value"] is None:
        return "-"
    return f"{value['value']:.4g} [{value['low']:.4g}, {value['high']:.4g}] n={value['n']}"
