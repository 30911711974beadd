"""Rooms do not know each other; only the recipes wire them together."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

import thresher
import thresher_evals

PACKAGE = Path(thresher.__file__).parent
ROOMS = (
    "documents",
    "chunking",
    "stores",
    "indexing",
    "models",
    "retrieval",
    "judging",
    "correction",
    "refinement",
    "answering",
    "verification",
)
SHARED = {"answer", "types", "protocols", "errors", "deadline", "filters", "net", "text", "structure", "question"}
MODELS_ARE_THEIRS = {"retrieval", "judging", "correction", "refinement", "answering"}
"""Rooms whose parts may own a model besides taking one through a protocol."""
ALSO = {
    "answering": {"verification"},
    "documents": {"plugins"},
    "refinement": {"verification"},
    "indexing": {"stores", "home", "documents", "plugins", "models"},
    "stores": {"home", "plugins", "settings"},
}
"""What is written, or kept as evidence, is checked; files are read on their way to a store below a home, in processes
that share the cores between their models; a store, a cluster or a format may be an outsider's."""
FOUNDATION = {
    "errors": set(),
    "types": set(),
    "filters": {"errors", "types"},
    "protocols": {"types"},
    "answer": {"types", "tracing", "text"},
    "text": {"types", "protocols", "errors", "text"},
    "structure": {"types", "text", "structure"},
    "question": {"types", "errors", "text", "structure", "question", "filters", "protocols", "models"},
    "plugins": {"errors"},
    "settings": {"errors", "plugins", "protocols", "trusted"},
    "trusted": {"errors"},
    "deadline": set(),
    "tracing": {"answer", "types", "protocols", "errors", "deadline", "tracing", "text"},
    "pipeline": {"answer", "types", "protocols", "errors", "deadline", "tracing"},
}
"""What every room stands on, and what of each other it knows."""
WIRING = {"cli", "collection", "links", "parts", "recipes", "__init__"}
FILES = sorted(PACKAGE.rglob("*.py"))


@cache
def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def imports_of(file: Path) -> frozenset[str]:
    """First part below `thresher` of everything a file imports, at its top, late or for type checking."""
    return frozenset(_imports_of(file))


