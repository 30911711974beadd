"""Questions with answers and gold passages: `qa:FILE` (JSON Lines, CSV or Excel) and `papers`.

The package contains the questions of `papers`, about AI papers, but not the PDFs.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from thresher.errors import UsageError
from thresher_evals.dataset import Gold, Question, Split
from thresher_evals.datasets.question_tables import identified, is_table, table_records
from thresher_evals.datasets.records import Content, Record, records, unique


def load_qa(path: Path, split: Split) -> Content:
    """Every line of the file, in order."""
    return Content(read_questions(path))


def read_questions(path: Path) -> list[Question]:
    """The questions of a JSON Lines file or a table, in order; a missing `id` is a hash of the question."""
    lines = identified(table_records(path) if is_table(path) else records(path))
    return [read_question(record) for record in unique(lines).values()]


def read_question(record: Record) -> Question:
    """One line; `gold_ids` are gold passages with only a source."""
    places = record.objects("gold") if record.fields.get("gold") is not None else ()
    return Question(
        id=record.identity("id"),
        question=record.text("question"),
        answers=record.texts("answers"),
        items=record.texts("items"),
        answerable=record.boolean("answerable", default=True),
        gold=(*map(gold_place, places), *(Gold(source) for source in record.texts("gold_ids"))),
        category=None if record.fields.get("category") is None else record.text("category"),
        group="" if record.fields.get("subject") is None else record.text("subject"),
    )


def gold_place(place: Record) -> Gold:
    """One entry of the `gold` list."""
    source = place.fields.get("source")
    if not isinstance(source, str) or not source.strip():
        raise place.bad("a gold place has no 'source'", next_step='write "gold": [{"source": "...", "page": 3}]')
    for name, least in (("page", 1), ("start", 0), ("end", 0)):
        value = place.fields.get(name)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < least):
            raise place.bad(f"'{name}' of a gold place is not a whole number from {least}")
    return Gold(source, place.fields.get("page"), place.fields.get("start"), place.fields.get("end"))


# --- papers -----------------------------------------------------------------------------------------------------------

QUESTIONS = Path(__file__).with_name("papers.jsonl")
"""Written from the PDFs before any tuning. Their tuning fifth was looked at once."""


def load_papers(path: Path, split: Split) -> Content:
    """All lines in order; the collection is the PDFs in the folder `papers` of $THRESHER_DATA."""
    questions = read_questions(path)
    data = os.environ.get("THRESHER_DATA")
    folder = Path(data).expanduser() / "papers" if data else None
    if folder is None or not folder.is_dir():
        raise UsageError(
            f"the PDFs are missing: {'THRESHER_DATA is not set' if folder is None else f'no folder {folder}'}",
            subject="papers",
            next_step="put them in the folder papers of some folder, and name that one in THRESHER_DATA",
        )
    named = dict.fromkeys(PurePosixPath(place.source).name for question in questions for place in question.gold)
    missing = [name for name in named if not (folder / name).is_file()]
    if missing:
        raise UsageError(
            f"{len(missing)} of the {len(named)} papers that the questions are about are missing: "
            f"{', '.join(missing[:3])}{', ...' if len(missing) > 3 else ''}",
            subject=str(folder),
            next_step="put them there under these names; docs/datasets.md says which papers they are",
        )
    return Content(questions, corpus=folder, collection="papers")
