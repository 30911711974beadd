"""Word, PowerPoint, Excel and EPUB: archives of XML, read by kreuzberg after their directory was checked."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from thresher.documents.assembly import Assembly, Parsed
from thresher.documents.cleaning import clean_inline, iso_date
from thresher.documents.formats.extractor import SLIDE_MARK, described, extract
from thresher.documents.registry import RawFile
from thresher.documents.sources import MEBIBYTE, Limits
from thresher.errors import DocumentError

MAX_ENTRIES = 20_000  # a spreadsheet with a thousand sheets has some 5,000
RATIO_FLOOR_BYTES = 16 * MEBIBYTE
"""Below this size a high ratio is harmless: an empty spreadsheet packs 500 fold."""
NESTED = (".zip", ".docx", ".xlsx", ".pptx", ".jar", ".7z", ".gz", ".rar")
PROGRAMS = frozenset({"", "openpyxl", "python-docx"})  # call themselves the author
SLIDE = re.compile(re.escape(SLIDE_MARK).replace(re.escape("{page_num}"), r"(\d+)"))


def read_document(file: RawFile) -> Parsed:
    """A docx or epub file: headings, paragraphs and tables in order."""
    result, assembly = _extracted(file), Assembly()
    items = styled_items(file.data) if file.kind.name == "docx" else {}
    return _parsed(file, assembly, result, add_nodes(assembly, result.document, items))


def read_slides(file: RawFile) -> Parsed:
    """A pptx file: each slide is a page, in the order they are shown, hidden ones included."""
    result, assembly = _extracted(file), Assembly()
    return _parsed(file, assembly, result, add_slides(assembly, result.content))


def read_sheets(file: RawFile) -> Parsed:
    """An xlsx file: each sheet is a table under its name."""
    result, assembly = _extracted(file), Assembly()
    add_sheets(assembly, result)
    return _parsed(file, assembly, result, "")


def _extracted(file: RawFile) -> Any:
    check_archive(file.data, limits=file.limits)
    slides = file.kind.name == "pptx"
    data = slides_as_shown(file.data) if slides else file.data
    return extract(data, file.kind.mime_types[0], limits=file.limits, slide_marks=slides)


def _parsed(file: RawFile, assembly: Assembly, result: Any, heading: str) -> Parsed:
    if not assembly:
        raise DocumentError(f"the {file.kind.name} file has no text", next_step="check that it is not only pictures")
    return Parsed(
        assembly.text,
        pages=assembly.pages,
        tables=assembly.tables,
        title=str(result.metadata.get("title") or ""),
        heading=heading,
        date=iso_date(str(result.metadata.get("created_at") or "")),
        metadata=described(result.metadata, junk=PROGRAMS),
    )


def open_archive(data: bytes) -> zipfile.ZipFile:
    """The zip archive in the bytes."""
    try:
        return zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, OverflowError) as error:
        raise DocumentError("the archive is damaged or cut off", next_step="download or export it again") from error


def check_archive(data: bytes, *, limits: Limits) -> None:
    """Refuse an archive that unpacks to too much, by its own directory; nested archives count as packed only."""
    with open_archive(data) as archive:
        entries = archive.infolist()
    if any(entry.flag_bits & 1 for entry in entries):
        raise DocumentError("the file is protected by a password", next_step="save a copy without the password")
    unpacked = sum(entry.file_size for entry in entries)
    nested = sum(1 for entry in entries if entry.filename.lower().endswith(NESTED))
    ratio = unpacked / max(1, len(data))
    reason = ""
    if len(entries) > MAX_ENTRIES:
        reason = f"{len(entries):,} entries"
    elif unpacked > limits.max_unpacked_bytes:
        reason = f"unpacks to {unpacked:,} bytes"
    elif unpacked > RATIO_FLOOR_BYTES and ratio > limits.max_unpacked_ratio:
        reason = f"unpacks to {ratio:,.0f} times its size"
    elif nested > MAX_ENTRIES // 100:
        reason = f"holds {nested} other archives"
    if reason:
        raise DocumentError(
            f"looks like an archive bomb ({reason})", next_step="leave it out, or raise the limit if you trust it"
        )


def add_nodes(assembly: Assembly, document: Mapping[str, Any] | None, items: Mapping[str, bool]) -> str:
    """Headings, paragraphs, list items with their marks, and tables in order; returns the first heading.

    `items` are paragraphs that are items by their style alone, which the extractor does not tell.
    """
    first, number = "", 0
    nodes = (document or {}).get("nodes", ())
    for node in nodes:
        content = node["content"]
        kind = content.get("node_type")
        text = str(content.get("text") or "")
        numbered = items.get(clean_inline(text)) if kind == "paragraph" else None
        if kind == "list_item":
            numbered = bool(nodes[node["parent"]]["content"].get("ordered")) if "parent" in node else False
        number = 0 if numbered is None else number + 1
        if kind == "table":
            assembly.table(_cells(content["grid"]))
        elif kind not in ("group", "slide"):
            first = first or (clean_inline(text) if kind in ("heading", "title") else "")
            mark = "" if numbered is None else f"{number}. " if numbered else "- "
            assembly.paragraph(mark + text if text.strip() else "")
    return first


_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def styled_items(data: bytes) -> dict[str, bool]:
    """Paragraphs of a Word file whose style is List Bullet or List Number, on one line, and whether it is the second.

    None of a file that is not as the standard has it.
    """
    try:
        with open_archive(data) as archive:
            styles = {
                style.get(f"{_W}styleId"): name.get(f"{_W}val", "").lower()
                for style in _xml(archive, "word/styles.xml").iter(f"{_W}style")
                if (name := style.find(f"{_W}name")) is not None
            }
            paragraphs = list(_xml(archive, "word/document.xml").iter(f"{_W}p"))
    except (LookupError, ElementTree.ParseError, zipfile.BadZipFile, zlib.error, EOFError):
        return {}
    items = {}
    for paragraph in paragraphs:
        style = paragraph.find(f"{_W}pPr/{_W}pStyle")
        called = styles.get(style.get(f"{_W}val"), "") if style is not None else ""
        if called.startswith(("list bullet", "list number")):
            text = "".join(part.text or "" for part in paragraph.iter(f"{_W}t"))
            items[clean_inline(text)] = called.startswith("list number")
    return items


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


# --- slides in the order they are shown -------------------------------------------------------------------------------

SLIDE_PARTS = ("ppt/slides/", "ppt/notesSlides/")
MAX_XML_BYTES = 4 * MEBIBYTE  # of a list of parts; one of a thousand slides takes some 200 kB, a tree in memory tenfold
SLIDE_LIST = "ppt/_rels/presentation.xml.rels"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def slides_as_shown(data: bytes) -> bytes:
    """The presentation with its slides numbered as they are shown, and the notes of each under its slide's number.

    kreuzberg goes by the names of the parts: it sorts the slides by theirs, and takes `notesSlide3.xml` for the notes
    of `slide3.xml`. But slides are moved, and the third notes that somebody wrote may be those of any slide.
    """
    try:
        with open_archive(data) as archive:
            names = _names_as_shown(archive)
            kept = [name for name in archive.namelist() if name in names or not name.startswith(SLIDE_PARTS)]
            if kept == archive.namelist() and all(name == shown for name, shown in names.items()):
                return data
            slides = [name.removeprefix("ppt/") for name in names.values() if name.startswith("ppt/slides/slide")]
            entries = (f'<Relationship Id="s{i}" Type="{OFFICE}/slide" Target="{s}"/>' for i, s in enumerate(slides))
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w") as copy:
                for name in kept:
                    if name == SLIDE_LIST:
                        copy.writestr(name, f'<Relationships xmlns="{PACKAGE}">{"".join(entries)}</Relationships>')
                    elif name.endswith((".xml", ".rels")):  # pictures and films are not read
                        copy.writestr(names.get(name, name), archive.read(name))
            return packed.getvalue()
    except (LookupError, StopIteration, ElementTree.ParseError, zipfile.BadZipFile, zlib.error, EOFError):
        return data  # no presentation as the standard has it: what can be read of it, the extractor knows


def _names_as_shown(archive: zipfile.ZipFile) -> dict[str, str]:
    """The name that each slide, its relations and its notes should have; a part that no slide shown needs has none."""
    parts = {identifier: target for identifier, _, target in _relations(archive, "ppt/presentation.xml")}
    names: dict[str, str] = {}
    entries = (entry for entry in _xml(archive, "ppt/presentation.xml").iter() if entry.tag.endswith("}sldId"))
    for number, entry in enumerate(entries, start=1):
        slide = next(parts[value] for name, value in entry.items() if name.endswith("}id"))
        names[slide] = f"ppt/slides/slide{number}.xml"
        names[_relations_of(slide)] = _relations_of(names[slide])
        for _, kind, target in _relations(archive, slide):
            if kind.endswith("/notesSlide"):
                names[target] = f"ppt/notesSlides/notesSlide{number}.xml"
                names[_relations_of(target)] = _relations_of(names[target])
    return names


def _xml(archive: zipfile.ZipFile, name: str) -> ElementTree.Element:
    if archive.getinfo(name).file_size > MAX_XML_BYTES:
        raise LookupError(name)
    return ElementTree.fromstring(archive.read(name))


def _relations_of(part: str) -> str:
    folder, _, name = part.rpartition("/")
    return f"{folder}/_rels/{name}.rels"


def _relations(archive: zipfile.ZipFile, part: str) -> list[tuple[str, str, str]]:
    """Identifier, type and target of everything that a part refers to inside the archive."""
    folder = part.rpartition("/")[0]
    return [
        (each.get("Id", ""), each.get("Type", ""), posixpath.normpath(posixpath.join(f"/{folder}", target))[1:])
        for each in _xml(archive, _relations_of(part))
        if (target := each.get("Target")) and each.get("TargetMode") != "External"
    ]
