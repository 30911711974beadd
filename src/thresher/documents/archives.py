"""Bombs are found before anything is unpacked for real.

A zip directory states every size, so an archive is judged by it alone. A PDF states nothing, so its compressed streams
are run through zlib in small pieces that are thrown away, and counted.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence

from thresher.documents.limits import RATIO_FLOOR_BYTES, Limits
from thresher.errors import DocumentError

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
