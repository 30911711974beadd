"""`thresher eval judge`, `sheet` and `ratings`: what a model or people say about the answers of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thresher import printing
from thresher.commands.evals import eval_app, interval
from thresher.commands.options import FAILED, IN_PART, AsJson, Settings, assignments
from thresher.errors import UsageError

if TYPE_CHECKING:
    from thresher.evals.judgements.judges import Judge
    from thresher.evals.judgements.judging import Done
    from thresher.evals.rows import Row
    from thresher.models.meter import Meter


class Kind(StrEnum):
    """Who judges."""

    OFFLINE = "offline"
    LLM = "llm"


Run = Annotated[Path, typer.Argument(help="Folder of a run.")]
Recipes = Annotated[list[str] | None, typer.Option("--recipe", help="Only this recipe (repeatable).")]


@eval_app.command("judge")
def eval_judge(
    directory: Run,
    kind: Annotated[
        Kind, typer.Option("--judge", help="Rules and the bundled encoder, or a chat model.")
    ] = Kind.OFFLINE,
    recipe: Recipes = None,
    measure: Annotated[
        list[str] | None, typer.Option("--measure", help="Only this measure (repeatable); all the judge knows.")
    ] = None,
    gamma: Annotated[
        float, typer.Option("--gamma", min=0, help="Facts below which FActScore penalises; 0 penalises none.")
    ] = 10.0,
    same_model: Annotated[
        bool, typer.Option("--same-model", help="Let a model judge answers that it wrote itself.")
    ] = False,
    settings: Settings = None,
    json: AsJson = False,
) -> None:
    """Judge the answers of a run: supported by their context, right, relevant, well written, true fact by fact."""
    from thresher.evals.judgements.judges import FACTS
    from thresher.evals.judgements.judging import judge_run, references_of, rows_of, summary
    from thresher.models.meter import Meter

    rows = rows_of(directory, recipe)
    meter = Meter()
    judge = _judge(kind, directory, rows, assignments(settings), meter, gamma=gamma, same_model=same_model)
    measures = judge.wanted(measure)
    references = references_of(directory, rows) if FACTS in measures else {}
    with printing.counting(sum(map(len, rows.values())), "answers") as count:
        done = judge_run(directory, judge, rows, measures, gamma=gamma, references=references, progress=count)
    summed = summary(directory, judge, rows)
    if json:
        printing.as_json(
            {
                "judge": judge.name,
                "prompts": judge.prompts,
                "note": judge.note,
                "recipes": summed,
                "done": done.to_dict(),
                "usage": {**meter.usage.to_dict(), "cached": meter.cached},
            }
        )
    else:
        _print_judged(judge, summed, done, meter)
    if any(done.unreached.values()):
        raise typer.Exit(IN_PART if any(done.judged.values()) or any(done.skipped.values()) else FAILED)


def _judge(
    kind: Kind,
    directory: Path,
    rows: Mapping[str, Sequence[Row]],
    given: Mapping[str, Any],
    meter: Meter,
    *,
    gamma: float,
    same_model: bool,
) -> Judge:
    """The judge that was asked for."""
    if kind is Kind.OFFLINE:
        from thresher.evals.judgements.offline_judge import offline_judge

        if given:
            raise UsageError(
                "the offline judge has no settings", subject=next(iter(given)), next_step="--judge llm has"
            )
        return offline_judge(gamma=gamma)
    from thresher.evals.judgements.judge_model import check_other_model, judge_model, judge_settings
    from thresher.evals.judgements.judged import FOLDER
    from thresher.evals.judgements.judging import generators_of
    from thresher.evals.judgements.llm_judge import llm_judge

    settings = judge_settings(given)
    generators = generators_of(directory, rows)
    if not same_model:
        check_other_model(settings, generators)
    model = judge_model(settings, directory / FOLDER / "replies", meter)
    described = {"model": model.name, "generators": generators, "same_model": same_model}
    return llm_judge(model, workers=settings.concurrency, described=described, gamma=gamma)


def _print_judged(judge: Judge, summed: Mapping[str, Any], done: Done, meter: Meter) -> None:
    """Means and failures of each recipe, and what must be known beside them."""
    for recipe in summed:
        printing.say(f"{recipe}: {done.judged[recipe]} judged, {done.skipped[recipe]} judged before")
        for error in done.unreached[recipe]:
            printing.complain(f"not judged: {recipe}, {error}")
    names = list(dict.fromkeys(name for one in summed.values() for name in one["values"]))
    lines: list[list[Any]] = [[name, *(interval(one["values"].get(name)) for one in summed.values())] for name in names]
    lines.append(["judge_failed", *(f"{one['judge_failed']} of {one['judged']}" for one in summed.values())])
    printing.table(f"judged by {judge.name}", ["measure", *summed], lines)
    for recipe, one in summed.items():
        for note in _notes(one):
            printing.say(f"{recipe}: {note}")
    if judge.note:
        printing.say(f"note: {judge.note}")
    spent = meter.usage
    if spent.llm_calls or meter.cached:
        tokens = spent.prompt_tokens + spent.completion_tokens
        printing.say(f"{spent.llm_calls} calls, {tokens} tokens, {meter.cached} replies from the cache")


def _notes(summed: Mapping[str, Any]) -> list[str]:
    """What a mean does not say."""
    told = []
    if summed["verbatim"]:
        share = f"{summed['verbatim']} of {summed['sentences']} sentences"
        told.append(f"{share} stand in the context letter by letter and are supported by construction")
    if summed["context_is_quotes"]:
        told.append(f"{summed['context_is_quotes']} answers were held against the quotes of their citations alone")
    if summed["context_not_known"]:
        told.append(f"of {summed['context_not_known']} answers the context is not known")
    return told


@eval_app.command("sheet")
def eval_sheet(
    directory: Run,
    out: Annotated[Path, typer.Option("--out", metavar="FILE.csv", help="The sheet that is written.")],
    recipe: Recipes = None,
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, help="Questions on the sheet; all by default.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the sample, the order and the codes.")] = 0,
    context: Annotated[bool, typer.Option("--context", help="With the text each answer was written from.")] = False,
    json: AsJson = False,
) -> None:
    """Write a sheet on which people rate answers without knowing which recipe gave them."""
    from thresher.evals.judgements.judging import rows_of
    from thresher.evals.judgements.sheets import write_sheet

    written = write_sheet(directory, rows_of(directory, recipe), out, sample=sample, seed=seed, context=context)
    if json:
        printing.as_json({"sheet": str(out), "key": str(written.key), "answers": written.answers})
        return
    printing.say(f"{written.answers} answers to {written.questions} questions in {out}; the key is {written.key}")
    printing.say(f"give a copy to each of at least two people, then: thresher eval ratings {directory} ONE.csv TWO.csv")


@eval_app.command("ratings")
def eval_ratings(
    directory: Run,
    sheet: Annotated[list[Path], typer.Argument(metavar="SHEET.csv...", help="Filled sheets, one for each person.")],
    json: AsJson = False,
) -> None:
    """Read filled sheets back: means of each recipe, and how far the people agree."""
    from thresher.evals.judgements.ratings import rate

    rated = rate(directory, sheet)
    if json:
        printing.as_json(rated)
        return
    people = len(rated["raters"])
    dimensions = list(rated["agreement"])
    printing.table(
        f"ratings from 1 to 5 by {people} people",
        ["recipe", *dimensions],
        [[name, *(interval(values[one]) for one in dimensions)] for name, values in rated["recipes"].items()],
    )
    printing.table(
        "agreement",
        ["", "answers rated by all", "the same", "weighted kappa", "alpha (interval)", "alpha (ordinal)"],
        [
            [
                one,
                told["n"],
                _number(told["same"]),
                _number(told["kappa"]),
                _number(told["alpha_interval"]),
                _number(told["alpha_ordinal"]),
            ]
            for one, told in rated["agreement"].items()
        ],
    )
    for rater, missing in rated["missing"].items():
        if missing:
            printing.say(f"{rater}: {printing.counted(missing, 'rating')} missing")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
