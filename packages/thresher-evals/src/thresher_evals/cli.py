"""`thresher eval ...`: parses, calls and prints; the modules that it imports do the work."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option
from typer.core import TyperCommand

from thresher.cli import output
from thresher.cli.options import (
    FAILED,
    IN_PART,
    AsJson,
    Home,
    On,
    Settings,
    Target,
    assignments,
    on_collection,
    target_of,
)
from thresher.cli.output import counting, indexing
from thresher.errors import UnknownSetting, UsageError
from thresher.home.places import working_folder
from thresher.tracing.explain import counted, spent

if TYPE_CHECKING:
    from thresher.models.usage import Meter
    from thresher_evals.judges.base import Judge
    from thresher_evals.judges.judgements import Done

eval_app = typer.Typer(help="Measure recipes on questions with known answers.", no_args_is_help=True)

Folder = Annotated[Path, Argument(help="Folder of a run.")]
Recipes = Annotated[list[str] | None, Option("--recipe", help="Only this recipe (repeatable).")]
Sample = Annotated[int | None, Option(min=1, help="Ask this many questions only.")]
Seed = Annotated[int, Option(help="Of the sample.")]
Parallel = Annotated[int, Option(min=1, help="Questions asked at a time.")]

# --- runs -------------------------------------------------------------------------------------------------------------


@eval_app.command("run")
def eval_run(
    dataset: Annotated[
        str, Option(metavar="KIND:PATH", help="beir:DIR, qa:FILE, papers, squad:FILE, ...; see docs/datasets.md.")
    ],
    recipe: Annotated[
        list[str], Option(help="Recipe to measure (repeatable), alone or with settings: crag[upper=0.6].")
    ],
    out: Annotated[Path, Option(help="Folder for the rows of this run.")],
    limit: Annotated[int | None, Option(min=1, help="Results per question.")] = None,
    split: Annotated[str, Option(help="Ask the questions of train, tune, final or all.")] = "all",
    sample: Sample = None,
    seed: Seed = 0,
    outside: Annotated[
        str,
        Option(
            metavar="PLACE",
            help="Where correcting recipes look: none, web, collection:NAME; auto is the dataset's own, if it has one.",
        ),
    ] = "auto",
    degrade: Annotated[
        float | None,
        Option(min=0, max=1, help="Hide the gold documents inside of all but this share of the questions."),
    ] = None,
    parallel: Parallel = 1,
    together: Annotated[
        bool,
        Option(
            "--together",
            help="Ask question by question, every recipe in turn: faster, but what each took says nothing.",
        ),
    ] = False,
    resume: Annotated[bool, Option("--resume", help="Go on with a run that was stopped.")] = False,
    on: On = None,
    home: Home = None,
    collection: Annotated[
        str | None, Option(help="Default: `default`; one of its own where documents come along.")
    ] = None,
    settings: Settings = None,
    json: AsJson = False,
) -> None:
    """Put the questions of a dataset to recipes and keep a row of each."""
    from thresher.indexing.processes import pool
    from thresher_evals.asker import CollectionAsker, checked, parse_variant
    from thresher_evals.datasets.registry import load
    from thresher_evals.elsewhere import Elsewhere
    from thresher_evals.runner import collection_of, files, outside_of, run
    from thresher_evals.spending import Spending, asking, before

    if on is not None and parallel > 1:
        raise UsageError("not both", subject="`parallel` and `on`", next_step="a cluster asks as many as it can")
    target = target_of(home, collection, {}, json)
    recipe, given = list(dict.fromkeys(recipe)), checked(assignments(settings))
    plain = list(dict.fromkeys(parse_variant(one).recipe for one in recipe))
    loaded = load(dataset, split=split, sample=sample, seed=seed)
    name = collection or collection_of(loaded)
    elsewhere = outside_of(loaded, name) if outside == "auto" else outside
    belongings: dict[str, list[Path]] = {}
    for corpus, owner in files(loaded, target.home, name, outside=elsewhere):
        belongings.setdefault(owner, []).append(corpus)
    unread = 0
    for owner, corpora in belongings.items():
        # Warming up a variant makes its own chunks: a question completes an index.
        with replace(target, collection=owner).open() as opened, indexing() as progress:
            report = opened.add(*corpora, recipe=plain, settings=given, progress=progress, on=on)
        output.failures(report.failed)
        unread += len(report.failed)
    if not json:
        kinds = ", ".join(f"{number} {category}" for category, number in loaded.categories.items())
        output.say("; ".join(filter(None, [kinds or f"{len(loaded.questions)} questions", loaded.note])))
    with replace(target, collection=name).open() as opened, pool(1, on) or nullcontext() as cluster:
        asker = CollectionAsker(opened, given, outside=elsewhere, degraded=degrade, questions=loaded.questions)
        described = {one: asker.settings_of(one) for one in recipe}
        for one in recipe:
            asker.warm_up(one)
        if not json:
            output.say(before(len(loaded.questions), described))
        spending = Spending(len(loaded.questions), recipe)
        with asking(spending, out) as count:
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
                command=_again(
                    "run",
                    {
                        "dataset": dataset,
                        "recipe": recipe,
                        "limit": limit,
                        "split": split if split != "all" else None,
                        "sample": sample,
                        "seed": seed or None,
                        "outside": outside if outside != "auto" else None,
                        "degrade": degrade,
                        "together": together or None,
                        "on": on,
                        "set": _without_secrets(given),
                        "out": f"{out}-again",
                    },
                    target.options,
                ),
                progress=count,
                seen=spending.add,
                elsewhere=None if cluster is None else Elsewhere(asker, cluster),
            )
    if json:
        output.as_json(done.to_dict())
    else:
        for one in recipe:
            output.say(f"{one}: {done.asked[one]} asked, {done.skipped[one]} done before, {done.failed[one]} failed")
        if words := str(spending):
            output.say(words)
        output.say(f"rows in {out}; score them with: thresher eval score {out}")
    failed = sum(done.failed.values())
    if failed or unread:
        raise typer.Exit(FAILED if failed == len(loaded.questions) * len(recipe) else IN_PART)


def _again(name: str, options: Mapping[str, Any], collection: str) -> str:
    words = [f"thresher eval {name}"]
    for option, value in options.items():
        if value is True:
            words.append(f"--{option}")
        elif value is not None:
            each = value if isinstance(value, list) else [value]
            words += [f"--{option} {quote(str(one))}" for one in each]
    return " ".join(words) + collection


def _without_secrets(given: Mapping[str, str]) -> list[str]:
    """KEY=VALUE of the settings, with keys and addresses that contain a password masked."""
    from thresher import recipes
    from thresher.settings import secret_keys

    hidden = {key for name in recipes.names() for key in secret_keys(recipes.get(name).settings)}
    return [f"{key}={'...' if key in hidden or '@' in value else value}" for key, value in given.items()]


@eval_app.command("score")
def eval_score(
    directory: Folder,
    measure: Annotated[list[str] | None, Option(help="Only these measures.")] = None,
    baseline: Annotated[
        str | None, Option(help="Recipe the others are compared with; the first when not given.")
    ] = None,
    split: Annotated[str, Option(help="Only the questions of train, tune or final.")] = "all",
    json: AsJson = False,
) -> None:
    """Compute the measures of a run from its rows, with 95 % intervals."""
    from thresher_evals.dataset import read_split
    from thresher_evals.rows import WHY, is_together, read_run
    from thresher_evals.score import score

    scored = score(directory, measures=measure, baseline=baseline, split=read_split(split))
    if json:
        output.as_json(scored)
        return
    outcomes = scored["outcomes"]
    title = f"{scored['dataset']}, n = {scored['n']}"
    if measure:
        _measure_table(title, scored["recipes"])
    else:
        _each_number_once(title, scored["recipes"], counted_below=next(iter(outcomes.values())))
    kinds = dict.fromkeys(kind for counts in outcomes.values() for kind in counts)
    counted = [[kind, *(counts[kind] for counts in outcomes.values())] for kind in kinds]
    output.table("outcomes, questions", ["outcome", *outcomes], counted)
    if scored["unfinished"]:
        missing = ", ".join(f"{number} of {one}" for one, number in scored["unfinished"].items())
        output.say(f"unfinished: questions without a row: {missing}; the scores are of the others, --resume asks these")
    if is_together(read_run(directory)):
        output.say(WHY)
    for one, reason in scored["against"]["skipped"].items():
        output.say(f"{one} is not compared: {reason}")


def _measure_table(title: str, recipes: Mapping[str, Mapping[str, Any]], more: Iterable[list[str]] = ()) -> None:
    rows = [[name, *cells] for name, cells in _cells(recipes).items()]
    output.table(title, ["measure", *recipes], [*rows, *more])


def _each_number_once(title: str, recipes: Mapping[str, Mapping[str, Any]], *, counted_below: Collection[str]) -> None:
    """The same, but measures that are 0 for every recipe or repeat an earlier one are named below the table."""
    alike: dict[tuple[str, ...], list[str]] = {}
    nothing = []
    for name, cells in _cells(recipes).items():
        if name in counted_below:
            continue
        if all((values.get(name) or {}).get("value") == 0 for values in recipes.values()):
            nothing.append(name)
        else:
            alike.setdefault(cells, []).append(name)
    output.table(title, ["measure", *recipes], [[names[0], *cells] for cells, names in alike.items()])
    for first, *others in alike.values():
        if others:
            output.say(f"the same as {first}: {', '.join(others)}")
    if nothing:
        output.say(f"0 of every recipe: {', '.join(nothing)}")


def _cells(recipes: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    names = dict.fromkeys(name for values in recipes.values() for name, value in values.items() if value["n"])
    return {name: tuple(_interval(values.get(name)) for values in recipes.values()) for name in names}


def _interval(value: Mapping[str, Any] | None) -> str:
    """`0.42 [0.31, 0.52] n=30`, or a dash without a value."""
    if value is None or value["value"] is None:
        return "-"
    return f"{value['value']:.4g} [{value['low']:.4g}, {value['high']:.4g}] n={value['n']}"


# --- published claims, computed again ---------------------------------------------------------------------------------


@eval_app.command("audit")
def eval_audit(json: AsJson = False) -> None:
    """Compute the claims of the published methods again from the numbers they print: claim, recomputed, verdict."""
    from thresher_evals.audit import COLUMNS, audit, summary, summary_sentence

    findings = audit()
    if json:
        output.as_json({"summary": summary(findings), "claims": [finding.to_dict() for finding in findings]})
        return
    output.table("claims of the sources", COLUMNS, [finding.cells for finding in findings])
    output.say(summary_sentence(findings))


# --- does correction help on one's own documents ----------------------------------------------------------------------

SHOWN_HURT = 10
"""Worsened questions that are printed; --json has all."""

MADE = {
    "text": "ask what a sentence, a table or a form of your documents says (made: text)",
    "near miss": "ask the same of another thing, year or condition, which no document answers (made: near miss)",
    "model": "drafted by the chat model, the answer stands in the passage letter by letter (made: model)",
    "model, near miss": "drafted by the chat model to have no answer; nobody checked that (made: model, near miss)",
    "off-topic": "that your documents cannot answer, from a list that comes with Thresher (made: off-topic)",
}
"""Explanation of how a question was made."""

READ_THEM = """
A program drafted these. Read them before you believe numbers that come from them: delete the lines that
nobody would ask, mend answers that are incomplete, and add questions that you really have."""

WITHOUT_A_MODEL = """\
Without a chat model, questions keep the words of your documents and are easier to find than people's.
Near misses were held against every passage by their words alone: look whether one has an answer after all."""


@eval_app.command("make-questions")
@on_collection()
def eval_make_questions(
    target: Target,
    out: Annotated[Path, Option(metavar="FILE", help="File to write, .jsonl or .csv; read it before you use it.")],
    number: Annotated[int, Option(min=4, help="Questions to draft at most.")] = 80,
    seed: Annotated[int, Option(help="Another seed drafts other questions.")] = 0,
    force: Annotated[bool, Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Draft questions from your own documents, for you to correct; a chat model (llm.*) drafts better ones."""
    from thresher_evals.compare.draft_questions import check_free, draft_questions, drafting_model, write_drafts

    check_free(out, force=force)
    with target.open() as opened:
        model = drafting_model(opened, target.settings)
        with counting(number, "questions") as count:
            drafted = draft_questions(opened, number=number, seed=seed, model=model, progress=count)
    write_drafts(drafted.drafts, out, force=force)
    told = drafted.to_dict()
    if target.json:
        output.as_json({"file": str(out), **told})
        return
    output.say(f"{counted(told['questions'], 'question')} from {told['documents']} documents, in {out}:")
    for kind, many in told["made"].items():
        output.say(f"  {many:>4}  {MADE[kind]}")
    for why, many in told["dropped"].items():
        output.say(f"  {many:>4}  not used: {why}")
    output.say(READ_THEM)
    if not drafted.model:
        output.say(WITHOUT_A_MODEL)
    output.say(f"Then: thresher eval compare --questions {out}{target.options}")


