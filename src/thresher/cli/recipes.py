"""Commands about recipes and settings: shown, compared, calibrated, trained, and where each value comes from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import thresher
from thresher.cli import output
from thresher.cli.options import COMPLETE, AsJson, RecipeName, Target, on_collection, recipe_names
from thresher.errors import UsageError
from thresher.json_lines import lines_of
from thresher.plugins import brought, loaded

if TYPE_CHECKING:
    from thresher.home.places import Home
    from thresher.judging.calibration import Calibration, ModelWeight
    from thresher.types import Public


def recipes(json: AsJson = False) -> None:
    """List the recipes and what stands in their slots."""
    described = [_describe(name, {}) for name in thresher.recipes.names()]
    if json:
        fields = ("name", "preset_of", "slots", "follows", "needs_llm")
        output.as_json([{field: recipe[field] for field in fields} for recipe in described])
        return
    slots = ["retrieve", "judge", "decide", "correct", "refine", "generate"]
    rows = [[recipe["name"], *(recipe["slots"][slot] for slot in slots)] for recipe in described]
    output.table("recipes", ["recipe", *slots], rows)


@on_collection(sends=False)
def show(
    target: Target,
    recipe: Annotated[
        str,
        typer.Argument(
            help="A recipe or preset; or a passage of the last answer, by its number.", autocompletion=recipe_names
        ),
    ],
    diff: Annotated[
        str | None,
        typer.Option(
            "--diff", metavar="RECIPE", help="Show only what differs from this one.", autocompletion=recipe_names
        ),
    ] = None,
) -> None:
    """Show a recipe as it would run here: its slots, its settings, what it follows and where it departs.

    With a number, show a passage of the last answer with the text around it.
    """
    from thresher.settings import descriptions

    if recipe.isdecimal():
        from thresher.cli.questions import say_cited

        say_cited(target, int(recipe))
        return
    one = _describe(recipe, target.settings, target.home)
    if diff is None:
        target.show(one, lambda found: _say_recipe(found, descriptions(thresher.recipes.get(recipe).settings)))
        return
    changed = ",".join(f"{key}={value}" for key, value in target.settings.items())
    names = (recipe if recipe != diff or not changed else f"{recipe}[{changed}]", diff)
    differences = _differences(one, _describe(diff, {}, target.home), names)
    target.show(differences, lambda found: _say_differences(names, found))


def _describe(name: str, given: Mapping[str, str], home: Home | None = None) -> dict[str, Any]:
    """A recipe with its settings and those given; with those of files and variables where there is a home."""
    recipe = thresher.recipes.get(name)
    return recipe.describe(recipe.configured(given, home=home))


def _differences(one: dict[str, Any], other: dict[str, Any], names: tuple[str, str]) -> list[dict[str, Any]]:
    """The slots and settings in which two recipes differ, `-` where one has none of that name."""
    rows = []
    for part in ("slots", "settings"):
        for key in dict.fromkeys((*one[part], *other[part])):
            values = [described[part].get(key, "-") for described in (one, other)]
            if values[0] != values[1]:
                rows.append({"part": part, "key": key, **dict(zip(names, values, strict=True))})
    return rows


@on_collection()
def calibrate(
    target: Target,
    recipe: Annotated[
        str, typer.Option("--recipe", help="Whose judge, or whose printed bounds.", autocompletion=recipe_names)
    ] = "corrective",
    questions: Annotated[
        Path | None,
        typer.Option(
            "--questions", metavar="FILE", help="Labelled questions, JSON lines: id, question, answerable, answers."
        ),
    ] = None,
    number: Annotated[int, typer.Option("--number", min=1, help="Questions made where none are given.")] = 200,
    seed: Annotated[int, typer.Option("--seed", help="Of the questions that are made.")] = 0,
    budget: Annotated[
        bool,
        typer.Option("--budget", help="Show what --max-tokens of a search keeps of the answers here; learns nothing."),
    ] = False,
    at_most_wrong: Annotated[
        float | None,
        typer.Option(
            "--at-most-wrong", metavar="SHARE", help="Certify by labelled answers that at most this share is wrong."
        ),
    ] = None,
    confidence: Annotated[float, typer.Option("--confidence", help="Of --at-most-wrong.")] = 0.95,
    risk: Annotated[
        float | None,
        typer.Option(
            "--risk", metavar="SHARE", help="Certify the share of all questions that is answered wrongly, on average."
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option("--labels", metavar="FILE", help="Labelled answers, JSON lines: question, answer, right."),
    ] = None,
) -> None:
    """Learn what a recipe's judge is worth in this collection, and choose the bounds of its verdicts.

    With --at-most-wrong or --risk, certify how often its answers are wrong by what people said of them.
    """
    if at_most_wrong is not None or risk is not None or labels is not None:
        if questions is not None:
            what = "are questions with known answers; only a person's label of what was shown certifies"
            raise UsageError(what, subject=str(questions), next_step="label them: thresher label FILE")
        from thresher.cli.labels import certify

        certify(target, recipe, at_most_wrong, risk, confidence, labels)
        return
    if budget:
        _show_budget(target, recipe, questions, number, seed)
        return
    rows = None if questions is None else _rows(questions)
    labelled = None if rows is None else [(row["question"], row.get("answerable", True)) for row in rows]
    searches = 2 * number if labelled is None else len(labelled)
    with target.open() as collection, output.counting(searches, "searches") as progress:
        calibration = collection.calibrate(
            labelled, recipe=recipe, number=number, seed=seed, settings=target.settings, progress=progress
        )
        bounds = collection.bounds(recipe, settings=target.settings)
    worth = _answerer_worth(target, recipe, rows or ())
    if target.json:
        output.as_json({**calibration.to_dict(), **({} if worth is None else {"answerer": worth.to_dict()})})
        return
    _say_calibration(calibration, bounds)
    if worth is not None:
        output.say(str(worth))


def _answerer_worth(target: Target, recipe: str, rows: Sequence[dict[str, Any]]) -> Public | None:
    """What the chat model is worth as an answerer, measured by thresher-evals; None without it or without a model."""
    measure = brought("thresher.measures").get("answers")
    if measure is None or not rows:
        return None
    with target.open() as collection:
        worth: Public | None = loaded(measure)(
            collection, rows, recipe=recipe, settings=target.settings, counting=output.counting
        )
    return worth


def _show_budget(target: Target, recipe: str, file: Path | None, number: int, seed: int) -> None:
    """The curve of this collection, over the answers of a file or over questions that are made."""
    asked = None
    if file is not None:
        rows = [row for row in _rows(file) if row.get("answerable", True) and row.get("answers")]
        asked = [(row["question"], row["answers"]) for row in rows]
    with target.open() as collection, output.counting(number if asked is None else len(asked), "searches") as progress:
        curve = collection.measure_budget(
            asked, recipe=recipe, number=number, seed=seed, settings=target.settings, progress=progress
        )
    target.show(curve, lambda found: output.say(str(found)))


def _rows(file: Path) -> list[dict[str, Any]]:
    """The labelled questions of a file. Raises UsageError that names the line of one that is none."""
    rows = []
    for number, line in lines_of(file):
        try:
            rows.append(json.loads(line))
            if not _is_labelled(rows[-1]):
                raise ValueError
        except (ValueError, RecursionError) as error:
            form = 'write {"question": "...", "answerable": true, "answers": ["..."]} on every line'
            raise UsageError("is no labelled question", subject=f"{file}, line {number}", next_step=form) from error
    return rows


def _is_labelled(row: Any) -> bool:
    """Whether a line is a question; `answerable` and `answers` may be missing."""
    if not isinstance(row, dict):
        return False
    question, answers = row.get("question"), row.get("answers") or []
    texts = isinstance(answers, list) and all(isinstance(one, str) for one in answers)
    return texts and isinstance(question, str) and question.strip() != "" and type(row.get("answerable", True)) is bool


@on_collection()
def train_judge(
    target: Target,
    labels: Annotated[
        Path | None,
        typer.Argument(
            metavar="QUESTIONS",
            help="JSON lines: question and passage with relevant, or answers; besides what `feedback` kept.",
        ),
    ] = None,
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="How often each training question is read.")] = 4,
    seed: Annotated[int, typer.Option("--seed", help="Of the order of what is read.")] = 0,
) -> None:
    """Train the judge further on your own labels, and keep it if that made it better; needs the extra `training`."""
    with target.open() as collection:
        trained = collection.train_judge(
            labels, epochs=epochs, seed=seed, settings=target.settings, counting=output.counting
        )
    target.show(trained, lambda found: output.say(str(found)))


# --- the command line itself: its settings, and completion ------------------------------------------------------------


class Shell(StrEnum):
    """Shells that complete commands."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


