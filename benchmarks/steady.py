"""Thousands of questions to one opened collection: whether memory, open files and threads stay what they are.

    .venv/bin/python -m benchmarks.steady [--questions 5000] [--recipe corrective]

Over 300 paragraphs of SQuAD without a chat model, each question a different one as long as there are. Looked at after
every hundredth question: resident memory, open files, threads, and bytes of the home. The first tenth warms caches;
growth is that of the medians of the second and the last tenth.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import tempfile
import threading
from pathlib import Path

import thresher
from benchmarks.machine import keep, tell
from benchmarks.server.askers import squad, written

LOOK = 100
PAGE = os.sysconf("SC_PAGE_SIZE")


def seen(home: Path) -> dict[str, float]:
    """What the process and its home hold now."""
    return {
        "memory, MiB": int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * PAGE / 2**20,
        "open files": len(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
        "home, MiB": sum(file.stat().st_size for file in home.rglob("*") if file.is_file()) / 2**20,
    }


def main() -> None:
    """Ask, look, and keep what was seen."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=5_000)
    parser.add_argument("--recipe", default="corrective")
    given = parser.parse_args()
    tell()
    paragraphs, questions = squad(300)
    looks, refused = [], 0
    with tempfile.TemporaryDirectory(prefix="thresher-steady-") as folder:
        home, texts = Path(folder) / "home", written(Path(folder) / "texts", paragraphs)
        with thresher.open(home) as collection:
            collection.add(texts, recipe=given.recipe)
            for number, question in enumerate(itertools.islice(itertools.cycle(questions), given.questions), start=1):
                refused += collection.ask(question, recipe=given.recipe).abstained
                if number % LOOK == 0:
                    looks.append(seen(home))
                    print(number, {name: round(value, 1) for name, value in looks[-1].items()}, flush=True)
    tenth = max(1, len(looks) // 10)
    found = {
        name: [
            round(statistics.median(one[name] for one in part), 1)
            for part in (looks[tenth : 2 * tenth], looks[-tenth:])
        ]
        for name in looks[0]
    }
    print(f"second and last tenth of {given.questions} questions, {refused} of them refused: {found}")
    keep(
        "steady",
        {"questions": given.questions, "recipe": given.recipe, "refused": refused, "second and last tenth": found},
    )


if __name__ == "__main__":
    main()