@eval_app.command("compare")
@on_collection()
def eval_compare(
    target: Target,
    questions: Annotated[Path, Option(metavar="FILE", help="Questions: JSON Lines, CSV or Excel.")],
    recipe: Annotated[
        list[str] | None, Option(help="Compare these; rag, hybrid, crag, ecrag and corrective when not given.")
    ] = None,
    baseline: Annotated[str, Option(help="Recipe without correction to compare with.")] = "rag",
    outside: Annotated[str, Option(metavar="PLACE", help="Where recipes look: none, web or collection:NAME.")] = "none",
    out: Annotated[Path | None, Option(help="Folder for the rows; in the home folder when not given.")] = None,
    sample: Sample = None,
    seed: Seed = 0,
    wrong_costs: Annotated[float, Option(min=0, help="How many right answers a wrong one undoes.")] = 1.0,
    tune: Annotated[bool, Option(help="Also calibrate corrective on half of the questions.")] = True,
    resume: Annotated[bool, Option("--resume", help="Go on with a comparison that was stopped.")] = False,
    parallel: Parallel = 1,
) -> None:
    """Ask your questions with and without correction, and say what it gains, costs and breaks on your documents."""
    from thresher_evals.asker import checked
    from thresher_evals.compare.compare import OFF, ON, Plan, compare
    from thresher_evals.compare.text_report import tell
    from thresher_evals.datasets.registry import load
    from thresher_evals.spending import Spending, asking, before

    given = checked(target.settings)
    dataset = load(f"qa:{questions}", sample=sample, seed=seed)
    folder = out or working_folder(target.home) / "comparisons" / f"{target.collection}-{questions.stem}"
    again = _again(
        "compare",
        {
            "questions": questions,
            "recipe": recipe,
            "baseline": baseline if baseline != "rag" else None,
            "outside": outside if outside != "none" else None,
            "sample": sample,
            "seed": seed or None,
            "wrong-costs": wrong_costs if wrong_costs != 1 else None,
            "no-tune": None if tune else True,
            "set": _without_secrets(target.settings),
            "out": f"{folder}-again",
        },
        target.options,
    )
    with target.open() as opened:
        opened.documents()  # fails before anything is written
        plan = Plan(
            opened,
            dataset,
            folder,
            recipes=recipe or (*OFF, *ON),
            baseline=baseline,
            settings=given,
            outside=outside,
            wrong_costs=wrong_costs,
            tune=tune,
            resume=resume,
            parallel=parallel,
            seed=seed,
            command=again,
        )
        asked = list(dict.fromkeys([baseline, *plan.recipes]))
        spending = Spending(len(dataset.questions), asked)
        if not target.json:
            output.say(before(len(dataset.questions), {one: plan.asker().settings_of(one) for one in asked}))
        with asking(spending, folder) as count:
            found = compare(plan, progress=count, seen=spending.add, say=output.complain)
    if target.json:
        output.as_json(found)
    else:
        for part in tell(found, shown=SHOWN_HURT):
            if isinstance(part, str):
                output.say(part)
            else:
                output.table(*part)
        if found["calibration"]["adopt"]:
            output.say("  To calibrate, which changes every later answer of corrective in this collection:")
            output.say(f"  thresher calibrate --questions {questions}{target.options}")
        rows = found["directory"]
        output.say(f"\nEvery answer is in {rows}; measure by measure: thresher eval score {rows}")
    if found["failed"]:
        raise typer.Exit(FAILED if found["failed"] == found["n"] * len(found["recipes"]) else IN_PART)