def _imports_of(file: Path) -> Iterator[str]:
    for node in ast.walk(parsed(file)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert not node.level, f"{file} has a relative import"
            below = [f"thresher.{alias.name}" for alias in node.names]
            names = below if node.module == "thresher" else [node.module]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "import_module":
            names = [str(part.value) for part in ast.walk(node.args[0]) if isinstance(part, ast.Constant)]
        yield from (name.split(".")[1] for name in names if name.startswith("thresher."))


def imports_between(*packages: Path, late: bool) -> dict[str, set[str]]:
    """Each module of the packages with those of them that it imports at its top; with `late` in functions too."""
    modules = {
        ".".join(file.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__"): file
        for package in packages
        for file in sorted(package.rglob("*.py"))
    }
    found = {}
    for module, file in modules.items():
        names: set[str] = set()
        for node in ast.walk(parsed(file)) if late else parsed(file).body:
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                below = {f"{node.module}.{alias.name}" for alias in node.names}
                names |= {name if name in modules else node.module for name in below}
        found[module] = names & modules.keys() - {module}
    return found


def room_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_what_all_rooms_share(room: str) -> None:
    allowed = SHARED | {room} | ALSO.get(room, set()) | ({"models"} if room in MODELS_ARE_THEIRS else set())
    strangers = {
        f"{file.relative_to(PACKAGE)} imports {name}"
        for file in FILES
        if room_of(file) == room
        for name in imports_of(file)
        if name not in allowed
    }
    assert strangers == set()


@pytest.mark.parametrize("name", FOUNDATION)
def test_what_all_rooms_stand_on_knows_no_room(name: str) -> None:
    used = {used for file in FILES if room_of(file) == name for used in imports_of(file)}
    assert used <= FOUNDATION[name]


def test_only_the_front_imports_recipes() -> None:
    importing = {room_of(file) for file in FILES if "recipes" in imports_of(file)}
    assert importing <= WIRING


def test_only_recipes_bring_several_rooms_together() -> None:
    wiring = {room_of(file) for file in FILES if len(imports_of(file) & set(ROOMS)) > 2}
    assert wiring <= {"recipes", "collection", "parts"}


def test_nothing_but_the_command_line_prints() -> None:
    printing = {
        str(file.relative_to(PACKAGE))
        for file in FILES
        for node in ast.walk(parsed(file))
        if isinstance(node, ast.Attribute) and node.attr in ("stdout", "stderr") and ast.unparse(node.value) == "sys"
    }
    assert printing <= {
        "cli/app.py",
        "cli/documents.py",
        "cli/output.py",
        "cli/questions.py",
    }


# --- files ------------------------------------------------------------------------------------------------------------

EVALS = Path(thresher_evals.__file__).parent
LONGEST_CHAIN = 13
"""Files a reader has to open one after the other to follow a name to where everything begins."""


def test_no_file_imports_itself_round_about_even_late() -> None:
    sources = sorted(PACKAGE.parents[1].glob("packages/*/src/*/"))
    assert {EVALS, PACKAGE.parents[1] / "packages/thresher-bucket/src/thresher_bucket"} < set(sources)
    try:
        TopologicalSorter(imports_between(PACKAGE, *sources, late=True)).prepare()
    except CycleError as cycle:
        pytest.fail(" -> ".join(cycle.args[1]))


@pytest.mark.parametrize("packages", [(PACKAGE,), (PACKAGE, EVALS)], ids=["engine", "with evals"])
def test_no_chain_of_imports_is_long(packages: tuple[Path, ...]) -> None:
    imports = imports_between(*packages, late=False)
    chains: dict[str, list[str]] = {}
    for module in TopologicalSorter(imports).static_order():
        below = max((chains[name] for name in sorted(imports[module])), key=len, default=[])
        chains[module] = [module, *below]
    longest = max(chains.values(), key=len)
    assert len(longest) <= LONGEST_CHAIN, " -> ".join(longest)


# --- what other distributions, and the methods beside the engine, may know of it --------------------------------------

PUBLIC = {
    "thresher",
    "thresher.answer",
    "thresher.answering.citations",
    "thresher.cli.options",
    "thresher.cli.output",
    "thresher.collection",
    "thresher.correction.providers",
    "thresher.deadline",
    "thresher.documents.assembly",
    "thresher.documents.cleaning",
    "thresher.documents.registry",
    "thresher.errors",
    "thresher.filters",
    "thresher.home.places",
    "thresher.models.replies",
    "thresher.models.usage",
    "thresher.parts.answering",
    "thresher.parts.chunking",
    "thresher.parts.documents",
    "thresher.parts.judging",
    "thresher.parts.retrieval",
    "thresher.pipeline",
    "thresher.protocols",
    "thresher.recipes",
    "thresher.recipes.components",
    "thresher.recipes.judges",
    "thresher.recipes.settings",
    "thresher.settings",
    "thresher.stores.registry",
    "thresher.testing.fakes",
    "thresher.text.terms",
    "thresher.tracing.explain",
    "thresher.types",
}
"""The modules that a method, a format, a store, a command or an adapter imports; docs/extending.md lists them."""

BESIDE = {
    "bucket": "stores.lance stores.lance_memory stores.lance_table",
    "ci": "judging.scorers question.wording text.boilerplate text.markup",
    "evals": "chunking.spans indexing.processes judging.calibration judging.fitting models.running recipes.calibrate "
    "recipes.evidence structure.forms structure.grid structure.lookup text.entities text.numbers text.sentences "
    "verification.rules",
    "ray": "indexing.processes models.running stores.lance_upkeep",
    "server": "documents.reading_process documents.sources indexing.store links models.encoders text.entities trusted",
    "training": "json_lines judging.fitting judging.scorers models.cross_encoders recipes.corrective",
}
"""Modules that distributions of ours import besides: to be removed from here, never added to."""
IN_THE_WHEEL = [PACKAGE.parent / name for name in ("thresher_formats", "thresher_methods")]
DISTRIBUTIONS = [*IN_THE_WHEEL, *sorted((PACKAGE.parents[1] / "packages").glob("*/src/"))]


def engine_modules_of(folder: Path) -> set[str]:
    """Every module of the engine that the files below a folder import, at their top, late or for type checking."""
    modules = {
        ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__") for file in FILES
    }
    found = set()
    for file in folder.rglob("*.py"):
        for node in ast.walk(parsed(file)):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                below = {f"{node.module}.{alias.name}" for alias in node.names}
                found |= {name if name in modules else node.module for name in below}
    return found & modules


@pytest.mark.parametrize(
    "folder", DISTRIBUTIONS, ids=lambda folder: folder.name if folder.name != "src" else folder.parent.name
)
def test_a_distribution_imports_public_modules_and_those_that_are_recorded(folder: Path) -> None:
    recorded = BESIDE.get(folder.parent.name.removeprefix("thresher-"), "").split()
    assert engine_modules_of(folder) - PUBLIC == {f"thresher.{name}" for name in recorded}


def test_the_parts_of_methods_and_formats_are_all_used_by_one_or_shown() -> None:
    used = {
        f"{node.module}.{alias.name}"
        for package in IN_THE_WHEEL
        for file in package.glob("*.py")
        for node in ast.walk(parsed(file))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("thresher.parts.")
        for alias in node.names
    }
    shown = (PACKAGE.parents[1] / "docs/extending.md").read_text(encoding="utf-8")
    offered = {
        f"{module}.{name}"
        for module in sorted(PUBLIC)
        if module.startswith("thresher.parts.")
        for name in import_module(module).__all__
    }
    assert sorted(name for name in offered - used if name.rpartition(".")[2] not in shown) == []
