"""Archives: opened and checked against bombs; their files, or the parts of an Office file that they are."""

from __future__ import annotations

import gzip
import io
import posixpath
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from thresher.documents.assembly import Member
from thresher.documents.cleaning import clean_inline, iso_date
from thresher.documents.registry import RawFile, beside
from thresher.documents.sources import MEBIBYTE, Limits
from thresher.errors import DocumentError

MAX_ENTRIES = 20_000  # a spreadsheet with a thousand sheets has some 5,000
RATIO_FLOOR_BYTES = 16 * MEBIBYTE  # below it a high ratio is harmless: an empty spreadsheet packs 500 fold
NESTED = (".zip", ".docx", ".xlsx", ".pptx", ".jar", ".7z", ".gz", ".rar")
MAX_XML_BYTES = 128 * MEBIBYTE
"""Of one part; a tree in memory takes ten times as much, a text of a thousand pages has some 10 MiB."""
MAX_XML_DEPTH = 400  # elements in elements; Word nests some 40, a table in a table in a text box
PROGRAMS = frozenset({"", "openpyxl", "python-docx"})  # call themselves the author
TEMPLATE_MOMENTS = frozenset({"2013-12-23T23:15:00Z", "2013-01-27T09:14:16Z"})
"""When the templates of python-docx and python-pptx were made: their files say so until a program says otherwise."""


@contextmanager
def opened(data: bytes, *, limits: Limits) -> Iterator[zipfile.ZipFile]:
    """The archive, unless it unpacks to too much; raises DocumentError for errors in its parts while it is open."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _refuse_bombs(archive.infolist(), len(data), limits)
            yield archive
    except (LookupError, ElementTree.ParseError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as e:
        raise DocumentError(
            f"the file is damaged or not what its name says ({type(e).__name__}: {str(e)[:80]})",
            next_step="open and save it again, or leave it out",
        ) from e


def _refuse_bombs(entries: Sequence[zipfile.ZipInfo], packed: int, limits: Limits) -> None:
    """By the archive's own directory; nested archives count as packed only."""
    if any(entry.flag_bits & 1 for entry in entries):
        raise DocumentError("the file is protected by a password", next_step="save a copy without the password")
    unpacked = sum(entry.file_size for entry in entries)
    nested = sum(1 for entry in entries if entry.filename.lower().endswith(NESTED))
    ratio = unpacked / max(1, packed)
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
        raise _bomb(reason)


def _bomb(reason: str) -> DocumentError:
    what = f"looks like an archive bomb ({reason})"
    return DocumentError(what, next_step="leave it out, or raise the limit if you trust it")


def read_zip(file: RawFile) -> Iterator[Member]:
    """The files of an archive but for the hidden ones, as of a folder."""
    with opened(file.data, limits=file.limits) as archive:
        for entry in archive.infolist():
            if not entry.is_dir() and (path := _shown_path(entry.filename)):
                data = archive.read(entry)

                def other(path: str, folder: str = posixpath.dirname(entry.filename)) -> bytes:
                    name = posixpath.normpath(posixpath.join(folder, path))
                    return archive.read(name) if name in archive.NameToInfo else b""

                yield Member(path, data, beside=beside(data, other))


def read_tar(file: RawFile) -> Iterator[Member]:
    """The files of a tar archive but for the hidden ones; links are left out."""
    try:
        with tarfile.open(fileobj=io.BytesIO(file.data), mode="r:") as archive:
            for number, entry in enumerate(archive, start=1):
                if number > MAX_ENTRIES:
                    raise _bomb(f"more than {MAX_ENTRIES:,} entries")
                inside = archive.extractfile(entry) if entry.isreg() else None
                if inside is not None and (path := _shown_path(entry.name)):
                    yield Member(path, inside.read())
    except (tarfile.TarError, EOFError, ValueError) as error:
        what = f"the archive is damaged or cut off ({str(error)[:80]})"
        raise DocumentError(what, next_step="get it again, or leave it out") from error


def read_gzip(file: RawFile) -> Iterator[Member]:
    """The file that was packed, called as the archive without its ending."""
    name = PurePosixPath(file.name).name
    inner = re.sub(r"\.(?:gz|(tgz))$", lambda found: ".tar" if found[1] else "", name, flags=re.IGNORECASE)
    yield Member(inner if inner not in ("", name) else f"{name or 'file'}.unpacked", _inflated(file.data, file.limits))


def _inflated(data: bytes, limits: Limits) -> bytes:
    """What a gzip file unpacks to, its parts one after the other."""
    most = min(limits.max_unpacked_bytes, max(RATIO_FLOOR_BYTES, limits.max_unpacked_ratio * len(data)))
    try:
        with gzip.open(io.BytesIO(data)) as unpacked:
            found = unpacked.read(most + 1)
    except (zlib.error, OSError, EOFError) as error:
        what = f"the archive is damaged or cut off ({str(error)[:80]})"
        raise DocumentError(what, next_step="get it again, or leave it out") from error
    if len(found) > most:
        raise _bomb(f"unpacks to more than {most:,} bytes")
    return found