# --- judgements of a run's answers, by a model or by people -----------------------------------------------------------


@eval_app.command("judge")
def eval_judge(
    directory: Folder,
    name: Annotated[
        str, Option("--judge", metavar="<offline|llm>", help="Rules and the bundled encoder, or a chat model.")
    ] = "offline",
    recipe: Recipes = None,
    measure: Annotated[list[str] | None, Option(help="Only this measure (repeatable); all the judge knows.")] = None,
    gamma: Annotated[float, Option(min=0, help="Facts below which FActScore penalises; 0 penalises none.")] = 10.0,
    same_model: Annotated[bool, Option("--same-model", help="Let a model judge answers that it wrote itself.")] = False,
    settings: Settings = None,
    json: AsJson = False,
) -> None:
    """Judge the answers of a run: supported by their context, right, relevant, well written, true fact by fact."""
    from thresher.models.usage import Meter
    from thresher_evals.datasets.registry import references_of
    from thresher_evals.judges.base import FACTS
    from thresher_evals.judges.judgements import generators_of, judge_run, rows_of, summary
    from thresher_evals.rows import read_run

    rows, meter = rows_of(directory, recipe), Meter()
    judge = _judge(name, directory, generators_of(directory, rows), assignments(settings), meter, gamma, same_model)
    measures = judge.wanted(measure)
    asked = [row.question for each in rows.values() for row in each] if FACTS in measures else []
    references = references_of(read_run(directory)["dataset"], asked)
    with counting(sum(map(len, rows.values())), "answers", lambda: ", ".join(spent(meter.usage.to_dict()))) as count:
        done = judge_run(directory, judge, rows, measures, gamma=gamma, references=references, progress=count)
    summed = summary(directory, judge, rows)
    if json:
        usage = {**meter.usage.to_dict(), "cached": meter.cached}
        described = {"judge": judge.name, "prompts": judge.prompts, "note": judge.note}
        output.as_json({**described, "recipes": summed, "done": asdict(done), "usage": usage})
    else:
        _print_judged(judge, summed, done, meter)
    if any(done.unreached.values()):
        raise typer.Exit(IN_PART if any(done.judged.values()) or any(done.skipped.values()) else FAILED)


