"""The texts of the pages of a PDF: kreuzberg's, or read by OCR, with what was filled in; bombs are refused before.

kreuzberg carries PDFium with it, unpacks it at the first PDF into `kreuzberg-pdfium` of the temporary folder, and loads
whatever lies there under that name. In a folder that all users of a machine share, that may be another user's code. So
it is only used through `loaded()`, which makes it load the library from a folder that nobody else can write.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import stat
import subprocess
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from thresher.documents.cleaning import clean_inline
from thresher.documents.formats.pdf_glyphs import bind
from thresher.documents.sources import Limits
from thresher.errors import DocumentError

PDF = "application/pdf"
_loading = Lock()
_loaded = False


def loaded() -> Any:
    """The module `kreuzberg`, its PDFium loaded from a private folder. Raises DocumentError where there is none.

    The library is loaded once in a process, so a scrap of a PDF decides where it comes from. While that is read
    `TMPDIR` names the private folder; then the variable is as it was and the folder is gone: what is loaded stays.
    """
    global _loaded
    import kreuzberg

    with _loading:
        if not _loaded and os.name == "posix":  # elsewhere the temporary folder is the user's own
            shared, home = Path(tempfile.gettempdir()), Path(os.path.expanduser("~"))
            with private_folder(shared, home) as folder, temporary_folder(folder):
                settings = kreuzberg.ExtractionConfig(use_cache=False, disable_ocr=True)
                with suppress(kreuzberg.KreuzbergError):  # it is no PDF; the library was loaded to find that out
                    kreuzberg.extract_bytes_sync(b"%PDF-", PDF, settings)
                bind(folder)
        _loaded = True
    return kreuzberg


@contextmanager
def private_folder(*parents: Path) -> Iterator[Path]:
    """A new folder that only this user can reach, in the first of the parents where no other user can replace it."""
    parent = next((parent for parent in parents if _is_safe(parent)), None)
    if parent is None:
        raise DocumentError(
            f"no folder for temporary files that is safe from other users ({', '.join(map(str, parents))})",
            next_step="set TMPDIR to a folder that only you can write",
        )
    with tempfile.TemporaryDirectory(prefix="thresher-", dir=parent, ignore_cleanup_errors=True) as name:
        yield Path(name)


def _is_safe(parent: Path) -> bool:
    """Whether nobody else can replace what this user makes in a folder: others cannot write it, or /tmp is sticky."""
    try:
        status = parent.stat()
    except OSError:
        return False
    owned = status.st_uid in (0, os.geteuid())
    shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return owned and (not shared or bool(status.st_mode & stat.S_ISVTX))


@contextmanager
def temporary_folder(folder: Path) -> Iterator[None]:
    """While inside, native code takes this for the temporary folder; Python's own `tempfile` has made up its mind."""
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before


def extract(data: bytes, *, limits: Limits) -> Any:
    """What kreuzberg makes of a PDF, with nothing removed and nothing added: clean-up is ours.

    No cache (it would keep documents outside the collection), no OCR (ours says which pages it read), no "quality
    processing" (it drops text), running heads kept (ours are removed with the whole document in view). Markdown makes
    it tell headings by the size of their font; the elements' texts stay as they are.
    """
    kreuzberg = loaded()
    settings = kreuzberg.ExtractionConfig(
        use_cache=False,
        disable_ocr=True,
        enable_quality_processing=False,
        extraction_timeout_secs=limits.reader_seconds,
        include_document_structure=True,
        pages=kreuzberg.PageConfig(extract_pages=True, insert_page_markers=False),
        content_filter=kreuzberg.ContentFilterConfig(
            include_headers=True, include_footers=True, strip_repeating_text=False, include_watermarks=True
        ),
        result_format="element_based",
        output_format="markdown",
    )
    try:
        return kreuzberg.extract_bytes_sync(data, PDF, settings)
    except BaseException as error:
        # A panic of the Rust core arrives as PanicException, which is no Exception; anything else that is none goes on.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise failure(str(error)) from error


def failure(message: str) -> DocumentError:
    """The error a person gets for kreuzberg's message."""
    lowered = message.lower()
    if "password" in lowered or "encrypt" in lowered:
        return DocumentError("the PDF is protected by a password", next_step="save a copy without the password")
    if "no page boundaries" in lowered:
        return DocumentError("the PDF has no pages", next_step="check that it opens in a viewer")
    if "timeout" in lowered or "timed out" in lowered:
        return DocumentError("reading took too long", next_step="split the file, or print it to a new one")
    return DocumentError(
        "the PDF is damaged or cut off", next_step="download or export it again and check that it opens in a viewer"
    )


def page_texts(result: Any) -> list[str]:
    """The text of each page, with `BREAK` and a line break where a word is hyphenated at a line end.

    kreuzberg's page text has such words joined already, `task-specific` as `taskspecific`. Its elements keep PDFium's
    mark, so the text is taken from them; a page whose elements do not add up to its text is taken as it is.
    """
    lines: dict[int, list[str]] = defaultdict(list)
    for element in result.elements or ():
        if element["element_type"] not in ("page_break", "table"):
            lines[element["metadata"].get("page_number") or 0].append(element["text"])
    pages = [("\n".join(lines[page["page_number"]]), page["content"]) for page in result.pages or ()]
    return [text if _letters(text) == _letters(content) else content for text, content in pages]


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text)


