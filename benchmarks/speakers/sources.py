"""The documents that are asked: 25 papers, twelve office files and Debian's Developer's Reference; indexed once."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

import thresher
from benchmarks.machine import CACHE
from benchmarks.questions import documents

FOLDER = CACHE / "who_speaks"
HOME = FOLDER / "home"
MANUAL = FOLDER / "manual"
PACKAGE = "developers-reference"
READ_FROM = "12.18"
"""The version of the package the questions were written from; in another one an answer may differ."""

SHOWN = Path("usr/share/developers-reference")
NO_CHAPTERS = {"index.html", "search.html", "developers-reference.html", "genindex.html"}


def manual() -> list[Path]:
    """The chapters of the manual, fetched with apt where they are not there yet."""
    if not MANUAL.is_dir():
        unpacked = FOLDER / "package"
        shutil.rmtree(unpacked, ignore_errors=True)
        unpacked.mkdir(parents=True)
        subprocess.run(["apt-get", "download", PACKAGE], cwd=unpacked, check=True)
        (package,) = unpacked.glob("*.deb")
        if READ_FROM not in package.name:
            print(f"the questions were written from version {READ_FROM}, this is {package.name}")
        subprocess.run(["dpkg-deb", "-x", str(package), str(unpacked)], check=True)
        fetched = unpacked / "chapters"
        fetched.mkdir()
        for page in (unpacked / SHOWN).glob("*.html"):
            if page.name not in NO_CHAPTERS:
                shutil.copy(page, fetched)
        fetched.rename(MANUAL)
        shutil.rmtree(unpacked)
    return sorted(MANUAL.glob("*.html"))


def sources(collection: str) -> Sequence[Path]:
    """What is indexed for a collection."""
    return manual() if collection == "manual" else documents.sources(collection)


def index(collections: Iterable[str], recipes: Iterable[str]) -> None:
    """Index what an earlier run has not; remove the folder where chunks or vectors are made otherwise since."""
    file = FOLDER / "indexed.json"
    there: dict[str, list[str]] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    for name in collections:
        left = [recipe for recipe in recipes if recipe not in there.get(name, [])]
        if not left:
            continue
        with thresher.open(HOME, collection=name) as collection:
            collection.add(*sources(name), recipe=left)
        there[name] = [*there.get(name, []), *left]
        file.write_text(json.dumps(there), encoding="utf-8")