def _judge(
    name: str, directory: Path, wrote: Sequence[str], given: Mapping[str, Any], meter: Meter, gamma: float, same: bool
) -> Judge:
    match name:
        case "offline":
            from thresher_evals.judges.rules import offline_judge

            if given:
                advice = "the judge llm has"
                raise UsageError("the offline judge has no settings", subject=next(iter(given)), next_step=advice)
            return offline_judge(gamma=gamma)
        case "llm":
            from thresher_evals.judges.llm import configured_judge

            return configured_judge(given, directory, wrote, meter, gamma=gamma, same_model=same)
        case _:
            raise UnknownSetting(name, ("offline", "llm"), kind="judge")


def _print_judged(judge: Judge, summed: Mapping[str, Any], done: Done, meter: Meter) -> None:
    for recipe in summed:
        output.say(f"{recipe}: {done.judged[recipe]} judged, {done.skipped[recipe]} judged before")
        for error in done.unreached[recipe]:
            output.complain(f"not judged: {recipe}, {error}")
    failed = ["judge_failed", *(f"{one['judge_failed']} of {one['judged']}" for one in summed.values())]
    _measure_table(f"judged by {judge.name}", {name: one["values"] for name, one in summed.items()}, [failed])
    for recipe, one in summed.items():
        notes = {
            "verbatim": f"{one['verbatim']} of {one['sentences']} sentences stand in the context letter by letter and "
            "are supported by construction",
            "context_is_quotes": f"{one['context_is_quotes']} answers were held against the quotes of their citations "
            "alone",
            "context_not_known": f"of {one['context_not_known']} answers the context is not known",
        }
        for name, note in notes.items():
            if one[name]:
                output.say(f"{recipe}: {note}")
    if judge.note:
        output.say(f"note: {judge.note}")
    parts = spent(meter.usage.to_dict())
    if parts or meter.cached:
        output.say(f"spent: {', '.join([*parts, f'{meter.cached} replies from the cache'])}")


