"""Every table of README.md and docs/results, made again where what it measures has changed: `make evidence`.

    .venv/bin/python -m benchmarks.everything           the oldest first; what was made is not made again
    .venv/bin/python -m benchmarks.everything --list    what would be made, with minutes of two idle cores

The comment beside a table (`benchmarks.stale`) has its command. Most commands write their pages. Of the others the
Markdown tables that they print, or else all of it, take the place of what stands below the comment.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import overview
from benchmarks.machine import ROOT
from benchmarks.seeds import page
from benchmarks.seeds.rows import Provenance
from benchmarks.stale import Measured, comment, stale

HOURS = 10
"""Of two cores, for all of it."""


@dataclass(frozen=True)
class Step:
    """How a table is made, by the command of its comment."""

    minutes: int
    """At most so many on two idle cores, as far as was seen: only what fits is begun."""
    before: Sequence[str] = ()
    """Commands of `python -m` that come before it."""
    writes: bool = True
    """Whether the command writes its page."""


ASKED = [f"benchmarks.quality --recipe {name} --sets papers manuals --write" for name in ("hybrid", "rag", "crag")]
GROWN = "benchmarks.growth measure --sizes 10000 100000 1000000 --label now"
REAL = (
    'python -m benchmarks.real_model --variants no-retrieval "rag, unchecked" rag hybrid ecrag "crag, judge=trained"'
    " corrective"
)
REAL_TABLES = (
    "python -m benchmarks.real_tables --sets popqa-longtail"
    " --recipes no-retrieval rag crag-paper corrective --sample 50"
)
PROPOSED = "research.answer_certainty ask --out benchmarks/.cache/proposals.jsonl"
SEEDS = "python -m benchmarks.seeds --measure"

STEPS = {
    "python -m benchmarks.evidence": Step(70),
    "python -m benchmarks.quality --page": Step(25, ("benchmarks.quality --write", *ASKED)),
    "python -m benchmarks.quality --worth": Step(30),
    "python -m benchmarks.claims --write": Step(3),
    "python -m benchmarks.exchanged --write": Step(3),
    f"{SEEDS} crag-variants": Step(8),
    f"{SEEDS} crag-robustness": Step(8),
    f"{SEEDS} redundancy": Step(3),
    f"{SEEDS} relevance": Step(3),
    f"{SEEDS} evaluator": Step(3),
    f"{SEEDS} blog": Step(1),
    f"{SEEDS} report": Step(4),
    f"{SEEDS} figure-7": Step(2),
    f"{SEEDS} hallucinations": Step(3),
    f"{SEEDS} growth": Step(2),
    f"{SEEDS} crag-costs": Step(2),
    "python -m benchmarks.certified --write": Step(70, ("benchmarks.certified ask --again",)),
    "python -m benchmarks.where --abstracts 80 --papers 2 --questions 12 --write": Step(2),
    "python -m benchmarks.checker --final": Step(10, writes=False),
    overview.LIBRARIES: Step(25),
    "python -m benchmarks.token_budget": Step(8, writes=False),
    "python -m benchmarks.growth table --stores lance --label now": Step(15, (GROWN,), writes=False),
    "python -m benchmarks.fidelity /usr/share/doc --most 300": Step(5, writes=False),
    "python -m benchmarks.languages": Step(2, writes=False),
    "python -m benchmarks.postgres": Step(1, writes=False),
    "python -m benchmarks.postgres neighbours questions": Step(5, writes=False),
    "python -m benchmarks.bucket": Step(10, writes=False),
    "python -m benchmarks.server.load": Step(6, writes=False),
    "python -m research.answer_certainty fit benchmarks/.cache/proposals.jsonl": Step(30, (PROPOSED,), writes=False),
    REAL: Step(175, writes=False),
    REAL_TABLES: Step(45, writes=False),
    "python -m benchmarks.real_model --labels": Step(1, writes=False),
    "python -m research.judge evaluator": Step(10, writes=False),
    "python -m research.reader squad --final": Step(10, writes=False),
}
"""The command of a comment to how it is made."""


def due(root: Path) -> dict[str, list[Measured]]:
    """The commands whose tables are older than what they measure, the oldest first, with those tables."""
    found: dict[str, list[Measured]] = {}
    for one in sorted(stale(root), key=lambda one: one.measured.date):
        if one.measured.page == "README.md" or one.measured.page.startswith("docs/results/"):
            found.setdefault(one.measured.by, []).append(one.measured)
    return found


def put(root: Path, tables: Sequence[Measured], printed: str, made: Provenance) -> None:
    """Put what a command printed below its comments: its Markdown tables in turn, or else all of it."""
    blocks = re.findall(r"(?:^\|.*\n?)+", printed, re.MULTILINE) or [f"```text\n{printed.strip()}\n```"]
    for one, block in zip(tables, [*blocks, *blocks[-1:] * len(tables)], strict=False):
        file = root / one.page
        text = file.read_text(encoding="utf-8")
        old = comment(one.commit, one.date, one.by, one.of)
        before, _, after = text.partition(old)
        above, line, _ = before.rstrip().rpartition("\n")
        rest = re.sub(r"\A\s*(?:(?:\|[^\n]*\n)+|```text\n.*?\n```\n)", "", after, count=1, flags=re.DOTALL)
        new = comment(made.commit, made.date, one.by, one.of)
        state = f"Measured on {made.date} at `{made.commit}`."
        file.write_text(f"{above}{line}{state}\n\n{new}\n\n{block.strip()}\n{rest}", encoding="utf-8")


def make(by: str, tables: Sequence[Measured]) -> bool:
    """Run what makes some tables; whether all of it ended well."""
    step, made = STEPS[by], Provenance.now()
    for command in step.before:
        if subprocess.run([sys.executable, "-m", *shlex.split(command)], cwd=ROOT, check=False).returncode:
            return False
    out = None if step.writes else subprocess.PIPE
    done = subprocess.run([sys.executable, *shlex.split(by)[1:]], cwd=ROOT, check=False, stdout=out, text=True)
    if done.returncode == 0 and not step.writes:
        put(ROOT, tables, done.stdout, made)
    return done.returncode == 0


def lines(found: dict[str, list[Measured]]) -> Iterator[str]:
    """What is due, for people."""
    for by, tables in found.items():
        minutes = f"{STEPS[by].minutes:4} min" if by in STEPS else "   no step"
        yield f"{minutes}  {by}  ({', '.join(dict.fromkeys(one.page for one in tables))}, of {tables[0].date})"


def main() -> int:
    """Make what is due, as long as there is time; 1 where something is left."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="make nothing")
    parser.add_argument("--hours", type=float, default=HOURS, help="begin nothing that would end later")
    given = parser.parse_args()
    found = due(ROOT)
    print(*lines(found), f"{len(found)} commands are due", sep="\n", flush=True)
    if given.list:
        return 0
    started, left = time.monotonic(), []
    for by, tables in found.items():
        fits = by in STEPS and (time.monotonic() - started) / 60 + STEPS[by].minutes <= 60 * given.hours
        if not fits or not make(by, tables):
            left.append(by)
    page.write()
    overview.write()
    print(*(f"not made: {by}" for by in left), sep="\n")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
