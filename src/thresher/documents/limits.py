"""How much of the machine one document may use."""

from __future__ import annotations

from dataclasses import dataclass

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one input; passing one of them is an error of that input, never of the run."""

    max_bytes: int = 200 * MEBIBYTE
    """Per file or reply. The largest of our 41 papers is 3.7 MB; books and annual reports stay under 100 MB."""
    max_unpacked_bytes: int = 1024 * MEBIBYTE
    """What an archive (docx, xlsx, pptx, epub) or the streams of a PDF may unpack to; it has to fit in memory."""
    max_unpacked_ratio: int = 200
    """Unpacked over packed size of an archive. Office XML packs about 10 to 60 fold; deflate can reach 1,032."""
    timeout_seconds: float = 30.0
    """For fetching one URL, from the first byte sent to the last received."""
    max_redirects: int = 5
    """Browsers allow 20; a document that needs more than 5 is a loop or a login page."""
    parse_seconds: int = 300
    """For turning one file into text; OCR has its own limit per page."""


RATIO_FLOOR_BYTES = 16 * MEBIBYTE
"""Below this size a high ratio is harmless: an empty spreadsheet packs 500 fold."""