def _shown_path(name: str) -> str:
    """Where a file lies in its archive; empty for one that is hidden."""
    parts = [part for part in PurePosixPath(name.replace("\\", "/")).parts if part not in ("..", "/")]
    return "" if any(part.startswith((".", "__MACOSX")) for part in parts) else "/".join(parts)


def xml_of(archive: zipfile.ZipFile, name: str) -> Element:
    """The root of a part; LookupError for one that is missing. No part may declare entities, be huge or very deep."""
    if archive.getinfo(name).file_size > MAX_XML_BYTES:
        raise DocumentError(f"its part {name} is too large", next_step="split the file")
    with archive.open(name) as file:
        return xml_root(iter(lambda: file.read(MEBIBYTE), b""), f"its part {name}")


def xml_root(pieces: Iterable[bytes], called: str) -> Element:
    """The root of an XML text; ParseError where it is not well-formed."""
    parser: Any = ElementTree.XMLPullParser(("start", "end"))
    depth = 0
    root: Element | None = None
    for piece in pieces:
        if b"<!ENTITY" in piece:
            raise DocumentError(f"{called} declares entities", next_step="save it again, or leave it out")
        parser.feed(piece)
        for event, element in parser.read_events():
            root = element if root is None else root
            depth += 1 if event == "start" else -1
            if depth > MAX_XML_DEPTH:
                raise DocumentError("its elements are nested too deeply", next_step="leave it out")
    parser.close()
    if root is None:
        raise LookupError(called)
    return root


def local(element: Element) -> str:
    """The name of an element without its namespace: files of the strict standard have others."""
    return element.tag.rpartition("}")[2]


def attribute(element: Element | None, name: str, default: str = "") -> str:
    """The attribute of that name in any namespace."""
    attributes = {} if element is None else element.attrib
    return next((value for key, value in attributes.items() if key.rpartition("}")[2] == name), default)


def whole(text: str, other: int = 0) -> int:
    """The number that an attribute is; the other one for what is none, or too large for a column, a level or a row."""
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else other


def is_on(switch: Element | None) -> bool:
    """Whether a property that is on or off is there and on."""
    return switch is not None and attribute(switch, "val", "true").lower() not in ("0", "false", "off")


def child(element: Element | None, *names: str) -> Element | None:
    """The first child of that name, of that the first of the next name, and so on; None where one is missing."""
    for name in names:
        for each in () if element is None else element:
            if local(each) == name:
                element = each
                break
        else:
            return None
    return element


def children(element: Element | None, name: str) -> list[Element]:
    """All children of that name."""
    return [] if element is None else [each for each in element if local(each) == name]


def descendants(element: Element | None, name: str) -> Iterator[Element]:
    """All elements of that name below, in the order of the file."""
    return (each for each in ([] if element is None else element.iter()) if local(each) == name)


class Part:
    """A part of an Office file, and those that it refers to inside the archive."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self.archive = archive
        self.name = name

    @classmethod
    def main(cls, archive: zipfile.ZipFile, usual: str) -> Part:
        """The part that the package is about."""
        return next(iter(cls(archive, "").related("officeDocument")), cls(archive, usual))

    @property
    def root(self) -> Element:
        """Its outermost element; LookupError where the part is missing."""
        return xml_of(self.archive, self.name)

    @cached_property
    def targets(self) -> dict[str, tuple[str, Part]]:
        """Type (its last word) and part of everything that it refers to and that is there, by identifier."""
        folder, _, name = self.name.rpartition("/")
        if (rels := posixpath.join(folder, "_rels", f"{name}.rels")) not in self.archive.NameToInfo:
            return {}
        found = {}
        for each in xml_of(self.archive, rels):
            path = posixpath.normpath(posixpath.join(f"/{folder}", each.get("Target", "")))[1:]
            if each.get("TargetMode") != "External" and path in self.archive.NameToInfo:
                found[each.get("Id", "")] = each.get("Type", "").rpartition("/")[2], Part(self.archive, path)
        return found

    def related(self, *kinds: str) -> list[Part]:
        """Those of some types."""
        return [part for kind, part in self.targets.values() if kind in kinds]

    def properties(self) -> tuple[str, str | None, dict[str, str]]:
        """Of the file: title, day of making, and author, subject, keywords and last change as a person stated them."""
        part = "docProps/core.xml"
        elements = xml_of(self.archive, part) if part in self.archive.NameToInfo else ()
        properties = {local(each): clean_inline(each.text or "") for each in elements}
        created = properties.get("created", "")
        names = {"author": "creator", "subject": "subject", "keywords": "keywords"}
        found = {name: text for name, tag in names.items() if (text := properties.get(tag, "")).lower() not in PROGRAMS}
        editor, changed = properties.get("lastModifiedBy", ""), properties.get("modified", "")
        if editor.lower() not in PROGRAMS and (day := iso_date(changed)) and changed not in TEMPLATE_MOMENTS:
            found |= {"changed": day, "changed_by": editor}
        return properties.get("title", ""), None if created in TEMPLATE_MOMENTS else iso_date(created), found
