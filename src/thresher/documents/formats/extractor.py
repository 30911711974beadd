"""The one door to kreuzberg: bytes in, its result out, and every way it fails as a DocumentError.

kreuzberg carries PDFium with it, unpacks it at the first PDF into `kreuzberg-pdfium` of the temporary folder, and loads
whatever lies there under that name. In a folder that all users of a machine share, that may be another user's code. So
it is only used through `loaded()`, which makes it load the library from a folder that nobody else can write.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any

from thresher.documents.cleaning import clean_inline
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


def extract(data: bytes, mime: str, *, limits: Limits, elements: bool = False) -> Any:
    """What kreuzberg makes of the bytes, with nothing removed and nothing added: clean-up is ours.

    No cache (it would keep documents outside the collection), no OCR (ours says which pages it read), no "quality
    processing" (it drops text), running heads kept (ours are removed with the whole document in view).
    """
    kreuzberg = loaded()
    settings: dict[str, Any] = {
        "use_cache": False,
        "disable_ocr": True,
        "enable_quality_processing": False,
        "extraction_timeout_secs": limits.parse_seconds,
        "include_document_structure": True,
        "pages": kreuzberg.PageConfig(extract_pages=True, insert_page_markers=False),
        "content_filter": kreuzberg.ContentFilterConfig(
            include_headers=True, include_footers=True, strip_repeating_text=False, include_watermarks=True
        ),
    }
    if elements:  # Markdown makes it tell headings by the size of their font; the elements' texts stay as they are
        settings |= {"result_format": "element_based", "output_format": "markdown"}
    try:
        return kreuzberg.extract_bytes_sync(data, mime, kreuzberg.ExtractionConfig(**settings))
    except BaseException as error:
        # A panic of the Rust core arrives as PanicException, which is no Exception; anything else that is none goes on.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise failure(str(error), mime) from error


def described(stated: Mapping[str, Any], *, junk: Set[str]) -> dict[str, str]:
    """Author, subject, keywords and sheet names, where the file states them and they are not `junk` (lower case)."""
    core = stated.get("core_properties") or {}
    values = {
        "author": stated.get("authors") or core.get("creator"),
        "subject": stated.get("subject") or core.get("subject"),
        "keywords": stated.get("keywords") or core.get("keywords"),
        "sheets": stated.get("sheet_names"),
    }
    texts = {
        name: clean_inline(", ".join(map(str, value)) if isinstance(value, list) else str(value or ""))
        for name, value in values.items()
    }
    return {name: text for name, text in texts.items() if text.lower() not in junk}


def failure(message: str, mime: str) -> DocumentError:
    """The error a person gets for kreuzberg's message."""
    name, lowered = "PDF" if mime == PDF else "file", message.lower()
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
