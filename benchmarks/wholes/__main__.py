"""Ask questions whose nearest passage is not the answer: struck, raised, several, superlatives, namesakes, other kinds.

    python -m benchmarks.wholes [KIND ...] [--show]

Printed by kind: questions that are answered rightly, shown rightly in doubt, refused, shown wrongly in doubt, and wrong
and sure; and the same of the questions beside them that must not change. Files of Word and Excel are made by
LibreOffice; without it they are left out, and counted.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import openpyxl
from openpyxl.styles import Font

import thresher
from thresher.answer import Answer

CASES = Path(__file__).with_name("cases.jsonl")
"""A line for each set of documents with its questions. Of a question `right` are the words that an answer must show,
`never` those that must not stand in its first part; only a `certain` one may be told without doubt; one that is a
`guard` is near the kind and must not change; `before` is the question that it follows. What is named .docx or .xlsx is
HTML here."""
OUTCOMES = ("right", "right in doubt", "refused", "wrong in doubt", "wrong and sure")
FILTERS = {".docx": "docx:MS Word 2007 XML", ".xlsx": "xlsx:Calc MS Excel 2007 XML"}


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*")
    parser.add_argument("--show", action="store_true", help="print each answer that is not right")
    given = parser.parse_args()
    counts: dict[str, Counter[str]] = {}
    for name, asked, answer in asking([case for case in read() if not given.kinds or case["kind"] in given.kinds]):
        outcome = came(asked, answer)
        counts.setdefault(name, Counter())[outcome] += 1
        if given.show and outcome != ("right" if asked.get("certain") else "right in doubt"):
            print(f"--- {name}: {outcome}: {asked['question']}\n{answer}")
    for name, found in sorted(counts.items()):
        print(f"{name:28}" + "  ".join(f"{outcome} {found[outcome]}" for outcome in OUTCOMES))


def read() -> list[dict[str, Any]]:
    """All cases."""
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def asking(cases: Sequence[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any], Answer]]:
    """Each question with its kind and its answer; each case is a collection of its own."""
    with tempfile.TemporaryDirectory() as place:
        made = written(Path(place), cases)
        if len(made) < len(cases):
            print(f"{len(cases) - len(made)} of {len(cases)} cases left out: LibreOffice is not installed")
        for at, folder in made.items():
            with thresher.open(home=folder.with_suffix(".home")) as collection:
                collection.add(folder)
                for asked in cases[at]["ask"]:
                    name = f"{cases[at]['kind']}, beside it" if asked.get("guard") else cases[at]["kind"]
                    before = [collection.ask(one) for one in (asked.get("before"),) if one]
                    yield name, asked, collection.ask(asked["question"], history=before)


def came(asked: dict[str, Any], answer: Answer) -> str:
    """What became of a question."""
    if answer.abstained:
        return "refused"
    in_doubt = answer.state == "doubtful"
    texts = [answer.text, *(one.text for one in answer.alternatives if in_doubt)]
    shown, first = ("\n".join(text).casefold() for text in (texts, [answer.text.partition("[1]")[0]]))
    right = bool(asked["right"]) and all(word.casefold() in shown for word in asked["right"])
    if in_doubt:
        return "right in doubt" if right else "wrong in doubt"
    kept = not any(word.casefold() in first for word in asked.get("never", ()))
    return "right" if asked.get("certain") and right and kept else "wrong and sure"


def written(place: Path, cases: Sequence[dict[str, Any]]) -> dict[int, Path]:
    """The folders of the cases by their numbers; those that need an office program only where there is one."""
    office = shutil.which("soffice")
    folders = {at: place / f"case{at}" for at in range(len(cases))}
    if office is None:
        folders = {
            at: one
            for at, one in folders.items()
            if {Path(name).suffix for name in cases[at]["files"]}.isdisjoint(FILTERS)
        }
    paths = [(folder / name, text) for at, folder in folders.items() for name, text in cases[at]["files"].items()]
    for path, text in paths:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for suffix, kind in FILTERS.items():
        sources = {
            path: place / f"{suffix[1:]}{at}.html" for at, (path, _) in enumerate(paths) if path.suffix == suffix
        }
        for path, source in sources.items():
            if suffix == ".xlsx":
                as_sheet(path.read_text(encoding="utf-8")).save(source.with_suffix(".xlsx"))
            else:
                path.rename(source)
        if sources:
            command = [
                office or "",
                f"-env:UserInstallation=file://{place}/profile",
                "--headless",
                "--convert-to",
                kind,
            ]
            named = (source.with_suffix(".xlsx") if suffix == ".xlsx" else source for source in sources.values())
            command += ["--outdir", str(place / "made"), *map(str, named)]
            subprocess.run(command, check=True, capture_output=True)
        for path, source in sources.items():
            (place / "made" / source.with_suffix(suffix).name).replace(path)
    return folders


def as_sheet(page: str) -> openpyxl.Workbook:
    """The table of a page as a workbook, struck cells with a struck font."""
    book = openpyxl.Workbook()
    for row, line in enumerate(re.findall(r"<tr>(.*?)</tr>", page), start=1):
        for column, text in enumerate(re.findall(r"<td>(.*?)</td>", line), start=1):
            cell = book.active.cell(row, column, re.sub(r"</?s>", "", text))
            cell.font = Font(strike="<s>" in text)
    return book


if __name__ == "__main__":
    main()
