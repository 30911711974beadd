"""How many files of ours a command enters: every one is time before the answer, and something to read."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from research.structure import loaded_by

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
BUDGETS = {
    "--help": (["--help"], 25),
    "index": (["index", "NOTE"], 105),
    "rag": (["ask", "Has the cellar light?", "--recipe", "rag"], 129),
    "ask": (["ask", "Has the cellar light?"], 143),
}
"""Files at most. Lower a number when fewer are entered; a higher one needs a reason: the last two are what tells
versions of a document apart."""


def test_commands_enter_no_more_files_than_their_budgets(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("The cellar has no light. Bring a lamp.\n", encoding="utf-8")
    entered = {
        name: loaded_by(
            ROOT, Path(sys.executable), [str(note) if one == "NOTE" else one for one in arguments], tmp_path
        )
        for name, (arguments, _) in BUDGETS.items()
    }
    assert {name: counted["files"] for name, counted in entered.items() if counted["files"] > BUDGETS[name][1]} == {}
