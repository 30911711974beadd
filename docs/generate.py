"""Writes the pages that are made from code: recipes, settings, commands. `--check` says whether they are up to date.

.venv/bin/python docs/generate.py
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from thresher import recipes
from thresher.pipeline import Pipeline
from thresher.protocols import about
from thresher.recipes.registry import Recipe
from thresher.settings import descriptions, flat

DOCS = Path(__file__).resolve().parent

DOES_NOTHING = {field.name: about(field.default) for field in dataclasses.fields(Pipeline) if callable(field.default)}


WITH_A_MODEL = {"llm.base_url": "http://localhost:11434/v1", "llm.model": "MODEL"}


def recipes_page() -> str:
    """One table of all recipes; each method has a page of its own."""
    nothing = ", ".join(f"{slot} `{part}`" for slot, part in DOES_NOTHING.items())
    lines = [
        "# Recipes",
        "",
        "<!-- Made by docs/generate.py from the recipes themselves. -->",
        "",
        "A recipe names the part in each slot of the path of a question. `thresher show NAME` prints it for any",
        "settings, `thresher show NAME --diff OTHER` what differs. The table has the settings whose default differs",
        "from that of most recipes, and all that a preset sets; [settings](reference/settings.md) has the others.",
        f"A slot that is not listed does nothing: {nothing}.",
        "",
        "| recipe | what it does | settings |",
        "|---|---|---|",
    ]
    for name in recipes.names():
        recipe = recipes.get(name)
        base = recipe.preset_of or name
        summary = f"preset of `{base}`: {recipe.summary}" if recipe.preset_of else recipe.summary
        lines.append(f"| [`{name}`](recipes/{base}.md) | {summary} | {settings_of(recipe)} |")
    return "\n".join(lines).rstrip() + "\n"


def settings_of(recipe: Recipe) -> str:
    """What a preset sets, or the defaults that are not those of most recipes."""
    if recipe.preset_of:
        apart = recipe.preset
    else:
        common = {key: most_common(values.values()) for key, values in defaults().items()}
        apart = {key: value for key, value in flat(recipe.configured({})).items() if value != common[key]}
    return ", ".join(f"`{key}={shown(value)}`" for key, value in apart.items() if value is not None)


def most_common(values: Iterable[Any]) -> Any:
    """The value that more than half have; `...` where there is none."""
    (value, number), *_ = Counter(listed := [*values]).most_common()
    return value if number > len(listed) / 2 else ...


def recipe_page(name: str) -> str:
    """The slots of one recipe, without and with a chat model, its presets, and what it follows."""
    recipe = recipes.get(name)
    without, with_model = slots(recipe, {}), slots(recipe, WITH_A_MODEL)
    lines = [
        f"# {name}",
        "",
        "<!-- Made by docs/generate.py from the recipe itself. -->",
        "",
        f"`thresher ask QUESTION --recipe {name}`: {recipe.summary}. All recipes: [the table](../recipes.md).",
        "",
        "| slot | without a chat model | with one |",
        "|---|---|---|",
    ]
    for slot, part in with_model.items():
        if {part, without[slot]} != {DOES_NOTHING.get(slot)}:
            lines.append(f"| {slot} | {without[slot]} | {'the same' if part == without[slot] else part} |")
    lines += ["", "```text", recipe.follows.strip(), "```"]
    for preset in (one for one in map(recipes.get, recipes.names()) if one.preset_of == name):
        lines += ["", f"**`{preset.name}`** ({preset.summary}) sets {settings_of(preset)}."]
    return "\n".join(lines) + "\n"


def slots(recipe: Recipe, settings: dict[str, Any]) -> dict[str, str]:
    """What each part says of itself, and the chunks apart from what retrieves them."""
    described = dict(recipe.describe(recipe.configured(settings))["slots"])
    described["retrieve"], _, chunks = described["retrieve"].partition(" over ")
    return {"chunks": chunks, **described} if chunks else described


def settings_page() -> str:
    """Every setting once: its default, by recipe where they differ, which recipes have it, what it is."""
    lines = [
        "# Settings",
        "",
        "<!-- Made by docs/generate.py from the recipes themselves. -->",
        "",
        "Settings of recipes, in the form that `--set` and `thresher.toml` take. Presets are left out: they have the",
        "settings of their recipe.",
        "",
        "| setting | default | of | what it is |",
        "|---|---|---|---|",
    ]
    of: dict[str, Counter[str]] = defaultdict(Counter)
    for name in bases():
        for key, text in descriptions(recipes.get(name).settings).items():
            of[key][text] += 1
    for key, values in defaults().items():
        of_each = {name: "" if value in (None, "") else f"`{shown(value)}`" for name, value in values.items()}
        if len(distinct := [*dict.fromkeys(of_each.values())]) > 1:
            default = "; ".join(
                f"{one or 'not set'}: {', '.join(name for name, value in of_each.items() if value == one)}"
                for one in distinct
            )
        else:
            default = distinct[0]
        who = "all" if {*bases()} - {*values} <= {"no-retrieval"} else ", ".join(values)
        lines.append(f"| `{key}` | {default} | {who} | {of[key].most_common(1)[0][0]} |")
    return "\n".join(lines) + "\n"


def bases() -> list[str]:
    """The recipes that are no presets."""
    return [name for name in recipes.names() if not recipes.get(name).preset_of]


def defaults() -> dict[str, dict[str, Any]]:
    """Settings to the default of each recipe that has them."""
    found: dict[str, dict[str, Any]] = {}
    for name in bases():
        recipe = recipes.get(name)
        for key, value in flat(recipe.configured({})).items():
            found.setdefault(key, {})[name] = value
    return found


def shown(value: Any) -> str:
    """A value as `--set` takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def commands_page() -> str:
    """`--help` of every command."""
    lines = ["# Commands", "", "<!-- Made by docs/generate.py from the commands themselves. -->", ""]
    for command, text in helped():
        lines += [f"## {' '.join(['thresher', *command])}", "", "```text", text.strip(), "```", ""]
    return "\n".join(lines).rstrip() + "\n"


def helped() -> Iterator[tuple[list[str], str]]:
    """Every command, and what it says of itself."""
    waiting: list[list[str]] = [[]]
    while waiting:
        command = waiting.pop(0)
        done = subprocess.run(
            [sys.executable, "-m", "thresher", *command, "--help"],
            env={**os.environ, "COLUMNS": "100"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        yield command, done.stdout
        _, _, listed = done.stdout.partition("\nCommands:\n")
        waiting += [[*command, line.split()[0]] for line in listed.splitlines() if line[2:3].strip()]


def main() -> int:
    """Write, or with --check compare; 1 when a page is out of date."""
    pages = {
        DOCS / "recipes.md": recipes_page(),
        **{DOCS / "recipes" / f"{name}.md": recipe_page(name) for name in bases()},
        DOCS / "reference" / "settings.md": settings_page(),
        DOCS / "reference" / "commands.md": commands_page(),
    }
    if "--check" not in sys.argv[1:]:
        for page, text in pages.items():
            page.parent.mkdir(exist_ok=True)
            page.write_text(text, encoding="utf-8")
        return 0
    late = [page.name for page, text in pages.items() if not page.is_file() or page.read_text(encoding="utf-8") != text]
    if late:
        print(f"{', '.join(late)}: out of date, run make docs")
    return int(bool(late))


if __name__ == "__main__":
    sys.exit(main())
