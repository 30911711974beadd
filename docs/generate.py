"""Writes the pages that are made from code: docs/recipes.md. `--check` only says whether they are up to date.

.venv/bin/python docs/generate.py
"""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path

from thresher import recipes
from thresher.pipeline import Pipeline
from thresher.protocols import about
from thresher.settings import descriptions

DOCS = Path(__file__).resolve().parent
DOES_NOTHING = {field.name: about(field.default) for field in fields(Pipeline) if callable(field.default)}
"""Slot to what stands in it where a recipe names nothing."""


def recipes_page() -> str:
    """Every recipe: what stands in its slots, what it follows, its settings."""
    lines = [
        "# Recipes",
        "",
        "<!-- Made by docs/generate.py from the recipes themselves. -->",
        "",
        "A recipe names the part in each slot of the ask path. Slots that are not listed do nothing:",
        ", ".join(f"{slot} `{part}`" for slot, part in DOES_NOTHING.items()) + ".",
        "",
    ]
    for name in recipes.names():
        lines += recipe_section(name)
    return "\n".join(lines).rstrip() + "\n"


def recipe_section(name: str) -> list[str]:
    """One recipe."""
    recipe = recipes.get(name)
    settings = recipe.configured({})
    described = recipe.describe(settings)
    lines = [f"## {name}", "", f"{described['summary']}.", ""]
    if recipe.preset_of:
        changed = ", ".join(f"`{key}={str(value).lower()}`" for key, value in recipe.preset.items())
        return [*lines, f"A preset of `{recipe.preset_of}`: {changed}.", ""]
    told = descriptions(recipe.settings)
    lines += ["```text", recipe.follows.strip(), "```", "", "| slot | part |", "|---|---|"]
    lines += [f"| {slot} | {part} |" for slot, part in described["slots"].items() if part != DOES_NOTHING.get(slot)]
    lines += ["", "| setting | default | what it is |", "|---|---|---|"]
    for key, value in described["settings"].items():
        lines.append(f"| `{key}` | {'' if value is None or value == '' else f'`{value}`'} | {told[key]} |")
    return [*lines, ""]


def main() -> int:
    """Write, or with --check compare; 1 when a page is out of date."""
    page, text = DOCS / "recipes.md", recipes_page()
    if "--check" not in sys.argv[1:]:
        page.write_text(text, encoding="utf-8")
        return 0
    if page.is_file() and page.read_text(encoding="utf-8") == text:
        return 0
    print(f"{page.name} is out of date: run make docs")
    return 1


if __name__ == "__main__":
    sys.exit(main())
