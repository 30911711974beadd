"""`thresher eval compare` and `eval make-questions`: does correction help on one's own documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from thresher import printing
from thresher.commands.evals import eval_app
from thresher.commands.options import (
    DEFAULT_HOME,
    FAILED,
    IN_PART,
    AsJson,
    Home,
    Name,
    Settings,
    assignments,
    open_collection,
    options_of,
)

SHOWN_HURT = 10
"""Questions that got worse, shown on a screen; --json has all."""


MADE = {
    "cloze": "ask for a name, a number or a year of a sentence (made: cloze)",
    "title": "ask what a document says about one of its headings; no answer to compare with (made: title)",
    "model": "drafted by the chat model, the answer stands in the passage letter by letter (made: model)",
    "model, near miss": "drafted by the chat model to have no answer; nobody checked that (made: model, near miss)",
    "off-topic": "that your documents cannot answer, from a list that comes with Thresher (made: off-topic)",
}
"""How a question was made, for a person."""


@eval_app.command("make-questions")
def eval_make_questions(
    out: Annotated[Path, typer.Option("--out", metavar="FILE.jsonl", help="File to write; read it before you use it.")],
    number: Annotated[int, typer.Option("--number", min=4, help="Questions to draft at most.")] = 80,
    seed: Annotated[int, typer.Option("--seed", help="Another seed drafts other questions.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    home: Home = DEFAULT_HOME,
    collection: Name = "default",
    settings: Settings = None,
    json: AsJson = False,
) -> None:
    """Draft questions from your own documents, for you to correct; a chat model (llm.*) drafts better ones."""
    from thresher.evals.compare.drafting import draft_questions, drafting_model
    from thresher.evals.compare.drafts import check_free, write_drafts

    check_free(out, force=force)
    with open_collection(home, collection) as opened:
        model = drafting_model(opened, assignments(settings))
        with printing.counting(number, "questions") as count:
            made = draft_questions(opened, number=number, seed=seed, model=model, progress=count)
    write_drafts(made.drafts, out, force=force)
    told = made.to_dict()
    if json:
        printing.as_json({"file": str(out), **told})
        return
    printing.say(f"{printing.counted(told['questions'], 'question')} from {told['documents']} documents, in {out}:")
    for kind, many in told["made"].items():
        printing.say(f"  {many:>4}  {MADE[kind]}")
    for why, many in told["dropped"].items():
        printing.say(f"  {many:>4}  not used: {why}")
    printing.say()
    printing.say(
        "A program drafted these. Read them before you believe numbers that come from them: delete the lines that"
    )
    printing.say("nobody would ask, mend answers that are incomplete, and add questions that you really have.")
    if not made.model:
        printing.say(
            "Without a chat model, questions keep the words of your sentences and are easier to find than people's;"
        )
        printing.say("and those without an answer are about nothing in particular, so they are easy to refuse.")
    printing.say(f"Then: thresher eval compare --questions {out}{options_of(home, collection)}")


@eval_app.command("compare")
def eval_compare(
    questions: Annotated[Path, typer.Option("--questions", metavar="FILE", help="Questions, one JSON object a line.")],
    recipe: Annotated[
        list[str] | None,
        typer.Option("--recipe", help="Compare these; rag, hybrid, crag, ecrag and corrective when not given."),
    ] = None,
    baseline: Annotated[str, typer.Option("--baseline", help="Recipe without correction to compare with.")] = "rag",
    outside: Annotated[
        str, typer.Option("--outside", metavar="PLACE", help="Where recipes look: none, web or collection:NAME.")
    ] = "none",
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the rows; in the home folder when not given.")
    ] = None,
    sample: Annotated[int | None, typer.Option("--sample", min=1, help="Ask this many questions only.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the sample.")] = 0,
    wrong_costs: Annotated[
        float, typer.Option("--wrong-costs", min=0, help="How many right answers a wrong one undoes.")
    ] = 1.0,
    tune: Annotated[
        bool, typer.Option("--tune/--no-tune", help="Also look for better bounds of corrective, and calibrate it.")
    ] = True,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a comparison that was stopped.")] = False,
    parallel: Annotated[int, typer.Option("--parallel", min=1, help="Questions asked at a time.")] = 1,
    home: Home = DEFAULT_HOME,
    collection: Name = "default",
    settings: Settings = None,
    json: AsJson = False,
) -> None:
    """Ask your questions with and without correction, and say what it gains, costs and breaks on your documents."""
    from thresher.evals.compare.comparing import OFF, ON, Plan, compare
    from thresher.evals.datasets import load

    dataset = load(f"qa:{questions}", sample=sample, seed=seed)
    with open_collection(home, collection) as opened:
        opened.documents()  # says what is missing before anything is written
        plan = Plan(
            opened,
            dataset,
            out or home / "comparisons" / f"{collection}-{questions.stem}",
            recipes=recipe or (*OFF, *ON),
            baseline=baseline,
            settings=assignments(settings),
            outside=outside,
            wrong_costs=wrong_costs,
            tune=tune,
            resume=resume,
            parallel=parallel,
            seed=seed,
        )
        names = {baseline, *plan.recipes}
        with printing.counting(len(dataset.questions) * len(names), "questions") as count:
            found = compare(plan, progress=count, say=printing.complain)
    if json:
        printing.as_json(found)
    else:
        _say(found, questions, home, collection)
    if found["failed"]:
        raise typer.Exit(FAILED if found["failed"] == found["n"] * len(found["recipes"]) else IN_PART)


def _say(found: dict[str, Any], questions: Path, home: Path, collection: str) -> None:
    """The comparison in words."""
    from thresher.evals.compare.telling import tell

    for part in tell(found, shown=SHOWN_HURT):
        if isinstance(part, str):
            printing.say(part)
        else:
            printing.table(*part)
    if found["tuning"]["calibration"]["adopt"]:
        printing.say(f"  thresher calibrate --questions {questions}{options_of(home, collection)}")
    printing.say()
    printing.say(
        f"Every answer is in {found['directory']}; measure by measure: thresher eval score {found['directory']}"
    )
