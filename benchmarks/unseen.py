"""What a question costs beside large files that it does not show.

    python -m benchmarks.unseen [--megabytes 0.1 1] [--engine TREE ...]

A handbook of a page lies beside a JSON file, a plain text and a sheet of so many megabytes each; three questions are
asked about the handbook, one of them with an identifier. Every engine answers in a process of its own. The encoder is
the hashing one, so that indexing is quick; the judge is the bundled one. Processor milliseconds of each question are
the medians of some rounds, in a warm collection; `first` is the first question of the process.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from benchmarks.machine import ROOT, engine_of

HANDBOOK = """# Harbour handbook

## Moorings

A mooring for one night costs 24 euros. Guests sign the book at the office before 18:00.

## Fuel

The fuel berth is open from 08:00 to 17:00. Diesel is sold in cans of twenty litres.

## Errors of the gate

E-0401: The gate does not close. Press the green button for five seconds.
E-0402: The card is not read. Clean the reader with a dry cloth.
E-0403: The lamp blinks. Call the harbour master.
"""

QUESTIONS = {
    "cost": "What does a mooring for one night cost?",
    "hours": "When is the fuel berth open?",
    "identifier": "What does error E-0402 mean?",
}
WORDS = "anchor berth bilge buoy cable card chart cost deck diesel error fuel gate harbour mooring night pump".split()  # noqa: SIM905


def write(folder: Path, megabytes: float) -> None:
    """The handbook and the files beside it."""
    random, size = Random(1), int(megabytes * 1_000_000)

    def sentence() -> str:
        return " ".join(random.choices(WORDS, k=10)).capitalize() + "."

    (folder / "handbook.md").write_text(HANDBOOK)
    records = {
        f"part {at}": {"code": f"E-{at:05}", "berth": random.choice(WORDS), "cost": at} for at in range(size // 60)
    }
    (folder / "parts.json").write_text(json.dumps({"parts": records}))
    (folder / "log.txt").write_text("\n\n".join(sentence() for _ in range(size // 60)))
    rows = (f"E-{at:05},{random.choice(WORDS)},{random.choice(WORDS)},{at}" for at in range(size // 30))
    (folder / "sheet.csv").write_text("\n".join(["code,berth,fuel,cost", *rows]))


def prepare(home: Path, folder: Path) -> None:
    """Index the folder."""
    import thresher
    from thresher.testing.fakes import HashEncoder

    with thresher.open(home, encoder=HashEncoder(64)) as collection:
        collection.add(folder)


def ask(home: str, rounds: int) -> dict[str, float]:
    """Processor milliseconds of the first question, and of each question in a warm collection."""
    import thresher
    from thresher.testing.fakes import HashEncoder

    with thresher.open(home, encoder=HashEncoder(64)) as collection:

        def milliseconds(question: str) -> float:
            began = process_time()
            collection.ask(question)
            return 1000 * (process_time() - began)

        first = milliseconds("Is the gate closed?")
        taken = {name: [milliseconds(question) for _ in range(rounds)] for name, question in QUESTIONS.items()}
        return {"first": first} | {name: median(each) for name, each in taken.items()}


def measured(engine: Path, home: Path, rounds: int) -> dict[str, float]:
    """What `ask` finds in another process, with the code of an engine."""
    python, environment = engine_of(engine)
    call = f"import json; from benchmarks.unseen import ask; print(json.dumps(ask({str(home)!r}, {rounds})))"
    done = subprocess.run([python, "-c", call], env=environment, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Measure each engine beside files of each size."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--megabytes", type=float, nargs="+", default=[0.1, 1.0])
    parser.add_argument("--engine", nargs="+", type=Path, default=[ROOT])
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    print(f"| MB each | engine | first | {' | '.join(QUESTIONS)} |\n|---|---|{'---:|' * (len(QUESTIONS) + 1)}")
    for megabytes in given.megabytes:
        with TemporaryDirectory() as place:
            folder, home = Path(place, "files"), Path(place, "home")
            folder.mkdir()
            write(folder, megabytes)
            prepare(home, folder)
            for engine in given.engine:
                found = measured(engine, home, given.rounds)
                print(
                    f"| {megabytes} | {engine.resolve().name} | {' | '.join(f'{v:,.0f}' for v in found.values())} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
