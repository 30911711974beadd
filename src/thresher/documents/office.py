"""Word, PowerPoint, Excel and EPUB: archives of XML, read by kreuzberg after their directory was checked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from thresher.documents.archives import check_archive
from thresher.documents.assembly import Assembly, Parsed
from thresher.documents.cleaning import clean_inline
from thresher.documents.dates import iso_date
from thresher.documents.extraction import SLIDE_MARK, extract
from thresher.documents.kinds import CONTENT_TYPES
from thresher.documents.limits import Limits
from thresher.errors import DocumentError
from thresher.types import Metadata

MIME = {kind: mime for mime, kind in CONTENT_TYPES.items()}
SLIDE = re.compile(re.escape(SLIDE_MARK).replace(re.escape("{page_num}"), r"(\d+)"))


def read_office(data: bytes, kind: str, *, limits: Limits) -> Parsed:
    """A docx, pptx, xlsx or epub file."""
    check_archive(data, limits=limits)
    result = extract(data, MIME[kind], limits=limits, slide_marks=kind == "pptx")
    assembly = Assembly()
    heading = ""
    if kind == "pptx":
        heading = add_slides(assembly, result.content)
    elif kind == "xlsx":
        add_sheets(assembly, result)
    else:
        heading = add_nodes(assembly, result.document)
    if not assembly:
        raise DocumentError(f"the {kind} file has no text", next_step="check that it is not only pictures")
    said = result.metadata
    return Parsed(
        kind=kind,
        text=assembly.text,
        pages=assembly.pages,
        tables=assembly.tables,
        title=str(said.get("title") or ""),
        heading=heading,
        date=iso_date(str(said.get("created_at") or "")),
        metadata=described(said),
    )


def add_nodes(assembly: Assembly, document: Mapping[str, Any] | None) -> str:
    """Headings, paragraphs and tables of a document tree in order; returns the first heading."""
    first = ""
    for node in (document or {}).get("nodes", ()):
        content = node["content"]
        kind = content.get("node_type")
        if kind == "table":
            assembly.table(_cells(content["grid"]))
        elif kind not in ("group", "slide"):
            text = str(content.get("text") or "")
            first = first or (clean_inline(text) if kind in ("heading", "title") else "")
            assembly.paragraph(text)
    return first


def _cells(grid: Mapping[str, Any]) -> list[list[str]]:
    rows = [[""] * int(grid["cols"]) for _ in range(int(grid["rows"]))]
    for cell in grid["cells"]:
        rows[cell["row"]][cell["col"]] = str(cell["content"])
    return rows


def add_slides(assembly: Assembly, content: str) -> str:
    """Each slide as a page, its notes included; tab-separated paragraphs are rows; returns the first line."""
    first = ""
    pieces = SLIDE.split(content)
    for number, text in zip(pieces[1::2], pieces[2::2], strict=True):
        assembly.page(int(number))
        rows: list[list[str]] = []
        for paragraph in text.split("\n\n"):
            if "\t" in paragraph.strip(" \n"):
                rows.extend(line.split("\t") for line in paragraph.strip("\n").split("\n"))
                continue
            assembly.table(rows)
            rows = []
            first = first or clean_inline(paragraph)
            assembly.paragraph(paragraph)
        assembly.table(rows)
    return first


def add_sheets(assembly: Assembly, result: Any) -> None:
    """Each sheet as its name and a table; empty sheets, rows and columns are left out."""
    names = list(result.metadata.get("sheet_names") or ())
    for table in result.tables:
        rows = without_empty(table.cells)
        if not rows:
            continue
        if 0 < table.page_number <= len(names):
            assembly.paragraph(names[table.page_number - 1])
        assembly.table(rows)


def without_empty(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The table without empty rows and without empty columns at its right; midnight is dropped from dates."""
    kept = [[re.sub(r"^(\d{4}-\d\d-\d\d) 00:00:00$", r"\1", cell) for cell in row] for row in rows]
    kept = [row for row in kept if any(cell.strip() for cell in row)]
    width = max((index + 1 for row in kept for index, cell in enumerate(row) if cell.strip()), default=0)
    return [row[:width] for row in kept]


def described(said: Mapping[str, Any]) -> Metadata:
    """Author, subject, keywords and sheet names, where the file states them."""
    core = said.get("core_properties") or {}
    found = {}
    for name, value in (
        ("author", said.get("authors") or core.get("creator")),
        ("subject", said.get("subject") or core.get("subject")),
        ("keywords", said.get("keywords") or core.get("keywords")),
        ("sheets", said.get("sheet_names")),
    ):
        text = ", ".join(str(part) for part in value) if isinstance(value, list) else str(value or "")
        if text and text.lower() not in ("openpyxl", "python-docx"):
            found[name] = clean_inline(text)
    return found
