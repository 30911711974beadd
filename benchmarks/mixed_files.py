"""A run of `index` over thousands of mixed files: stopped three times, taken up again, and done again after changes.

    .venv/bin/python -m benchmarks.mixed_files [--files 5000] [--work FOLDER]

The files are pieces of the documentation of this machine's packages (/usr/share/doc) in nine formats, and those of
`benchmarks.kinds`. Each piece has a serial number of its own, so that it is known which version of a file answers. The
program stops the command with SIGINT, SIGTERM and SIGKILL, then changes 200 files, moves 100, deletes 100 (of 5,000)
and indexes again. A row says what was read, seconds, and the most memory.
"""

from __future__ import annotations

import gzip
import html
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

import thresher
from benchmarks import kinds
from thresher.types import SearchResult

SOURCES = Path("/usr/share/doc")
PIECE = 450
"""Characters of a file: the run is about files, not about their length."""

FOLDERS = 50
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
LOOK_SECONDS = 0.2

FORMS: dict[str, Callable[[str, str], str]] = {
    ".txt": lambda title, text: f"{title}\n\n{text}\n",
    ".md": lambda title, text: f"# {title}\n\n{text}\n",
    ".html": lambda title, text: f"<html><body><h1>{title}</h1><p>{html.escape(text)}</p></body></html>",
    ".csv": lambda title, text: "note,words\n" + "".join(f'{title},"{one}"\n' for one in text.split()[:40:8]),
    ".json": lambda title, text: json.dumps({"title": title, "text": text}),
    ".eml": lambda title, text: f"From: Ada <a@x.org>\nSubject: {title}\n\n{title}\n{text}\n",
    ".rst": lambda title, text: f"{title}\n{'=' * len(title)}\n\n{text}\n",
    ".srt": lambda title, text: f"1\n00:00:01,000 --> 00:00:04,000\n{title} {text[:80]}\n",
    ".ipynb": lambda title, text: json.dumps({"cells": [{"cell_type": "markdown", "source": [f"# {title}\n", text]}]}),
}


def serial(number: int, version: int = 1) -> str:
    """A word that one version of one file holds."""
    return f"N{number:05}V{version}"


def pieces() -> Iterator[str]:
    """Texts of the packages' documentation, each of about `PIECE` characters."""
    for path in sorted(SOURCES.rglob("*")):
        if path.is_file() and path.suffix in ("", ".gz", ".txt", ".md", ".rst"):
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            text = " ".join(re.sub(r"[^\x20-\x7e]+", " ", data.decode(errors="replace")).replace('"', "'").split())
            yield from (text[at : at + PIECE] for at in range(0, min(len(text) - PIECE, 20 * PIECE), PIECE))


def make(folder: Path, number: int) -> list[Path]:
    """So many files; the place of a file is that of its serial number."""
    files = []
    for at, (text, ending) in enumerate(zip(cycle(pieces()), cycle(FORMS), strict=False)):
        if at == number:
            break
        file = folder / f"{at % FOLDERS:02}" / f"note{at:05}{ending}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(FORMS[ending](f"Note {serial(at)}", f"{text} {at}"), encoding="utf-8")
        files.append(file)
    special = folder / "kinds"
    special.mkdir()
    for case in (*kinds.csvs(), *kinds.sheets(), *kinds.pdfs(), *kinds.mails(), *kinds.others()):
        (special / case.name).write_bytes(case.data)
    return files


def rewrite(file: Path, number: int, version: int) -> None:
    """Give a file its next serial number."""
    file.write_text(file.read_text(encoding="utf-8").replace(serial(number), serial(number, version)), encoding="utf-8")


class Run:
    """One `index` as a process, its progress and its memory followed."""

    def __init__(self, folder: Path, home: Path, errors: Path) -> None:
        self.began, self.most, self.errors = time.monotonic(), 0, errors
        command = [sys.executable, "-m", "thresher", "index", str(folder), "--prune", "--home", str(home), "--json"]
        with errors.open("wb") as told:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=told)

    def until(self, share: float) -> bool:
        """Wait until so much is read; whether it came to that before the end."""
        while self.process.poll() is None:
            self._look()
            shares = re.findall(r"(\d+)% read", self.errors.read_text(errors="replace"))
            if shares and int(shares[-1]) >= share * 100:
                return True
            time.sleep(LOOK_SECONDS)
        return False

    def stop(self, sign: signal.Signals) -> int:
        """Send a signal and wait; the exit status."""
        os.kill(self.process.pid, sign)
        self.process.communicate()
        return self.process.returncode

    def report(self) -> dict[str, int]:
        """Wait for the end; what was done."""
        while self.process.poll() is None:
            self._look()
            time.sleep(LOOK_SECONDS)
        assert self.process.stdout is not None
        told: dict[str, int] = json.load(self.process.stdout)
        return {name: told[name] for name in ("added", "updated", "unchanged", "duplicates", "renamed", "removed")} | {
            "not read": len(told["failed"])  # type: ignore[arg-type]
        }

    def row(self, what: str, told: object) -> None:
        """Print a row."""
        seconds, memory = time.monotonic() - self.began, self.most / 1024
        print(f"| {what} | {told} | {seconds:.0f} s | {memory:.0f} MB |", flush=True)

    def _look(self) -> None:
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError:  # ended meanwhile
            return
        if found := re.search(r"VmHWM:\s+(\d+)", status):
            self.most = max(self.most, int(found[1]))


