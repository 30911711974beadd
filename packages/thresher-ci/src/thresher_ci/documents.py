"""States of documents: a folder as it is, the folder at a git ref, another home, or what was recorded.

A folder and its git refs are copied, one after the other, to the same place below the home and indexed there, so that
sources have the same names in every state and only what differs is read and encoded again:

    HOME/ci/documents        the state that was asked last
    HOME/ci/runs             what became of the questions, by the state
    HOME/ci/readings.json    what the judge read, see `readings`
    HOME/ci/report.json      what the last run found, for the page of the server
    HOME/collections/ci      the index of `documents`, a collection as any other, so that the home's settings count
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from thresher import Collection
from thresher.errors import StoreError, UsageError
from thresher.home.places import LocalFiles, make_folder
from thresher.recipes.components import Models
from thresher_ci.outcome import Outcome
from thresher_ci.readings import Readings

FORMAT = 2
"""Of a recorded run."""

KEPT = 20
"""Runs that are kept; the oldest go first."""

LAST = "last"

REPORT = "report.json"

COLLECTION = "ci"
"""Of a home: the copied state, indexed."""


class Workplace:
    """The folder in which states of documents are indexed and runs are recorded."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder = home.absolute() / "ci"
        self.documents = self.folder / "documents"
        self.runs = self.folder / "runs"
        self.readings = Readings(LocalFiles(self.folder))

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Inside, no other process works here; what was read there is kept, also of a run that was interrupted.

        Raises StoreError at once where another process works here.
        """
        make_folder(self.documents)
        make_folder(self.runs)
        try:
            with FileLock(self.folder / "lock", timeout=0):
                try:
                    yield
                finally:
                    self.readings.save()
        except Timeout as error:
            what, advice = "another `thresher ci` is at work here", "wait for it"
            raise StoreError(what, subject=str(self.folder), next_step=advice) from error

    def relative(self, source: str) -> str:
        """A source below the folder of documents."""
        return source.removeprefix(f"{self.documents}{os.sep}")

    def collection(self) -> Collection:
        """The collection of the copied state."""
        return Collection(self.home, COLLECTION, models=Models(remember=self.readings))

    def show(self, files: Mapping[str, Path]) -> None:
        """Make the copied state that of these files, by their relative paths; what is the same is left alone."""
        for old in sorted(self.documents.rglob("*"), reverse=True):
            if old.is_dir() and not old.is_symlink():
                if not any(old.iterdir()):
                    old.rmdir()
            elif str(old.relative_to(self.documents)) not in files:
                old.unlink()
        for name, file in files.items():
            target = self.documents / name
            if not target.exists() or target.read_bytes() != file.read_bytes():
                if target.is_dir():
                    shutil.rmtree(target)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)

    # --- recorded runs

    def record(self, state: str, outcomes: Sequence[Outcome]) -> None:
        """Keep a whole run, as that of a state and as the last one."""
        run = {"format": FORMAT, "state": state, "outcomes": [one.to_dict() for one in outcomes]}
        for name in (state, LAST):
            LocalFiles(self.runs).write(f"{name}.json", json.dumps(run, ensure_ascii=False).encode())
        kept = sorted(self.runs.glob("*.json"), key=lambda file: file.stat().st_mtime)
        for old in kept[:-KEPT]:
            old.unlink()

    def show_on_page(self, report: Mapping[str, Any], collection: str) -> None:
        """Keep what the last run found, with the collection whose sentences it quotes."""
        told = {**report, "collection": collection, "finished": datetime.now(UTC).isoformat(timespec="seconds")}
        LocalFiles(self.folder).write(REPORT, json.dumps(told, ensure_ascii=False).encode())

    def recorded(self, name: str) -> dict[str, Outcome]:
        """The outcomes of a recorded run by their questions. Raises StoreError for one of another version."""
        file = self.runs / f"{name}.json"
        try:
            stored: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            if stored["format"] != FORMAT:
                raise KeyError("format")
            return {one["question"]: Outcome.from_dict(one) for one in stored["outcomes"]}
        except FileNotFoundError:
            return {}
        except (ValueError, KeyError, TypeError) as error:
            what = "was recorded by another version, or is damaged"
            raise StoreError(what, subject=str(file), next_step="delete the file, then run again") from error

    def known(self) -> dict[str, Outcome]:
        """The outcomes of all recorded runs by their footprints; runs of another version are passed over."""
        found: dict[str, Outcome] = {}
        for file in sorted(self.runs.glob("*.json")):
            try:
                found |= {one.footprint: one for one in self.recorded(file.stem).values() if one.footprint}
            except StoreError:
                continue
        return found


# --- the files of a state ---------------------------------------------------------------------------------------------


def files_of(folder: Path, *, without: Path) -> dict[str, Path]:
    """The files of a folder by their relative paths, hidden ones and the file of expectations left out."""
    if not folder.is_dir():
        raise UsageError("is no folder", subject=str(folder), next_step="give the folder of the documents")
    names = {str(file.relative_to(folder)): file for file in sorted(folder.rglob("*")) if file.is_file()}
    return {
        name: file
        for name, file in names.items()
        if not any(part.startswith(".") for part in Path(name).parts) and file.absolute() != without.absolute()
    }


@contextmanager
def files_at(folder: Path, ref: str, *, without: Path) -> Iterator[dict[str, Path]]:
    """The same at a git ref, in a folder that goes with the context. Raises UsageError for a ref that is none."""
    commit = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    if commit is None:
        what, advice = "is no git ref here, no home and no recorded run", f"see git -C {folder} log"
        raise UsageError(what, subject=f"`against` {ref}", next_step=advice)
    prefix = (_git(folder, "rev-parse", "--show-prefix") or b"").decode().strip().rstrip("/")
    top = (_git(folder, "rev-parse", "--show-toplevel") or b"").decode().strip()
    packed = _git(Path(top), "archive", f"{commit.decode().strip()}:{prefix}")
    if packed is None:
        raise UsageError("has no such folder", subject=f"git ref {ref}", next_step=f"check {prefix or folder}")
    with tempfile.TemporaryDirectory(prefix="thresher-ci-") as place:
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extraction_filter = getattr(tarfile, "data_filter", None)  # a Python before 3.11.4 has none
            archive.extractall(place)
        inside = Path(place) / os.path.relpath(without.absolute(), folder.absolute())
        yield files_of(Path(place), without=inside)


def _git(folder: Path, *arguments: str) -> bytes | None:
    """What git prints; None where it fails."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=False)
    except FileNotFoundError as error:
        raise UsageError("is not installed", subject="git", next_step="install it to compare with a ref") from error
    return done.stdout if done.returncode == 0 else None


def contents(files: Mapping[str, Path]) -> str:
    """Fingerprint of files: their paths and their bytes."""
    found = hashlib.sha256()
    for name, file in sorted(files.items()):
        found.update(name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()