@on_collection(sends=False)
def config(
    target: Target,
    recipe: RecipeName = None,
    changed: Annotated[bool, typer.Option("--changed", help="Only what is not the default.")] = False,
) -> None:
    """Show every setting, its value and where that comes from: default, preset, a file, a variable or --set."""
    from thresher.settings import config_files, flat_public

    chosen = thresher.recipes.get(target.recipe(recipe))
    front = thresher.recipes.front(target.home)
    values: dict[str, Any] = {
        "home": str(target.home),
        "collection": target.collection,
        "recipe": chosen.name,
        "strict": front.strict,
        "public_url": front.public_url,
        **flat_public(chosen.configured(target.settings, home=target.home)),
    }
    origins = thresher.recipes.front_origins(target.home) | chosen.origins(target.settings, home=target.home)
    origins = {key: "--set" if origin == "given" else origin for key, origin in origins.items()}
    shown = {
        key: {"value": value, "origin": origins.get(key, "default")}
        for key, value in values.items()
        if not changed or key in origins
    }
    files = [str(file) for file in config_files(target.home)]
    target.show({"files": files, "settings": shown}, _say_configuration)
    if not target.json:
        output.not_configured(values)


def trust(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A thresher.toml or its folder; read it first.")],
    forget: Annotated[bool, typer.Option("--forget", help="Trust it no longer.")] = False,
    json: AsJson = False,
) -> None:
    """Let a thresher.toml say where documents, questions and keys go: needed once, unless it is your own."""
    from thresher.trusted import CONFIG_FILE

    found = file / CONFIG_FILE if file.is_dir() else file
    settings = thresher.trust(found, forget=forget)
    if json:
        output.as_json({"file": str(found), "trusted": not forget, "settings": settings})
    else:
        _say_trusted(found, settings, forget=forget)


