"""The size and shape of the code: files, lines, the longest import chain, what a command loads.

    python -m research.structure [FOLDER]      of this checkout, or of another one with its own .venv

Lines are all lines of Python files. The chain counts files that import one another at their top. What a command enters
is the files of Thresher that Python has loaded when it ends; modules are all modules, the standard library's included.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

ENTERED = """
import atexit, json, sys
def told():
    ours = sorted(name for name in sys.modules if name.split('.')[0] in ('thresher', 'thresher_evals'))
    sys.stderr.write('\\nLOADED ' + json.dumps({'files': len(ours), 'modules': len(sys.modules)}) + '\\n')
atexit.register(told)
from MAIN import main
sys.argv[0] = 'thresher'
sys.exit(main(sys.argv[1:]))
"""


def python_files(folder: Path) -> list[Path]:
    """Python files below a folder, sorted."""
    return sorted(path for path in folder.rglob("*.py") if "__pycache__" not in path.parts)


def lines(files: list[Path]) -> int:
    """Lines of all files."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


def longest_chain(roots: list[Path]) -> list[str]:
    """Modules, each importing the next at its top, as many as there are in a row."""
    modules = {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path
        for root in roots
        for path in python_files(root)
    }

    def imported(name: str) -> set[str]:
        names: set[str] = set()
        for node in ast.parse(modules[name].read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                below = {f"{node.module}.{alias.name}" for alias in node.names}
                names |= {one if one in modules else node.module for one in below}
        return (names & modules.keys()) - {name}

    @cache
    def chain(name: str) -> tuple[str, ...]:
        below: tuple[str, ...] = ()
        for other in sorted(imported(name)):
            if len(chain(other)) > len(below):
                below = chain(other)
        return (name, *below)

    return list(sorted(map(chain, modules), key=lambda names: (-len(names), names))[0])


def loaded_by(checkout: Path, python: Path, arguments: list[str], home: Path) -> dict[str, int]:
    """How many files of ours and how many modules a command loads."""
    main = "thresher.cli.app" if (checkout / "src/thresher/cli").is_dir() else "thresher.cli"
    done = subprocess.run(
        [str(python), "-c", ENTERED.replace("MAIN", main), *arguments],
        env={**os.environ, "THRESHER_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    told = [line for line in done.stderr.splitlines() if line.startswith("LOADED ")]
    if not told:
        raise SystemExit(done.stderr)
    return dict(json.loads(told[-1].removeprefix("LOADED ")))


def main() -> int:
    """Measure and print a line each."""
    checkout = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    python = Path(sys.argv[2]) if len(sys.argv) > 2 else checkout / ".venv" / "bin" / "python"
    source, evals = checkout / "src" / "thresher", checkout / "packages" / "thresher-evals" / "src"
    engine = [path for path in python_files(source) if "evals" not in path.relative_to(source).parts]
    evaluation = python_files(evals if evals.is_dir() else source / "evals")
    old_commands = {"evals.py", "judging.py", "comparing.py", "studies.py", "reporting.py", "auditing.py"}
    commands = [path for path in engine if path.parent.name == "commands" and path.name in old_commands]
    engine, evaluation = [path for path in engine if path not in commands], [*evaluation, *commands]
    others = [
        path
        for name in ("benchmarks", "research", "tools")
        for path in python_files(checkout / name)
        if not {".cache", "peers"} & set(path.parts)
    ]
    rows: dict[str, object] = {
        "files": len(engine) + len(evaluation),
        "lines, engine": lines(engine),
        "lines, evals": lines(evaluation),
        "lines, engine + evals": lines(engine) + lines(evaluation),
        "lines, tests": lines(python_files(checkout / "tests")),
        "lines, benchmarks + research": lines(others),
    }
    found = longest_chain([checkout / "src", *([evals] if evals.is_dir() else [])])
    rows["longest import chain"] = f"{len(found)}: {' > '.join(found)}"
    with tempfile.TemporaryDirectory() as temporary:
        home, note = Path(temporary) / "home", Path(temporary) / "note.md"
        note.write_text("The cellar has no light. Bring a lamp.\n", encoding="utf-8")
        commands_of = {
            "--help": ["--help"],
            "first index": ["index", str(note)],
            "ask --recipe rag": ["ask", "Has the cellar light?", "--recipe", "rag"],
            "ask": ["ask", "Has the cellar light?"],
        }
        for name, arguments in commands_of.items():
            counted = loaded_by(checkout, python, arguments, home)
            rows[f"{name}: files of ours"] = counted["files"]
            rows[f"{name}: modules"] = counted["modules"]
    for name, value in rows.items():
        print(f"{name}: {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
