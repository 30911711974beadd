"""Questions with answers and gold passages: `qa:FILE` (JSON Lines, CSV or Excel) and `papers`.

The package contains the questions of `papers`, about AI papers, but not the PDFs. A table (CSV, or the first sheet of
an Excel workbook) has a question per row; its columns are the fields of a line, in any order and case: question;
optionally id, answers (separated by ` | ` or a line break), items of a list (likewise), answerable (yes or no), source
and page of the gold passage, category, subject. Other columns are ignored.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import BadZipFile

from thresher.errors import UsageError
from thresher_evals.dataset import Gold, Question, Split
from thresher_evals.datasets.records import Content, Record, records, unique, unreadable


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
        raise place.bad("a gold passage has no 'source'", next_step='write "gold": [{"source": "...", "page": 3}]')
    for name, least in (("page", 1), ("start", 0), ("end", 0)):
        value = place.fields.get(name)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < least):
            raise place.bad(f"'{name}' of a gold passage is not a whole number from {least}")
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


# --- tables -----------------------------------------------------------------------------------------------------------


TABLES = (".csv", ".tsv", ".xlsx")

DELIMITERS = ",;\t"
"""Excel writes semicolons where the comma is a decimal point."""

YES_OR_NO = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}

ID_LENGTH = 12
"""Hexadecimal digits of a question's hash used as an id."""


def is_table(path: Path) -> bool:
    """Whether a file is a table, by its ending."""
    return path.suffix.lower() in TABLES


def table_records(path: Path) -> Iterator[Record]:
    """The rows below the first non-empty one, as lines of a `qa:` file; empty rows are skipped.

    Raises UsageError for a file that cannot be read and a table without the column `question`.
    """
    rows = enumerate(sheet_rows(path) if path.suffix.lower() == ".xlsx" else csv_rows(path), start=1)
    filled = ((number, cells) for number, cells in rows if any(cells))
    _, head = next(filled, (0, []))
    names = [name.lower() for name in head]
    if "question" not in names:
        raise UsageError(
            f"has no column `question`, its first row is: {', '.join(filter(None, head)) or 'empty'}",
            subject=str(path),
            next_step="name the columns in the first row: question, answers, answerable, source, page, category",
        )
    for number, cells in filled:
        record = Record(path, number, dict(zip(names, cells, strict=False)))
        yield replace(record, fields=fields_of(record))


def fields_of(row: Record) -> dict[str, Any]:
    """The cells of a row as the fields of a line."""
    cells: Mapping[str, str] = row.fields
    fields: dict[str, Any] = {
        name: cells[name] for name in ("id", "question", "category", "subject") if cells.get(name)
    }
    answers = cells.get("answers") or cells.get("answer") or ""
    fields["answers"], fields["items"] = _several(answers), _several(cells.get("items") or "")
    if said := cells.get("answerable", "").lower():
        if said not in YES_OR_NO:
            raise row.bad(f"'answerable' is '{said}'", next_step="write yes or no")
        fields["answerable"] = YES_OR_NO[said]
    if source := cells.get("source"):
        page = cells.get("page") or ""
        if page and not page.isdigit():
            raise row.bad(f"'page' is '{page}'", next_step="give a whole number from 1, or nothing")
        fields["gold"] = [{"source": source, **({"page": int(page)} if page else {})}]
    return fields


def _several(cell: str) -> list[str]:
    return [one.strip() for line in cell.splitlines() for one in line.split(" | ") if one.strip()]


def identified(records: Iterable[Record]) -> Iterator[Record]:
    """The records; one without an `id` gets a hash of its question, so the id does not depend on the position."""
    made: set[str] = set()
    for record in records:
        if record.fields.get("id") in (None, ""):
            id = hashlib.sha256(record.text("question").encode("utf-8", "backslashreplace")).hexdigest()[:ID_LENGTH]
            if id in made:
                raise record.bad("the question stands on an earlier line too", next_step="leave one out, or give ids")
            made.add(id)
            record = replace(record, fields={**record.fields, "id": id})
        yield record


# --- cells ------------------------------------------------------------------------------------------------------------


def csv_rows(path: Path) -> Iterator[list[str]]:
    """The cells of each row; the delimiter is the most frequent one in the first line."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise UsageError("is not UTF-8", subject=str(path), next_step="save it as CSV UTF-8, or as .xlsx") from error
    delimiter = max(DELIMITERS, key=text.partition("\n")[0].count)
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
        yield [cell.strip() for cell in row]


def sheet_rows(path: Path) -> Iterator[list[str]]:
    """The cells of each row of the first sheet, formulas as their cached values."""
    from openpyxl import load_workbook

    try:
        # Bytes, not the path: a lazily read workbook keeps its file open.
        sheet = load_workbook(io.BytesIO(path.read_bytes()), read_only=True, data_only=True).worksheets[0]
        for row in sheet.iter_rows(values_only=True):
            yield [in_text(cell) for cell in row]
    except OSError as error:
        raise unreadable(path, error) from error
    except (BadZipFile, KeyError, IndexError, ValueError) as error:
        raise UsageError("is no Excel workbook", subject=str(path), next_step="save it as .xlsx or .csv") from error


def in_text(cell: object) -> str:
    """A cell as typed: 3 rather than 3.0, yes rather than True."""
    match cell:
        case None:
            return ""
        case bool():
            return "yes" if cell else "no"
        case float() if cell.is_integer():
            return str(int(cell))
        case _:
            return str(cell).strip()
