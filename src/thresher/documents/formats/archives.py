"""Office files as archives of XML: opened, checked against bombs, their parts and relations read."""

from __future__ import annotations

import io
import posixpath
import zipfile
from xml.etree import ElementTree

from thresher.documents.sources import MEBIBYTE, Limits
from thresher.errors import DocumentError

MAX_ENTRIES = 20_000  # a spreadsheet with a thousand sheets has some 5,000
RATIO_FLOOR_BYTES = 16 * MEBIBYTE
"""Below this size a high ratio is harmless: an empty spreadsheet packs 500 fold."""
NESTED = (".zip", ".docx", ".xlsx", ".pptx", ".jar", ".7z", ".gz", ".rar")
MAX_XML_BYTES = 4 * MEBIBYTE  # of a list of parts; one of a thousand slides takes some 200 kB, a tree in memory tenfold


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


def xml_of(archive: zipfile.ZipFile, name: str) -> ElementTree.Element:
    """The root of a part; LookupError for one that is missing or too large to be a list of parts."""
    if archive.getinfo(name).file_size > MAX_XML_BYTES:
        raise LookupError(name)
    return ElementTree.fromstring(archive.read(name))


def relations_of(part: str) -> str:
    """The name of the part that says what a part refers to."""
    folder, _, name = part.rpartition("/")
    return f"{folder}/_rels/{name}.rels"


def relations(archive: zipfile.ZipFile, part: str) -> list[tuple[str, str, str]]:
    """Identifier, type and target of everything that a part refers to inside the archive."""
    folder = part.rpartition("/")[0]
    return [
        (each.get("Id", ""), each.get("Type", ""), posixpath.normpath(posixpath.join(f"/{folder}", target))[1:])
        for each in xml_of(archive, relations_of(part))
        if (target := each.get("Target")) and each.get("TargetMode") != "External"
    ]