def described(report: dict[str, int]) -> str:
    """The counts of a report, those of 0 left out."""
    return ", ".join(f"{number} {name}" for name, number in report.items() if number)


def answering(home: Path, serials: list[str]) -> list[str]:
    """Those of the serial numbers that a search finds, in a passage that it keeps or drops."""
    with thresher.open(home) as collection:
        return [one for one in serials if one in _found(collection.search(one, limit=20))]


def _found(result: SearchResult) -> str:
    return " ".join(hit.chunk.titled for hit in (*result.hits, *(one.hit for one in result.dropped)))


def main(number: int, work: Path) -> int:
    """Everything, in order; the number of things that went wrong."""
    folder, home, errors = work / "files", work / "home", work / "progress.txt"
    files = make(folder, number)
    chosen = random.Random(0).sample(range(number), number * 400 // 5000)
    changed, moved, deleted = chosen[::2], chosen[1::4], chosen[3::4]
    print(f"{number} files in {len(FORMS)} formats and {len(list((folder / 'kinds').iterdir()))} of benchmarks.kinds\n")
    print("| run | what was done | time | memory |\n|---|---|---|---|")
    wrong = 0
    for at, sign in enumerate(STOPS, start=1):
        run = Run(folder, home, errors)
        stopped = run.until(at / (len(STOPS) + 1))
        status = run.stop(sign)
        wrong += not stopped
        run.row(f"stopped by {sign.name} at {at * 25} %", f"exit status {status}")
    lines = [line for line in errors.read_text(errors="replace").splitlines() if "read" in line]
    run = Run(folder, home, errors)
    report = run.report()
    run.row("taken up again, to the end", described(report))
    run = Run(folder, home, errors)
    again = run.report()
    run.row("nothing changed", described(again))
    wrong += bool(again["added"] or again["updated"] or again["removed"])
    for one in changed:
        rewrite(files[one], one, 2)
    for one in moved:
        place = folder / "moved" / files[one].name
        place.parent.mkdir(exist_ok=True)
        shutil.move(files[one], place)
    for one in deleted:
        files[one].unlink()
    run = Run(folder, home, errors)
    after = run.report()
    run.row(f"{len(changed)} changed, {len(moved)} moved, {len(deleted)} deleted", described(after))
    expected = again["unchanged"] - len(changed) - len(moved) - len(deleted)
    wrong += (after["updated"], after["unchanged"], after["not read"]) != (len(changed), expected, again["not read"])
    gone = answering(home, [serial(one) for one in (*changed, *deleted)])
    there = answering(home, [*(serial(one, 2) for one in changed), *(serial(one) for one in moved)])
    wrong += bool(gone) + (len(there) < len(changed) + len(moved))
    doctor = subprocess.run(
        [sys.executable, "-m", "thresher", "doctor", "--check", "--home", str(home)], capture_output=True, text=True
    )
    wrong += doctor.returncode != 0
    print(f"\nOf {len(changed) + len(deleted)} texts that are gone {len(gone)} are found;")
    print(f"of {len(changed) + len(moved)} that changed or moved {len(there)} are found.")
    print(f"`doctor`: {doctor.stdout.strip().splitlines()[-1]}.")
    print(f"A line of the progress: {lines[-1].strip() if lines else '-'}")
    return wrong


if __name__ == "__main__":
    parser = ArgumentParser(prog="python -m benchmarks.mixed_files", description=__doc__)
    parser.add_argument("--files", type=int, default=5000, help="files to make (default: 5000)")
    parser.add_argument("--work", type=Path, help="folder to work in; a temporary one if not given")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(main(wanted.files, wanted.work or Path(temporary)) > 0)