@eval_app.command("sheet")
def eval_sheet(
    directory: Folder,
    out: Annotated[Path, Option(metavar="FILE.csv", help="The sheet that is written.")],
    recipe: Recipes = None,
    sample: Annotated[int | None, Option(min=1, help="Questions on the sheet; all by default.")] = None,
    seed: Annotated[int, Option(help="Of the sample, the order and the codes.")] = 0,
    context: Annotated[bool, Option("--context", help="With the text each answer was written from.")] = False,
    json: AsJson = False,
) -> None:
    """Write a sheet on which people rate answers without knowing which recipe gave them."""
    from thresher_evals.judges.human import write_sheet
    from thresher_evals.judges.judgements import rows_of

    written = write_sheet(directory, rows_of(directory, recipe), out, sample=sample, seed=seed, context=context)
    if json:
        output.as_json({"sheet": str(out), "key": str(written.key), "answers": written.answers})
        return
    output.say(f"{written.answers} answers to {written.questions} questions in {out}; the key is {written.key}")
    output.say(f"give a copy to each of at least two people, then: thresher eval ratings {directory} ONE.csv TWO.csv")


@eval_app.command("ratings")
def eval_ratings(
    directory: Folder,
    sheet: Annotated[list[Path], Argument(metavar="SHEET.csv...", help="Filled sheets, one for each person.")],
    json: AsJson = False,
) -> None:
    """Read filled sheets back: means of each recipe, and how far the people agree."""
    from thresher_evals.judges.human import rate

    rated = rate(directory, sheet)
    if json:
        output.as_json(rated)
        return
    agreement = rated["agreement"]
    output.table(
        f"ratings from 1 to 5 by {len(rated['raters'])} people",
        ["recipe", *agreement],
        [[name, *(_interval(values[one]) for one in agreement)] for name, values in rated["recipes"].items()],
    )
    columns = {"same": "the same", "alpha": "Krippendorff's alpha"}
    shares = {
        name: ["-" if found[one] is None else f"{found[one]:.3f}" for one in columns]
        for name, found in agreement.items()
    }
    output.table(
        "agreement",
        ["", "answers rated by all", *columns.values()],
        [[name, found["n"], *shares[name]] for name, found in agreement.items()],
    )
    for rater, missing in rated["missing"].items():
        if missing:
            output.say(f"{rater}: {counted(missing, 'rating')} missing")


