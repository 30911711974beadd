"""`thresher demo`: Thresher's own documentation is indexed and asked, and an almanac to correct from."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from thresher.cli import output
from thresher.cli.options import AsJson, Home, open_collection, options_of, target_of
from thresher.cli.progress import indexing
from thresher.errors import StoreError
from thresher.tracing.explain import counted

COLLECTION = "demo"

OUTSIDE = "demo-almanac"
"""A second collection, from which the third question is corrected."""

QUESTIONS = (
    ("What happens to an input that cannot be read?", None),
    ("Which country won the football world cup in 1998?", None),
    ("Which country won the football world cup in 1998?", f"collection:{OUTSIDE}"),
)
"""Each with the place outside where a correction may come from: the second and third differ in nothing else."""


def samples() -> list[Path]:
    """README and the pages of docs, without the folders in it: the results of all measurements would take minutes."""
    folder = _folder()
    return [folder / "README.md", *sorted((folder / "docs").glob("*.md"))]


def almanac() -> Path:
    """The folder of the second collection."""
    return _folder() / "examples" / "almanac"


def _folder() -> Path:
    """Beside the package in an installation, the project's folder in a checkout."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "samples", package.parent.parent):
        if all((folder / name).exists() for name in ("README.md", "docs", "examples/almanac")):
            return folder
    raise StoreError(
        "the sample documents are not installed", next_step="reinstall thresher, or index your own documents"
    )


def demo(home: Home = None, json: AsJson = False) -> None:
    """Index the documentation that comes with Thresher; answer a question, refuse one, and correct one from outside."""
    home = target_of(home, COLLECTION, {}, json).home
    with open_collection(home, COLLECTION) as collection, open_collection(home, OUTSIDE) as outside:
        with indexing() as progress:
            report = collection.add(*samples(), prune=True, progress=progress)
            outside.add(almanac(), prune=True)
        answers = [(collection.ask(question, outside=place), place) for question, place in QUESTIONS]
    if json:
        output.as_json({"index": report, "answers": [answer for answer, _ in answers]})
        return
    indexed = counted(report.added + report.updated + report.unchanged, "document")
    output.say(f"Indexed {indexed} of Thresher's own in {report.seconds:.1f} s.")
    options = options_of(home, COLLECTION)
    for answer, place in answers:
        output.say()
        where = "" if place is None else f" --outside {place}"
        output.say(f"$ thresher ask{options}{where} {answer.question!r}")
        output.answer(answer, steps=True, options=options)
    command = called_as()
    output.say()
    output.say("Your own documents:")
    output.say(f"$ {command} index FOLDER")
    output.say(f'$ {command} ask "A question?"')


def called_as() -> str:
    """What to type to call this command: its name where the shell finds it, else the file."""
    here, found = Path(sys.argv[0]), shutil.which("thresher")
    if not here.exists() or (found and Path(found).samefile(here)):
        return "thresher"
    return os.path.relpath(here)
