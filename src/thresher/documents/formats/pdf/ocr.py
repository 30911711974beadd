"""The text of pages of a PDF that are only pictures, by the `tesseract` command where it is installed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from contextlib import closing

from pypdfium2 import PdfDocument

from thresher.errors import DocumentError

DOTS_PER_INCH = 300  # what tesseract's documentation asks for
MOST_PIXELS = 100_000_000  # of a page; one of A4 has 9 million, A0 139 million
MOST_RANGES = 20  # of page numbers in a remark
SECONDS_PER_PAGE = 60  # a dense page takes 2 to 10 s on one core


def fill_blank_pages(
    pages: Sequence[str], document: PdfDocument, alive: Callable[[], None]
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
    for index in blank:
        filled[index] = _read_page(document, index, languages)
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


def _read_page(document: PdfDocument, index: int, languages: str) -> str:
    with closing(document[index]) as page:
        width, height = page.get_size()
        scale = min(DOTS_PER_INCH / 72, (MOST_PIXELS / (width * height)) ** 0.5)
        image = page.render(scale=scale, grayscale=True)
    try:
        read = subprocess.run(
            ["tesseract", "stdin", "stdout", "-l", languages, "--dpi", str(round(72 * scale))],
            input=b"P5 %d %d 255\n" % (image.width, image.height) + image.buffer,  # as a portable graymap
            capture_output=True,
            timeout=SECONDS_PER_PAGE,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise DocumentError(
            f"OCR of page {index + 1} failed ({type(error).__name__})",
            next_step="run tesseract on it by hand to see why",
        ) from error
    return str(read.stdout, "utf-8", errors="replace")
