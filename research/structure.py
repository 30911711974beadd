"""The size of the code, and how much of it a command enters: `python -m research.structure`, a line a number.

Lines are all lines of Python files. A command enters the files of ours that Python has loaded when it ends; with `path`
the files of a question are listed in the order in which it enters them. A crossing is a call, or the next step of a
generator, from a file of the engine into another while a question about a table is answered: the first one of a process
and, `again`, the second.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from thresher import recipes
from thresher.settings import keys

ROOT = Path(__file__).parents[1]

ENTERED = """
import atexit, sys
def report():
    known = ('thresher', 'thresher_evals', 'thresher_formats', 'thresher_methods')
    ours = [name for name in sys.modules if name.split('.')[0] in known]
    sys.stderr.write(f'\\nLOADED {" ".join(ours)}\\n')
atexit.register(report)
from thresher.cli.app import main
sys.argv[0] = 'thresher'
sys.exit(main(sys.argv[1:]))
"""

QUESTION = "Has the cellar light?"

TABLE = """
| Boat | Fee a day | Deposit |
| --- | --- | --- |
| Dinghy | 4 EUR | 20 EUR |
| Yacht | 18 EUR | 150 EUR |
"""

CROSSED = """
import sys, thresher
from pathlib import Path
root, home = str(Path(thresher.__file__).parent), sys.argv[1]
with thresher.open(home) as collection:
    collection.add(f'{home}/fees.md')
    for _ in range(2):
        crossings, files = 0, set()
        def count(frame, event, _):
            global crossings
            into, out = frame.f_code.co_filename, frame.f_back and frame.f_back.f_code.co_filename
            if event == 'call' and into.startswith(root):
                files.add(into)
                crossings += out is not None and out.startswith(root) and out != into
        sys.setprofile(count)
        collection.ask('What is the deposit for a yacht?')
        sys.setprofile(None)
        print(crossings, 'in', len(files), 'files')
"""

COMMANDS = {
    "--help": (["--help"], 20),
    "first index": (["index", "note.md"], 67),
    "ask --recipe rag": (["ask", QUESTION, "--recipe", "rag"], 95),
    "ask": (["ask", QUESTION], 105),
}
"""Each command with the files at most that it may enter: each is time before the answer, and something to read. Lower a
number when fewer are entered; a higher one needs a reason."""


def entered_by(arguments: list[str], folder: Path) -> list[str]:
    """The files of ours that a command has loaded when it ends, in order; its home is a folder with a note."""
    (folder / "note.md").write_text("The cellar has no light. Bring a lamp.\n", encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "THRESHER_DATA"}  # of tests: no setting
    done = subprocess.run(
        [sys.executable, "-c", ENTERED, *arguments],
        env={**environment, "THRESHER_HOME": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    (listed,) = [line for line in done.stderr.splitlines() if line.startswith("LOADED ")]
    return listed.removeprefix("LOADED ").split()


def crossings(folder: Path) -> list[str]:
    """The crossings of a question and of the same one again, each with the number of files that run."""
    (folder / "fees.md").write_text(TABLE, encoding="utf-8")
    asked = [sys.executable, "-c", CROSSED, str(folder)]
    return subprocess.run(asked, cwd=folder, capture_output=True, text=True, check=True).stdout.splitlines()


def names_defined(tree: ast.Module) -> Iterator[str]:
    """The functions, classes and constants of a file."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def in_several_files() -> int:
    """How many names the engine defines in more than one file."""
    trees = (ast.parse(file.read_text(encoding="utf-8")) for file in (ROOT / "src" / "thresher").rglob("*.py"))
    files = Counter(name for tree in trees for name in set(names_defined(tree)))
    return sum(number > 1 for number in files.values())


def size(*patterns: str) -> str:
    """Lines and files of the tracked files that match."""
    listed = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [ROOT / name for name in listed.stdout.split("\0") if name]
    return f"{sum(len(file.read_text(encoding='utf-8').splitlines()) for file in files)} lines, {len(files)} files"


def main() -> None:
    """Count and print."""
    with tempfile.TemporaryDirectory() as temporary:
        if sys.argv[1:] == ["path"]:
            entered_by(["index", "note.md"], Path(temporary))
            print(" > ".join(name.removeprefix("thresher.") for name in entered_by(["ask", QUESTION], Path(temporary))))
            return
    print("engine:", size("src/thresher/*.py"))
    print("published methods:", size("src/thresher_methods/*.py"))
    print("other distributions:", size("packages/*/src/*.py"))
    print("tests:", size("tests/*.py", "packages/*/tests/*.py"))
    print("benchmarks and research:", size("benchmarks/*.py", "research/*.py"))
    print(
        "settings of all recipes:", len({key for name in recipes.names() for key in keys(recipes.get(name).settings)})
    )
    print("names that stand in several files:", in_several_files())
    print("README:", len((ROOT / "README.md").read_text(encoding="utf-8")), "characters")
    with tempfile.TemporaryDirectory() as temporary:
        for name, (arguments, most) in COMMANDS.items():
            print(f"files entered by {name}:", len(entered_by(arguments, Path(temporary))), f"of {most}")
    with tempfile.TemporaryDirectory() as temporary:
        first, again = crossings(Path(temporary))
    print(f"crossings of file borders by a question: {first}; again: {again}")


if __name__ == "__main__":
    main()