# --- what was filled into a form and written over a page, at its place in the text ------------------------------------

# PDFium's text has neither values of fields nor annotations. pypdf has both, and the places of the words of a page, so
# that a value goes behind its label: `Name: Vera Holt`.

HIDDEN = 2  # the flag of an annotation that no program shows
OFF = ("/Off", "")
CALLOUT = "/FreeTextCallout"  # a remark on the page, with a line that leads to what it is about
MARKINGS = ("/Highlight", "/Underline", "/StrikeOut", "/Squiggly")
"""A file with these, or with callouts, was marked by a reader, whose is also what is written over its pages: so are 6
of the 41 papers."""
SLACK = 4.0  # points that the base line of a label may lie below its field
ON_PAGE = ("/Widget", "/FreeText")  # annotations that are on the page, fields first; a note beside it is a reader's


@dataclass(frozen=True, slots=True)
class Written:
    """A value or note, where it lies on its page in points, and what its field is called."""

    text: str
    left: float
    bottom: float
    top: float
    name: str = ""  # of a field; a note has none


def with_fields(data: bytes, pages: Sequence[str]) -> list[str]:
    """The texts of the pages with what was filled in; as they are where the file is no sound PDF to pypdf."""
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted:
            return list(pages)
        notes = [[one.get_object() for one in page.get("/Annots", ())] for page in reader.pages]
        marked = any(one.get("/Subtype") in MARKINGS or one.get("/IT") == CALLOUT for page in notes for one in page)
        kinds = ON_PAGE[:1] if marked else ON_PAGE
        parts = zip(pages, reader.pages, notes, strict=False)
        filled = [_filled(text, _written(each, kinds), page) for text, page, each in parts]
        return [*filled, *pages[len(filled) :]]
    except (PyPdfError, ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, OSError):
        return list(pages)


def _written(notes: Sequence[Any], kinds: Sequence[str]) -> list[Written]:
    """The fields and the text written over a page, from the top."""
    found = []
    for note in notes:
        if note.get("/Subtype") not in kinds or int(note.get("/F", 0)) & HIDDEN or "/Rect" not in note:
            continue
        left, bottom, _, top = (float(number) for number in note["/Rect"])
        field = note["/Subtype"] == "/Widget"
        name = clean_inline(str(_inherited(note, "/TU") or _inherited(note, "/T") or "?")) if field else ""
        if text := clean_inline(_value(note) if field else str(note.get("/Contents") or "")):
            found.append(Written(text, left, min(bottom, top), max(bottom, top), name))
    return sorted(found, key=lambda one: (-one.top, one.left))


def _value(field: Any) -> str:
    """What a field shows: its text, what was chosen, the state of a box that is ticked."""
    kind, value = _inherited(field, "/FT"), _inherited(field, "/V")
    if kind == "/Btn":
        state = str(field.get("/AS", ""))
        return "" if state in OFF else state.removeprefix("/")
    if kind not in ("/Tx", "/Ch") or value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _inherited(field: Any, key: str) -> Any:
    """What a field, or that which it is a part of, says."""
    for _ in range(10):
        if key in field:
            return field[key].get_object()
        if "/Parent" not in field:
            return None
        field = field["/Parent"].get_object()
    return None


def _filled(text: str, written: Sequence[Written], page: Any) -> str:
    """The text of a page with each value behind its label; what has none stands at the end."""
    if not written:
        return text
    words: list[tuple[float, float, str]] = []  # where some words begin, from the left and the bottom, and the words

    def visit(run: str, matrix: Sequence[float], line: Sequence[float], *_: Any) -> None:
        x, y = line[4], line[5]
        if run.strip():
            at = (matrix[0] * x + matrix[2] * y + matrix[4], matrix[1] * x + matrix[3] * y + matrix[5])
            words.append((*at, run.strip().split("\n")[-1]))

    page.extract_text(visitor_text=visit)
    for one in written:
        beside = [word for word in words if one.bottom - SLACK <= word[1] <= one.top and word[0] < one.left]
        label = max(beside, default=None)
        if not one.name or label is None or label[2] not in text:
            text += f"\n{one.name}: {one.text}" if one.name else f"\n{one.text}"
        else:
            words.remove(label)
            at = text.find(label[2]) + len(label[2])
            text = f"{text[:at]} {one.text}{text[at:]}"
    return text


# --- what a PDF unpacks to --------------------------------------------------------------------------------------------

PIECE = 64 * 1024
MAX_FILTERS = 4  # /FlateDecode given more often than this on one stream is an attack
STREAM = re.compile(rb">>\s{0,4}stream\r?\n")
DICTIONARY_BYTES = 2000  # how far before its stream a dictionary begins; real ones take some 200


