"""The one door to kreuzberg: bytes in, its result out, and every way it fails as a DocumentError."""

from __future__ import annotations

from typing import Any

from thresher.documents.limits import Limits
from thresher.errors import DocumentError

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
