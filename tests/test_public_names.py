"""The names that other people's code imports: none goes without a deprecation (CONTRIBUTING.md, "Versions")."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

from tests.test_rooms import PUBLIC

RECORD = Path(__file__).with_name("public_names.txt")
"""A line for each module of docs/extending.md; `python -m tests.test_public_names` writes it."""


def names_of(module: str) -> set[str]:
    """What a module lists in `__all__`; without one, its types and functions, not its constants."""
    loaded = import_module(module)
    if hasattr(loaded, "__all__"):
        return set(loaded.__all__)
    defined = set()
    for node in ast.parse(Path(loaded.__file__ or "").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            defined.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            defined |= {target.id for target in targets if isinstance(target, ast.Name)}
    return {name for name in defined if not name.startswith("_") and not name.isupper()}


def public_names() -> set[str]:
    """Every one with its module."""
    return {f"{module}.{name}" for module in PUBLIC for name in names_of(module)}


def test_no_public_name_is_removed_and_each_new_one_is_recorded() -> None:
    lines = (line.split(": ") for line in RECORD.read_text(encoding="utf-8").splitlines())
    recorded = {f"{module}.{name}" for module, names in lines for name in names.split()}
    now = public_names()
    assert sorted(recorded - now) == [], "removed: CONTRIBUTING.md says how a public name goes"
    assert sorted(now - recorded) == [], "new: python -m tests.test_public_names records them"


def test_the_page_lists_the_public_modules() -> None:
    page = (RECORD.parents[1] / "docs/extending.md").read_text(encoding="utf-8")
    table = page.partition("## The public modules\n")[2].partition("\n\nWhere ")[0].partition("|---|")[2]
    assert {f"thresher.{name}".removesuffix(".thresher") for name in re.findall(r"`([a-z._]+)`", table)} == PUBLIC


if __name__ == "__main__":
    lines = [f"{module}: {' '.join(sorted(names_of(module)))}\n" for module in sorted(PUBLIC)]
    RECORD.write_text("".join(lines), encoding="utf-8")