# --- the report, and other measurements -------------------------------------------------------------------------------


@eval_app.command("report")
def eval_report(
    directories: Annotated[list[Path], Argument(metavar="RUN...", help="Folders of runs and studies.")],
    out: Annotated[Path, Option(help="Folder for the report.")],
    title: Annotated[str, Option(help="Of the page.")] = "What was measured",
    baseline: Annotated[
        str | None, Option(help="Recipe the others are compared with; the first of a run when not given.")
    ] = None,
    changes: Annotated[int, Option(min=0, help="Questions gained and lost that stand on a page.")] = 10,
    json: AsJson = False,
) -> None:
    """Write a summary, a page for each dataset (HTML and Markdown) and every number as CSV."""
    from thresher_evals.report.write import write_report

    report = write_report(directories, out, title=title, baseline=baseline, shown=changes)
    if json:
        output.as_json(report.to_dict())
        return
    pages, tables = counted(len(report.pages), "page"), counted(len(report.tables), "table")
    output.say(f"{pages} and {tables}: {report.html}, {report.markdown}")


STUDY_COMMANDS = "thresher.eval.commands"
"""Entry point group of the benchmarks' command."""


class Study(TyperCommand):
    """The benchmarks' command, imported when it is called."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the real command. Raises UsageError if the benchmarks are not installed."""
        from importlib.metadata import entry_points

        found = entry_points(group=STUDY_COMMANDS, name=str(self.name))
        if not found:
            raise UsageError(
                "the benchmarks are not installed",
                subject="thresher eval study",
                next_step="in a checkout: make dev, or pip install --editable benchmarks",
            )
        command = typer.main.get_command(found[str(self.name)].load())
        if parent is not None:
            parent.command.commands[self.name] = command  # its errors then name its options
        return command.make_context(info_name, args, parent=parent, **extra)


@eval_app.command("study", cls=Study)
def eval_study() -> None:
    """Measure something that is not a question and its answer, and keep the rows."""