def check_streams(data: bytes, *, limits: Limits) -> None:
    """Refuse a PDF whose Flate streams unpack to too much in all; what cannot be unpacked is left to the reader."""
    total = end = 0
    for match in STREAM.finditer(data):
        before = data[max(0, match.start() - DICTIONARY_BYTES) : match.start()].rpartition(b"obj")[2]
        filters = before.count(b"/FlateDecode") + before.count(b"/Fl ")
        if not filters:
            continue
        if filters > MAX_FILTERS:
            raise DocumentError("looks like a PDF bomb (nested compression)", next_step="leave it out")
        if end < match.end():  # else the end that was found for a stream before this one is also its own
            end = data.find(b"endstream", match.end())
            end = len(data) if end < 0 else end
        body = memoryview(data)[match.end() : end]
        pieces: Iterator[bytes | memoryview] = (body[at : at + PIECE] for at in range(0, len(body), PIECE))
        for _ in range(filters):
            pieces = _inflated(pieces)
        with suppress(zlib.error):
            for piece in pieces:
                total += len(piece)
                if total > limits.max_unpacked_bytes:
                    break
        if total > limits.max_unpacked_bytes:
            raise DocumentError(
                f"looks like a PDF bomb (unpacks to more than {limits.max_unpacked_bytes:,} bytes)",
                next_step="leave it out, or raise the limit if you trust it",
            )


def _inflated(pieces: Iterator[bytes | memoryview]) -> Iterator[bytes]:
    """The pieces that come out of one layer of compression, for what goes into it."""
    layer = zlib.decompressobj()
    for packed in pieces:
        while packed and not layer.eof:
            yield layer.decompress(packed, PIECE * 16)
            packed = layer.unconsumed_tail


# --- text of pages that are only pictures, by the `tesseract` command where it is installed ---------------------------

DOTS_PER_INCH = 300  # what tesseract's documentation asks for
MOST_RANGES = 20  # of page numbers in a remark
SECONDS_PER_PAGE = 60  # a dense page takes 2 to 10 s on one core


def fill_blank_pages(
    pages: Sequence[str], data: bytes, alive: Callable[[], None] = lambda: None
) -> tuple[list[str], dict[str, int | str]]:
    """The pages, blank ones read by OCR where possible, and how many and which were read so or stayed without text.

    A PDF without text raises DocumentError where OCR is not possible; the blank pages of one with text are counted.
    """
    blank = [index for index, page in enumerate(pages) if not page.strip()]
    filled = list(pages)
    if not blank:
        return filled, {}
    languages = installed_languages()
    if not languages:
        if len(blank) == len(pages):
            raise DocumentError(
                "no text layer (scanned?)", next_step="install tesseract and its language data, or run OCR on it first"
            )
        return filled, _counted(without_text=blank)
    with tempfile.TemporaryDirectory(prefix="thresher-") as folder:
        path = Path(folder, "pages.pdf")
        path.write_bytes(data)
        for index in blank:
            filled[index] = _read_page(path, index, languages)
            alive()
    without = [index for index in blank if not filled[index].strip()]
    if len(without) == len(filled):
        raise DocumentError("no text layer, and OCR found no text", next_step="check that the pages are not blank")
    return filled, _counted(by_ocr=[index for index in blank if index not in without], without_text=without)


def _counted(**pages: Sequence[int]) -> dict[str, int | str]:
    """How many pages, and which ones, counted from 1; nothing of none."""
    told: dict[str, int | str] = {}
    for name, indices in pages.items():
        if indices:
            told |= {f"pages_{name}": len(indices), f"which_pages_{name}": ranges([index + 1 for index in indices])}
    return told


def ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers in few words.

    >>> ranges([2, 3, 4, 7])
    '2-4, 7'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    told = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    return ", ".join(told[:MOST_RANGES]) + (", ..." if len(told) > MOST_RANGES else "")


def installed_languages() -> str:
    """The languages tesseract can read, as it takes them (`eng+deu`); empty where it is not installed."""
    if shutil.which("tesseract") is None:
        return ""
    try:
        listed = subprocess.run(
            ["tesseract", "--list-langs"], capture_output=True, text=True, timeout=SECONDS_PER_PAGE, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
    languages = {line.strip() for line in listed.splitlines()[1:]} - {"", "osd", "equ"}
    return "+".join(sorted(languages, key=lambda language: (language != "eng", language)))


def _read_page(path: Path, index: int, languages: str) -> str:
    kreuzberg = loaded()
    try:
        image = kreuzberg.render_pdf_page(path, index, dpi=DOTS_PER_INCH)
        read = subprocess.run(
            ["tesseract", "stdin", "stdout", "-l", languages, "--dpi", str(DOTS_PER_INCH)],
            input=image,
            capture_output=True,
            timeout=SECONDS_PER_PAGE,
            check=True,
        )
    except (OSError, subprocess.SubprocessError, kreuzberg.KreuzbergError, RuntimeError, ValueError) as error:
        raise DocumentError(
            f"OCR of page {index + 1} failed ({type(error).__name__})",
            next_step="run tesseract on it by hand to see why",
        ) from error
    return str(read.stdout, "utf-8", errors="replace")
