"""Files that hold documents: zip archives and mailboxes, each document in them read as what it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from thresher.documents.assembly import Member
from thresher.documents.formats.archives import opened
from thresher.documents.registry import Held, RawFile
from thresher.errors import DocumentError

BEGINNING = re.compile(rb"(?:\A|\n\r?\n)From [^\n]*\d\d:\d\d[^\n]*\r?\n(?=[\w-]+:)")
"""The line before each mail of a mailbox, which ends with a date; one in a mail has a `>` before it."""
QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)


def read_zip(file: RawFile) -> Iterator[Held]:
    """The files of an archive but for the hidden ones, as of a folder."""
    with opened(file.data, limits=file.limits) as archive:
        for entry in archive.infolist():
            path = PurePosixPath(entry.filename.replace("\\", "/"))
            parts = [part for part in path.parts if part not in ("..", "/")]
            if entry.is_dir() or not parts or any(part.startswith((".", "__MACOSX")) for part in parts):
                continue
            yield Member("/".join(parts), archive.read(entry))


def read_mailbox(file: RawFile) -> Iterator[Held]:
    """The mails of an mbox file, under their numbers."""
    begins = list(BEGINNING.finditer(file.data))
    if not begins:
        raise DocumentError("not a mailbox: no line begins with From and a date", next_step="rename it to .txt")
    ends = [*(one.start() for one in begins[1:]), len(file.data)]
    for number, (one, end) in enumerate(zip(begins, ends, strict=True), start=1):
        yield Member(f"{number}.eml", QUOTED.sub(rb"\1", file.data[one.end() : end]))
