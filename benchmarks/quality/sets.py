"""The sets of the gate: which documents are indexed, and which questions are asked of them."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.machine import CACHE, DATA, rows
from benchmarks.quality import short
from benchmarks.questions import documents as made
from benchmarks.questions import rules
from benchmarks.questions.rules import Question
from benchmarks.real_text import documents, questions
from thresher_evals.dataset import split_of

WORK = CACHE / "quality"
TYPED_PAGES = Path(__file__).with_name("typed_pages.txt")
LOOKALIKES = ("reports", "invoices", "records")
SEED, SQUAD = 7, 150


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions, and what is indexed for them, by collection."""

    sources: Mapping[str, Sequence[Path]]
    questions: Sequence[Question]


def lookalikes() -> QuestionSet:
    """56 questions to reports, invoices and records that differ in names, numbers and dates only."""
    chosen = [one for one in rules.load() if one.collection in LOOKALIKES]
    return QuestionSet({name: made.sources(name) for name in LOOKALIKES}, chosen)


def short_documents() -> QuestionSet:
    """112 questions to letters, agreements, minutes and tickets whose subject and value stand apart."""
    folder = WORK / "short_documents"
    return QuestionSet({"short": [folder]}, short.write(folder))


def squad() -> QuestionSet:
    """150 questions of SQuAD's tune fifth over its paragraphs, every third without an answer there."""
    lines = (DATA / "squad" / "answered.jsonl").read_text(encoding="utf-8").splitlines()
    found = [row for row in map(json.loads, lines) if split_of(row["title"]) == "tune"]
    folder = paragraphs(found, WORK / "squad_paragraphs")
    draw = random.Random(SEED)
    kinds = [[row for row in found if bool(row["answers"]) is answerable] for answerable in (True, False)]
    chosen = [*draw.sample(kinds[0], 2 * SQUAD // 3), *draw.sample(kinds[1], SQUAD // 3)]
    asked = [
        Question(
            id=f"squad-{row['id']}",
            collection="squad",
            kind="squad",
            question=row["question"],
            answerable=bool(row["answers"]),
            expected=(tuple({text for _, text in row["answers"]}),) if row["answers"] else (),
        )
        for row in chosen
    ]
    return QuestionSet({"squad": [folder]}, asked)


def paragraphs(of: Sequence[dict[str, Any]], folder: Path) -> Path:
    """The folder, with a file for each paragraph of some rows of SQuAD, below the title of its article."""
    folder.mkdir(parents=True, exist_ok=True)
    for at, (text, title) in enumerate({row["context"]: row["title"] for row in of}.items()):
        (folder / f"p{at}.md").write_text(f"# {title.replace('_', ' ')}\n\n{text}\n", encoding="utf-8")
    return folder


def papers(part: str = "dev") -> QuestionSet:
    """The questions of `benchmarks.real_text` to papers that may be looked at, or those put aside."""
    return _real_text("papers", [DATA / "papers" / f"{one}.pdf" for one in documents.PAPERS], part)


def manuals(part: str = "dev") -> QuestionSet:
    """The same for pages of manuals; they must have been fetched."""
    return _real_text("manuals", documents.pages(), part)


def definitions() -> QuestionSet:
    """36 questions "What is X?" to all papers; the passage must hold one of the sentences that introduce X."""
    lines = Path(__file__).with_name("definitions.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [
        Question(
            id=row["id"],
            collection="all_papers",
            kind="definition",
            question=row["question"],
            answerable=True,
            expected=(tuple(row["defines"]),),
        )
        for row in map(json.loads, lines)
    ]
    return QuestionSet({"all_papers": sorted((DATA / "papers").glob("*.pdf"))}, asked)


def typed(part: str = "") -> QuestionSet:
    """74 questions as people type them, to pages of manuals, a handbook and a constitution; 12 have no answer there.

    `part`: those that changes may be chosen on ("choose"), those that are put aside ("final"), or all.
    """
    lines = Path(__file__).with_name("typed.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [
        Question(
            id=row["id"],
            collection="typed",
            kind=row["kind"],
            question=row["question"],
            answerable=row["answerable"],
            expected=tuple(map(tuple, row["expected"])),
        )
        for row in map(json.loads, lines)
        if part in ("", row["part"])
    ]
    return QuestionSet({"typed": documents.pages(listed=TYPED_PAGES)}, asked)


def reports() -> QuestionSet:
    """151 questions after public reports, to 24 folders of inputs; no rule may be written for a row of it.

    Of `right` one text, or all of a list, must be stated; a question with a right text has an answer, also where a
    refusal would be right.
    """
    asked, sources = list[Question](), dict[str, list[Path]]()
    for at, row in enumerate(rows("reports6/questions.jsonl")):
        name = f"reports6-{row['folder']}"
        sources.setdefault(name, [DATA / "reports6" / row["folder"]])
        ways = [[one] if isinstance(one, str) else one for one in row["right"]]
        asked.append(
            Question(
                id=f"{'guard' if row['guard'] else 'report'}-{row['kind']}-{at}",
                collection=name,
                kind=row["kind"],
                question=row["question"],
                answerable=bool(ways),
                expected=tuple(product(*ways)),
                forbidden=tuple(one.replace("**", "").strip() for one in row["wrong"]),
            )
        )
    return QuestionSet(sources, asked)


def _real_text(collection: str, sources: Sequence[Path], part: str) -> QuestionSet:
    there = [one for one in questions.load() if one.part == part]
    chosen = [one for one in there if (one.source == "papers") == (collection == "papers")]
    return QuestionSet({collection: sources}, [replace(one, collection=collection) for one in chosen])


SETS = {
    "lookalikes": lookalikes,
    "short": short_documents,
    "squad": squad,
    "papers": papers,
    "manuals": manuals,
    "definitions": definitions,
    "typed": typed,
    "reports": reports,
}

NEEDED = {
    "squad": DATA / "squad",
    "papers": DATA / "papers",
    "manuals": documents.MANUALS,
    "definitions": DATA / "papers",
    "typed": documents.MANUALS / "sqlite3-doc",
    "reports": DATA / "reports6",
}
"""The folder that a set is made of; the documents of the others are written here."""
