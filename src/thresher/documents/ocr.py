"""Text of pages that are only pictures, by the `tesseract` command where it is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from thresher.errors import DocumentError

DOTS_PER_INCH = 300  # what tesseract's documentation asks for
SECONDS_PER_PAGE = 60  # a dense page takes 2 to 10 s on one core


def fill_blank_pages(pages: Sequence[str], data: bytes) -> tuple[list[str], dict[str, int]]:
    """The pages, blank ones read by OCR where possible, and how many were read so or stayed without text.

    A PDF without any text is an error where OCR is not possible. One with some text is taken as it is, its blank pages
    are counted.
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
        return filled, {"pages_without_text": len(blank)}
    with tempfile.TemporaryDirectory(prefix="thresher-") as folder:
        path = Path(folder, "pages.pdf")
        path.write_bytes(data)
        for index in blank:
            filled[index] = _read_page(path, index, languages)
    without = sum(1 for page in filled if not page.strip())
    if without == len(filled):
        raise DocumentError("no text layer, and OCR found no text", next_step="check that the pages are not blank")
    notes = {"pages_by_ocr": len(blank) - without, "pages_without_text": without}
    return filled, {name: count for name, count in notes.items() if count}


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
    languages = sorted(line.strip() for line in listed.splitlines()[1:] if line.strip() not in ("", "osd", "equ"))
    if "eng" in languages:
        languages = ["eng", *(language for language in languages if language != "eng")]
    return "+".join(languages)


def _read_page(path: Path, index: int, languages: str) -> str:
    import kreuzberg

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
    text: bytes = read.stdout
    return text.decode("utf-8", errors="replace")
