"""Which numbers of README and docs are older than the last change of what they measure.

python -m benchmarks.stale            # lists them
python -m benchmarks.stale --strict   # and exits with 1 where one is too old

A measured table has a comment above or below it that no reader sees:

<!-- measured: COMMIT DATE; by: COMMAND; of: PATH PATH ... -->

COMMIT is the state that was measured or, where nobody wrote that down, the commit that wrote the number; PATHS are the
files and folders whose change may change the number. `dated; ` before `by` says that the number is of that state, which
the line above the comment shows ("Measured on DATE at `COMMIT`."): a measurement of hours is not repeated for every
change. A page that a command writes whole has one comment, at its end.

A landing is a later day (of commits, UTC) on which a commit changed one of the paths. A table that is not dated is too
old after the first change, a dated one after five landings: `make evidence` makes it again, or it goes.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import ROOT

LANDINGS = 5
"""Of these a dated table bears fewer."""

ANSWERS = (
    *(f"src/thresher/{room}" for room in ("retrieval", "judging", "refinement", "correction", "answering", "text")),
    *(f"src/thresher/{room}" for room in ("structure", "question", "recipes", "chunking", "models/weights")),
    "src/thresher_methods",
)
"""What decides an answer without a chat model."""

_LINE = re.compile(r"<!-- measured:.*?-->", re.DOTALL)
_READ = re.compile(
    r"<!-- measured: (?P<commit>[0-9a-f]{7,40}) (?P<date>\d{4}-\d\d-\d\d); (?P<dated>dated; )?"
    r"by: (?P<by>[^;]+); of: (?P<of>\S+(?: \S+)*) -->"
)


class Unreadable(ValueError):
    """A comment that does not say what was measured when, or names a commit that is not there."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What a comment says of the numbers below it."""

    page: str
    line: int
    commit: str
    date: str
    by: str
    of: tuple[str, ...]
    dated: bool
    """Whether the page shows commit and date, so that the numbers claim nothing of today."""


@dataclass(frozen=True, slots=True)
class Stale:
    """Numbers, and the changes since of what they measure."""

    measured: Measured
    changes: int
    last: str
    """The last of them: commit and date."""
    landings: int

    @property
    def too_old(self) -> bool:
        """Whether the numbers have to be measured again, or to go."""
        return self.landings >= LANDINGS or not self.measured.dated

    def __str__(self) -> str:
        one = self.measured
        commits = f"{self.changes} commit{'s' * (self.changes != 1)}"
        landings = f"{self.landings} landing{'s' * (self.landings != 1)}"
        return (
            f"{one.page}:{one.line}: of {one.date} ({one.commit}); {commits} since in {landings} to "
            f"{', '.join(one.of)}, the last {self.last}; again: {one.by}"
        )


def comment(commit: str, date: str, by: str, of: Iterable[str]) -> str:
    """The comment below a line that shows the state; `+` behind a commit says that it had been changed."""
    return f"<!-- measured: {commit.rstrip('+')} {date}; dated; by: {by}; of: {' '.join(of)} -->"


def footing(commit: str, date: str, by: str, of: Iterable[str]) -> str:
    """What a command writes below its tables: state and command for readers, and the comment."""
    return f"*Measured on {date} at `{commit}`; `{by}`.*\n\n{comment(commit, date, by, of)}"


def measured(root: Path) -> Iterator[Measured]:
    """The comments of README.md and docs/, page by page. Unreadable for one that is not as it should be."""
    for page in (root / "README.md", *sorted((root / "docs").rglob("*.md"))):
        yield from measured_on(page, page.relative_to(root).as_posix())


def measured_on(page: Path, name: str) -> Iterator[Measured]:
    """The comments of a page, in order. Unreadable for one that is not as it should be."""
    text = page.read_text(encoding="utf-8")
    for found in _LINE.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        read = _READ.fullmatch(found[0])
        if read is None:
            raise Unreadable(f"{name}:{line}: write <!-- measured: COMMIT DATE; by: COMMAND; of: PATH PATH -->")
        above = text[: found.start()].rstrip().rpartition("\n")[2]
        if read["dated"] and not (read["commit"] in above and read["date"] in above):
            shown = f"Measured on {read['date']} at `{read['commit']}`."
            raise Unreadable(f"{name}:{line}: is dated, so write above it: {shown}")
        of, dated = tuple(read["of"].split()), read["dated"] is not None
        yield Measured(name, line, read["commit"], read["date"], read["by"], of, dated)


def stale(root: Path) -> list[Stale]:
    """The numbers whose paths changed after they were measured.

    Unreadable for a commit that is not an ancestor, and for a path that is gone: nothing changes it any more.
    """
    found = []
    for one in measured(root):
        place = f"{one.page}:{one.line}"
        if _git(root, "merge-base", "--is-ancestor", one.commit, "HEAD") is None:
            raise Unreadable(f"{place}: {one.commit} is no commit before this one")
        for path in one.of:
            if not _git(root, "log", "-1", "--format=%h", "--", path):
                raise Unreadable(f"{place}: no commit ever changed {path}")
            if not (root / path).exists():
                raise Unreadable(f"{place}: {path} is gone; name what took its place")
        if changes := changed_since(root, one.commit, one.of):
            days = {change.rpartition(" ")[2] for change in changes} - {_day(root, one.commit)}
            found.append(Stale(one, len(changes), changes[0], len(days)))
    return found


def changed_since(root: Path, commit: str, of: Iterable[str]) -> list[str]:
    """The commits after one that changed some paths, the last first: commit and date."""
    shown = ("log", "--date=format-local:%Y-%m-%d", "--format=%h of %cd")
    return (_git(root, *shown, f"{commit}..HEAD", "--", *of) or "").splitlines()


def written(root: Path, path: Path) -> tuple[str, str]:
    """The commit that wrote what a file holds, and its day: this one where the file is not committed as it is."""
    changed = _git(root, "status", "--porcelain", "--", str(path))
    of = () if changed else ("--", str(path))
    commit, _, day = (_git(root, "log", "-1", "--abbrev=8", "--format=%h %cs", *of) or "").strip().partition(" ")
    return commit, day


def _day(root: Path, commit: str) -> str:
    return (_git(root, "log", "-1", "--date=format-local:%Y-%m-%d", "--format=%cd", commit) or "").strip()


def _git(root: Path, *arguments: str) -> str | None:
    """What git says, days in UTC; None where it fails."""
    utc = {**os.environ, "TZ": "UTC"}
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False, env=utc)
    return None if done.returncode else done.stdout


def main(arguments: list[str] | None = None) -> int:
    """Print what is stale; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.stale",
        description="Numbers older than what they measure.",
        epilog="A landing is a later day (of commits, UTC) on which a commit changed what was measured.",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help=f"exit with 1 where a table is too old: {LANDINGS} landings, or any change of one that is not dated",
    )
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout")
    options = parser.parse_args(arguments)
    if (_git(options.root, "rev-parse", "--is-shallow-repository") or "true").strip() == "true":
        print("the history is not here: no number can be held against it")
        return 0
    try:
        found, all_ = stale(options.root), list(measured(options.root))
    except Unreadable as error:
        print(error)
        return 2
    for one in found:
        print("too old" if one.too_old else "older", one)
    old = sum(one.too_old for one in found)
    print(f"{len(found)} of {len(all_)} measured tables are older than what they measure, {old} too old")
    return 1 if old and options.strict else 0


if __name__ == "__main__":
    sys.exit(main())
