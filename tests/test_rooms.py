"""Rooms do not know each other; only the recipes wire them together."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import thresher

PACKAGE = Path(thresher.__file__).parent
ROOMS = (
    "documents",
    "chunking",
    "indexing",
    "models",
    "retrieval",
    "judging",
    "correction",
    "refinement",
    "generation",
)
SHARED = {"types", "protocols", "errors", "filters", "http", "text"}
MODELS_ARE_THEIRS = {"retrieval", "judging", "correction", "refinement", "generation"}
"""Rooms whose parts may own a model besides taking one through a protocol."""
WIRING = {"cli", "server", "evals", "collection", "recipes", "__init__"}
FILES = sorted(PACKAGE.rglob("*.py"))


def imports_of(file: Path) -> Iterator[str]:
    """First part below `thresher` of everything a file imports, at its top, late or for type checking."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert not node.level, f"{file} has a relative import"
            below = [f"thresher.{alias.name}" for alias in node.names]
            names = below if node.module == "thresher" else [node.module]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "import_module":
            (name,) = (part.value for part in ast.walk(node.args[0]) if isinstance(part, ast.Constant))
            names = [str(name)]
        yield from (name.split(".")[1] for name in names if name.startswith("thresher."))


def room_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_what_all_rooms_share(room: str) -> None:
    allowed = SHARED | {room} | ({"models"} if room in MODELS_ARE_THEIRS else set())
    strangers = {
        f"{file.relative_to(PACKAGE)} imports {name}"
        for file in FILES
        if room_of(file) == room
        for name in imports_of(file)
        if name not in allowed
    }
    assert strangers == set()


def test_what_is_shared_and_the_engine_know_no_room() -> None:
    strangers = {
        f"{name}.py imports {used}"
        for name in (*sorted(SHARED), "pipeline", "settings", "tracing")
        for file in ([PACKAGE / f"{name}.py"] if (PACKAGE / f"{name}.py").is_file() else (PACKAGE / name).glob("*.py"))
        for used in imports_of(file)
        if used not in SHARED
    }
    assert strangers == set()


def test_only_the_front_imports_recipes() -> None:
    importing = {room_of(file) for file in FILES if "recipes" in imports_of(file)}
    assert importing <= WIRING


def test_only_recipes_bring_several_rooms_together() -> None:
    wiring = {room_of(file) for file in FILES if len(set(imports_of(file)) & set(ROOMS)) > 2}
    assert wiring <= {"recipes", "collection"}


def test_nothing_but_the_command_line_prints() -> None:
    printing = {
        str(file.relative_to(PACKAGE))
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ("stdout", "stderr") and ast.unparse(node.value) == "sys"
    }
    assert printing <= {"cli/app.py", "cli/output.py"}
