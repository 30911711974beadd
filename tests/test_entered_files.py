"""How many files of ours a command enters: every one is time before the answer, and something to read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

BUDGETS = {
    "--help": (["--help"], 25),
    "index": (["index", "NOTE"], 105),
    "rag": (["ask", "Has the cellar light?", "--recipe", "rag"], 129),
    "ask": (["ask", "Has the cellar light?"], 143),
}
"""Files at most. Lower a number when fewer are entered; a higher one needs a reason: the last two are what tells
versions of a document apart."""


ENTERED = """
import atexit, sys
def told():
    ours = [name for name in sys.modules if name.split('.')[0] in ('thresher', 'thresher_evals')]
    sys.stderr.write(f'\\nLOADED {len(ours)}\\n')
atexit.register(told)
from thresher.cli.app import main
sys.argv[0] = 'thresher'
sys.exit(main(sys.argv[1:]))
"""


def loaded_by(arguments: list[str], home: Path) -> int:
    """How many files of ours a command has loaded when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", ENTERED, *arguments],
        env={**os.environ, "THRESHER_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    (told,) = [line for line in done.stderr.splitlines() if line.startswith("LOADED ")]
    return int(told.removeprefix("LOADED "))


def test_commands_enter_no_more_files_than_their_budgets(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("The cellar has no light. Bring a lamp.\n", encoding="utf-8")
    entered = {
        name: loaded_by([str(note) if one == "NOTE" else one for one in arguments], tmp_path)
        for name, (arguments, _) in BUDGETS.items()
    }
    assert {name: files for name, files in entered.items() if files > BUDGETS[name][1]} == {}