def completion(
    shell: Annotated[Shell, typer.Argument(help="Which shell; put what is printed where it reads it at its start.")],
) -> None:
    """Print what a shell needs to complete commands, options, recipes and collections.

    For bash: eval "$(thresher completion bash)"
    """
    from typer._completion_shared import get_completion_script

    output.say(get_completion_script(prog_name="thresher", complete_var=COMPLETE, shell=shell.value))


# --- in words ---------------------------------------------------------------------------------------------------------


def _say_recipe(described: Mapping[str, Any], descriptions: Mapping[str, str]) -> None:
    """What a recipe follows, its slots and its settings."""
    output.say(described["follows"].strip())
    output.say()
    output.table("slots", ["slot", "part"], list(described["slots"].items()))
    rows = [[key, _value(value), descriptions.get(key, "")] for key, value in described["settings"].items()]
    output.table("settings", ["setting", "value", "what it is"], rows)


def _say_differences(names: tuple[str, str], differences: Sequence[Mapping[str, Any]]) -> None:
    """The slots and settings in which two recipes differ."""
    rows = [[row["key"], *(_value(row[name]) for name in names)] for row in differences]
    output.table(" and ".join(names), ["key", *names], rows)


def _value(value: Any) -> Any:
    return "not set" if value in (None, "") else value


def _say_configuration(found: Mapping[str, Any]) -> None:
    """Every setting with its value and its origin, and the files that were read."""
    output.say(f"read: {', '.join(found['files']) or 'no thresher.toml'}")
    rows = [[key, _value(one["value"]), one["origin"]] for key, one in found["settings"].items()]
    output.table("settings", ["setting", "value", "from"], rows)


def _say_trusted(file: Path, settings: Mapping[str, str], *, forget: bool) -> None:
    """The settings that a file may make from now on, or no longer."""
    if not settings:
        output.say(f"{file} sets nothing that has to be trusted")
        return
    output.say(f"{file} is {'no longer trusted' if forget else 'trusted'} to set:")
    for key, value in settings.items():
        output.say(f"  {key} = {value}")
    if not forget:
        output.say("Keys from the environment and the command line are sent to the addresses above.")


def _say_calibration(made: Calibration, bounds: tuple[float, ...] | None = None) -> None:
    """A calibration, for a person; `bounds` are those of a published recipe, or its floor, on its scale."""
    low, high = made.auroc_interval
    questions = f"{made.n_positive} questions the collection can answer and {made.n_negative} it cannot"
    output.say(f"calibrated the judge '{made.judge}' from {made.source}: {questions}")
    output.table(
        "",
        ["", "value", "95 % interval"],
        [
            ["AUROC", f"{made.auroc:.3f}", f"{low:.3f} to {high:.3f}"],
            ["expected calibration error", f"{made.ece:.3f}", ""],
            ["LOWER", f"{made.lower:.3f}", "{:.3f} to {:.3f}".format(*made.lower_interval)],
            ["UPPER", f"{made.upper:.3f}", "{:.3f} to {:.3f}".format(*made.upper_interval)],
        ],
    )
    if bounds is not None:
        deciding = "it decides here by {:.3g} and {:.3g}, on its own scale"
        output.say((deciding if len(bounds) == 2 else "chunks below {:.3g} are dropped here").format(*bounds))
    if not made.separated:
        between = "between the bounds the verdict will be `unsure`, which acts as ambiguous"
        between = between if bounds is None else "scores separate little here, whatever the bounds"
        output.say(f"no clean separation: {between}")
    if made.model is not None:
        output.say(_of_the_model(made.model))


def _of_the_model(weight: ModelWeight) -> str:
    low, high = weight.gain_interval
    gain = f"log loss {-weight.gain:+.3f} [{-high:+.3f}, {-low:+.3f}] on {weight.questions} unsure questions"
    if weight.counts:
        asked = f"asked where the judge is unsure, with weight {weight.model_weight:.2f}"
        return f"{weight.model} helps ({gain}): it is {asked}"
    return f"{weight.model} does not help ({gain}): it is not asked to judge in this collection"
