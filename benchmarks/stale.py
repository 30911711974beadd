"""Which numbers of README and docs are older than the last change of what they measure.

python -m benchmarks.stale            # lists them
python -m benchmarks.stale --strict   # and exits with 1 where one that claims to be current is

A table of measured numbers has a comment above it that no reader sees:

<!-- measured: COMMIT DATE; by: COMMAND; of: PATH PATH ... -->

COMMIT is the state that was measured or, where nobody wrote that down, the commit that wrote the number; PATHS are the
files and folders whose change may change the number. `dated; ` before `by` says that the number is of that state and of
no later one, which the line above the comment shows ("Measured on DATE at `COMMIT`."): a measurement of hours is
not repeated for every change. A page that a command writes whole has no comment.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import ROOT

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

    def __str__(self) -> str:
        one = self.measured
        commits = f"{self.changes} commit{'s' * (self.changes != 1)}"
        return (
            f"{one.page}:{one.line}: of {one.date} ({one.commit}); {commits} since to {', '.join(one.of)}, "
            f"the last {self.last}; again: {one.by}"
        )


def measured(root: Path) -> Iterator[Measured]:
    """The comments of README.md and docs/, page by page. Unreadable for one that is not as it should be."""
    for page in (root / "README.md", *sorted((root / "docs").rglob("*.md"))):
        text, name = page.read_text(encoding="utf-8"), page.relative_to(root).as_posix()
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
    """The numbers whose paths changed after they were measured. Unreadable for a commit that is not an ancestor."""
    found = []
    for one in measured(root):
        place = f"{one.page}:{one.line}"
        if _git(root, "merge-base", "--is-ancestor", one.commit, "HEAD") is None:
            raise Unreadable(f"{place}: {one.commit} is no commit before this one")
        for path in one.of:
            if not _git(root, "log", "-1", "--format=%h", "--", path):
                raise Unreadable(f"{place}: no commit ever changed {path}")
        changes = (_git(root, "log", "--format=%h of %cs", f"{one.commit}..HEAD", "--", *one.of) or "").splitlines()
        if changes:
            found.append(Stale(one, len(changes), changes[0]))
    return found


def _git(root: Path, *arguments: str) -> str | None:
    """What git says; None where it fails."""
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    return None if done.returncode else done.stdout


def main(arguments: list[str] | None = None) -> int:
    """Print what is stale; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.stale", description="Numbers older than what they measure."
    )
    parser.add_argument("--strict", action="store_true", help="exit with 1 where a number that is not dated is stale")
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
    current = [one for one in found if not one.measured.dated]
    for one in found:
        print("dated" if one.measured.dated else "stale", one)
    claiming = sum(not one.dated for one in all_)
    print(
        f"{len(current)} of {claiming} measured tables that claim to be current are older than what they measure; ",
        end="",
    )
    print(f"{len(found) - len(current)} of {len(all_) - claiming} dated ones")
    return 1 if current and options.strict else 0


if __name__ == "__main__":
    sys.exit(main())
