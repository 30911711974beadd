"""Writes the pages that are made from code: the recipes and the commands. `--check` says whether they are up to date.

.venv/bin/python docs/generate.py
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from thresher import recipes
from thresher.pipeline import Pipeline
from thresher.protocols import about
from thresher.settings import descriptions

DOCS = Path(__file__).resolve().parent

DOES_NOTHING = {field.name: about(field.default) for field in dataclasses.fields(Pipeline) if callable(field.default)}


def recipes_page() -> str:
    """Every recipe: what stands in its slots, what it follows, its settings."""
    nothing = ", ".join(f"{slot} `{part}`" for slot, part in DOES_NOTHING.items())
    lines = [
        "# Recipes",
        "",
        "<!-- Made by docs/generate.py from the recipes themselves. -->",
        "",
        "A recipe names the part in each slot of the ask path; what stands here is what the parts say of themselves.",
        "`thresher show` says it for any setting. Slots that are not listed do nothing:",
        f"{nothing}.",
        "",
    ]
    for name in recipes.names():
        lines += recipe_section(name)
    return "\n".join(lines).rstrip() + "\n"


def recipe_section(name: str) -> list[str]:
    """One recipe."""
    recipe = recipes.get(name)
    described = recipe.describe(recipe.configured({}))
    lines = [f"## {name}", "", f"{described['summary']}.", ""]
    if recipe.preset_of:
        changed = ", ".join(f"`{key}={str(value).lower()}`" for key, value in recipe.preset.items())
        return [*lines, f"A preset of `{recipe.preset_of}`: {changed}.", ""]
    of = descriptions(recipe.settings)
    lines += ["```text", recipe.follows.strip(), "```", "", "| slot | part |", "|---|---|"]
    lines += [f"| {slot} | {part} |" for slot, part in described["slots"].items() if part != DOES_NOTHING.get(slot)]
    lines += ["", "| setting | default | what it is |", "|---|---|---|"]
    for key, value in described["settings"].items():
        lines.append(f"| `{key}` | {'' if value is None or value == '' else f'`{value}`'} | {of[key]} |")
    return [*lines, ""]


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
    pages = {DOCS / "recipes.md": recipes_page(), DOCS / "reference" / "commands.md": commands_page()}
    if "--check" not in sys.argv[1:]:
        for page, text in pages.items():
            page.write_text(text, encoding="utf-8")
        return 0
    late = [page.name for page, text in pages.items() if not page.is_file() or page.read_text(encoding="utf-8") != text]
    if late:
        print(f"{', '.join(late)}: out of date, run make docs")
    return int(bool(late))


if __name__ == "__main__":
    sys.exit(main())
