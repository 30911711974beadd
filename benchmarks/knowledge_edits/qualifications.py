"""Does `thresher ci` see what bounds a sentence that did not change? Edits by hand of documents written for other ends.

    .venv/bin/python -m benchmarks.knowledge_edits.qualifications              the edits on which the reading was chosen
    .venv/bin/python -m benchmarks.knowledge_edits.qualifications --part aside

`qualifications.jsonl` has the edits: `hard` ones change when, for whom or whether the sentence holds, around it or
inside it; `harmless` ones change something else near it, `reworded` ones its wording, `beside` ones put a sentence on
another matter near it. Those of the part `aside` were written before
the reading was finished, of other documents, and reported once. The documents are those of benchmarks/claims,
conversations and questions, all in one collection. In a round each document gets one edit at most. A question that is
not as expected before the edits counts nowhere. `bystanders` are the other questions about an edited document, which no
edit is meant for: those whose answer is reported are printed.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.knowledge_edits.__main__ import FOLDER, Bench
from benchmarks.machine import BENCHMARKS, keep, kept, tell
from thresher_ci.comparison import FAILING, Difference
from thresher_ci.knowledge import Expected, Question
from thresher_evals.stats import wilson_interval

EDITS = Path(__file__).with_name("qualifications.jsonl")
FOLDERS = (
    "claims/documents",
    "conversations/documents",
    *(f"questions/made/{one}" for one in ("records", "reports", "office")),
)


def edits() -> list[dict[str, Any]]:
    """All rows: id, part, hard, document, question, quote, old and new words."""
    return [json.loads(line) for line in EDITS.read_text(encoding="utf-8").splitlines()]


def documents() -> dict[str, str]:
    """The texts by the names of their files, those in Markdown and plain text."""
    files = (file for one in FOLDERS for file in sorted((BENCHMARKS / one).iterdir()))
    return {file.name: file.read_text(encoding="utf-8") for file in files if file.suffix in (".md", ".txt")}


def edited(text: str, old: str, new: str) -> str:
    """The text with other words once; white space counts as one blank. Raises ValueError where they do not stand."""
    found = re.search(r"\s+".join(map(re.escape, old.split())), text)
    if found is None:
        raise ValueError(f"does not stand there: {old}")
    return f"{text[: found.start()]}{new}{text[found.end() :]}"


def rounds(rows: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """The edits in rounds: one of a document at most."""
    left = list(rows)
    while left:
        now = {row["document"]: row for row in reversed(left)}
        yield list(now.values())
        left = [row for row in left if now[row["document"]] is not row]


def question_of(row: dict[str, Any]) -> Question:
    """What is asked, and what is expected."""
    return Question(row["question"], Expected(quote=row["quote"], source=row["document"]))


def measured(part: str) -> Iterator[tuple[dict[str, Any], Difference, list[Difference]]]:
    """Each edit whose question was as expected before, what it did, and the bystanders that are reported."""
    every = [row for row in edits() if part in (row["part"], "all")]
    asked = {row["question"]: row for row in every}
    bench, before = Bench(FOLDER / "qualifications", [question_of(row) for row in asked.values()], {}), documents()
    old, _ = bench.asked(before, {})
    known = {one.footprint: one for one in old.values() if one.footprint}
    met = {name for name, one in bench.compared({}, old).items() if one.met}
    print(f"{len(met)} of {len(asked)} questions as expected before")
    for rows in rounds(every):
        changed = {row["document"]: edited(before[row["document"]], row["old"], row["new"]) for row in rows}
        new, _ = bench.asked({**before, **changed}, known)
        found = bench.compared(old, new)
        for row in rows:
            beside = [name for name in met if asked[name]["document"] == row["document"] and name != row["question"]]
            if row["question"] in met:
                failing = [found[name] for name in beside if found[name].kind in FAILING]
                yield row, found[row["question"]], failing


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("dev", "aside", "all"), default="dev")
    part = parser.parse_args().part
    tell()
    counts: dict[str, list[bool]] = {}
    bystanders = 0
    for row, found, beside in measured(part):
        counts.setdefault(row["id"].rpartition("-")[2], []).append(found.kind in FAILING)
        bystanders += len(beside)
        if row["hard"] != (found.kind in FAILING):
            print(f"{row['id']}: {found.kind} {found.why}\n    {row['old']}\n    {row['new']}")
        for one in beside:
            print(f"  beside {row['id']}: {one.kind} {one.question.question}: {one.why}")
    for name, of in counts.items():
        share = wilson_interval(sum(of), len(of))
        print(f"{name}: {sum(of)} of {len(of)} reported, {share.low:.0%} to {share.high:.0%}")
    print(f"bystanders reported: {bystanders}")
    result = {name: {"reported": sum(of), "of": len(of)} for name, of in counts.items()}
    before = kept("knowledge_edits").get("cells", {})
    keep("knowledge_edits", {"cells": {**before, f"qualifications, {part}": {**result, "bystanders": bystanders}}})


if __name__ == "__main__":
    main()
