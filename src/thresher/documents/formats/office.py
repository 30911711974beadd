"""Word, PowerPoint, Excel and EPUB: archives of XML, read by kreuzberg after their directory was checked."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from thresher.documents.assembly import Assembly, Parsed
from thresher.documents.cleaning import clean_inline, iso_date
from thresher.documents.detect import CONTENT_TYPES
from thresher.documents.sources import RATIO_FLOOR_BYTES, Limits
from thresher.errors import DocumentError
from thresher.types import Metadata

MAX_ENTRIES = 20_000  # a spreadsheet with a thousand sheets has some 5,000
PIECE = 64 * 1024
NESTED = (".zip", ".docx", ".xlsx", ".pptx", ".jar", ".7z", ".gz", ".rar")
MAX_FILTERS = 4  # /FlateDecode given more often than this on one stream is an attack
STREAM = re.compile(rb">>\s{0,4}stream\r?\n")
DICTIONARY_BYTES = 2000  # how far before its stream a dictionary begins; real ones take some 200


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


def check_pdf_streams(data: bytes, *, limits: Limits) -> None:
    """Refuse a PDF whose Flate streams unpack to too much in all; what cannot be unpacked is left to the reader."""
    total = 0
    for found in STREAM.finditer(data):
        before = data[max(0, found.start() - DICTIONARY_BYTES) : found.start()].rpartition(b"obj")[2]
        filters = before.count(b"/FlateDecode") + before.count(b"/Fl ")
        if not filters:
            continue
        if filters > MAX_FILTERS:
            raise DocumentError("looks like a PDF bomb (nested compression)", next_step="leave it out")
        end = data.find(b"endstream", found.end())
        body = memoryview(data)[found.end() : end if end >= 0 else len(data)]
        total += _unpacked_size(body, filters, limits.max_unpacked_bytes - total)
        if total > limits.max_unpacked_bytes:
            raise DocumentError(
                f"looks like a PDF bomb (unpacks to more than {limits.max_unpacked_bytes:,} bytes)",
                next_step="leave it out, or raise the limit if you trust it",
            )


def _unpacked_size(body: memoryview, filters: int, allowed: int) -> int:
    """Bytes that come out of the stream, counted up to a little over `allowed`."""
    layers = [zlib.decompressobj() for _ in range(filters)]
    size = 0
    try:
        for start in range(0, len(body), PIECE):
            for piece in _through(layers, bytes(body[start : start + PIECE])):
                size += piece
                if size > allowed:
                    return size
    except zlib.error:
        pass
    return size


def _through(layers: Sequence[zlib._Decompress], packed: bytes) -> Iterator[int]:
    """Sizes of the pieces that come out of the last layer for what goes into the first."""
    first, *rest = layers
    while packed and not first.eof:
        unpacked = first.decompress(packed, PIECE * 16)
        packed = first.unconsumed_tail
        if rest:
            yield from _through(rest, unpacked)
        else:
            yield len(unpacked)


# --- the one door to kreuzberg: bytes in, its result out, and every way it fails as a DocumentError -------------------


PDF = "application/pdf"
SLIDE_MARK = "\u27ea\u27ea slide {page_num} \u27eb\u27eb"
"""Between the slides of a presentation; mathematical double brackets in this form do not occur in slides."""


def extract(data: bytes, mime: str, *, limits: Limits, elements: bool = False, slide_marks: bool = False) -> Any:
    """What kreuzberg makes of the bytes, with nothing removed and nothing added: clean-up is ours.

    No cache (it would keep documents outside the collection), no OCR (see `ocr`), no "quality processing" (it drops
    text), running heads kept (ours are removed with the whole document in view).
    """
    import kreuzberg

    settings: dict[str, Any] = {
        "use_cache": False,
        "disable_ocr": True,
        "enable_quality_processing": False,
        "extraction_timeout_secs": limits.parse_seconds,
        "pages": kreuzberg.PageConfig(
            extract_pages=True, insert_page_markers=slide_marks, marker_format=f"\n\n{SLIDE_MARK}\n\n"
        ),
        "content_filter": kreuzberg.ContentFilterConfig(
            include_headers=True, include_footers=True, strip_repeating_text=False, include_watermarks=True
        ),
    }
    if elements:
        settings["result_format"] = "element_based"
    else:
        settings["include_document_structure"] = True
    try:
        return kreuzberg.extract_bytes_sync(data, mime, kreuzberg.ExtractionConfig(**settings))
    except BaseException as error:
        # A panic of the Rust core arrives as PanicException, which is no Exception; anything else that is none goes on.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise failure(str(error), mime) from error


def failure(message: str, mime: str) -> DocumentError:
    """The error a person gets for kreuzberg's message."""
    name = "PDF" if mime == PDF else "file"
    lowered = message.lower()
    if "password" in lowered or "encrypt" in lowered:
        return DocumentError(f"the {name} is protected by a password", next_step="save a copy without the password")
    if "no page boundaries" in lowered:
        return DocumentError(f"the {name} has no pages", next_step="check that it opens in a viewer")
    if "timeout" in lowered or "timed out" in lowered:
        return DocumentError("reading took too long", next_step="split the file, or print it to a new one")
    if "pdfium" in lowered or "invalid pdf" in lowered:
        return DocumentError(
            "the PDF is damaged or cut off", next_step="download or export it again and check that it opens in a viewer"
        )
    reason = message.split("\n", 1)[0][:120]
    return DocumentError(
        f"the {name} is damaged or not what its name says ({reason})",
        next_step="open and save it again, or leave it out",
    )


# --- word, PowerPoint, Excel and EPUB: archives of XML, read by kreuzberg after their directory was checked -----------


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
