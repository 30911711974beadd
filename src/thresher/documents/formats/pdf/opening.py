"""A PDF as PDFium opens it: bombs are refused before, and what cannot be opened with the reason."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from ctypes import POINTER, c_ushort, cast, create_string_buffer
from threading import Lock
from typing import Any

from pypdfium2 import PdfDocument, PdfiumError
from pypdfium2.raw import FPDF_ERR_PASSWORD

from thresher.documents.sources import Limits
from thresher.errors import DocumentError

_one_at_a_time = Lock()
"""PDFium may be called by one thread of a process at a time."""


@contextmanager
def opened(data: bytes) -> Iterator[PdfDocument]:
    """The document, for this thread alone until it is closed; DocumentError where PDFium cannot read it or a page."""
    with _one_at_a_time:
        try:
            with closing(PdfDocument(data)) as document:
                document.init_forms()
                yield document
        except PdfiumError as error:
            # Where a PDF has no pages the code is that of the error before.
            if error.err_code == FPDF_ERR_PASSWORD and b"/Encrypt" in data:
                what, next_step = "the PDF is protected by a password", "save a copy without the password"
            else:
                what = "the PDF is damaged or cut off, or has no pages"
                next_step = "download or export it again and check that it opens in a viewer"
            raise DocumentError(what, next_step=next_step) from error


def wide_text(read: Callable[..., int], *about: Any) -> str:
    """The text that a function of PDFium writes into a buffer; `about` is what it takes before that."""
    size = read(*about, None, 0)
    buffer = create_string_buffer(size)
    read(*about, cast(buffer, POINTER(c_ushort)), size)
    return buffer.raw[:-2].decode("utf-16-le", "replace")


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
