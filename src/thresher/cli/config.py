"""Commands about the command line itself: every setting with where it comes from, and completion in a shell."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import thresher
from thresher.cli import output
from thresher.cli.options import AsJson, RecipeName, Target, on_collection
from thresher.cli.questions import recipe_of

COMPLETE = "_THRESHER_COMPLETE"  # the variable in which a shell asks what can follow


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

    chosen = thresher.recipes.get(recipe_of(recipe, target))
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
    target.show({"files": files, "settings": shown}, output.configuration)
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
        output.trusted(found, settings, forget=forget)


def completion(
    shell: Annotated[Shell, typer.Argument(help="Which shell; put what is printed where it reads it at its start.")],
) -> None:
    """Print what a shell needs to complete commands, options, recipes and collections.

    For bash: eval "$(thresher completion bash)"
    """
    from typer._completion_shared import get_completion_script

    output.say(get_completion_script(prog_name="thresher", complete_var=COMPLETE, shell=shell.value))
