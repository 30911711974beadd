"""Uploaded files, written to disk as they arrive and kept to be opened and read again; originals of documents.

Uploads lie in `server/uploads/COLLECTION-TOKEN` of the home, under safe forms of their names. A file of the same name
is the next version of the same document. The token is stored with the collection: a renamed collection keeps its
files, and a new one of the old name gets its own.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import unicodedata
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from thresher.collection import Collection, SourceRef
from thresher.home.places import LocalFiles, home_files, make_folder, working_folder
from thresher.indexing.store import DocumentStore
from thresher.protocols import Home
from thresher_server.conversations import forget_sources
from thresher_server.naming import is_there
from thresher_server.problems import Problem

TOKEN_FILE = "uploads"
"""File in a collection's folder: the token of its uploads."""

TOKEN_BYTES = 6

LONGEST_PART = 120
"""Bytes of a file's or folder's name with its ending; file systems allow 255."""

MOST_FOLDERS = 8
"""Names kept of a path, counted from its end."""

_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*\\\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]')

_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")
"""Names that are devices on Windows."""


BEFORE = ".before-"
"""Name prefix of a file's previous version, kept until the new one has been read."""


def uploads_folder(home: Home) -> Path:
    """The folder of all collections' uploads."""
    return working_folder(home).resolve() / "server" / "uploads"


class Uploads:
    """The uploaded files of a collection."""

    def __init__(self, home: Home, collection: Collection) -> None:
        self._all = uploads_folder(home)
        self._collection = collection
        # Copies for other machines, if the home is in a bucket.
        self._copies = None if isinstance(home, Path) else home_files(home).below("server").below("uploads")

    @property
    def folder(self) -> Path:
        """Their folder; it may not exist."""
        return self._all / f"{safe_part(self._collection.name)}-{self._token()}"

    def holds(self, file: str) -> bool:
        """Whether a source is an uploaded file."""
        return Path(file).is_relative_to(self._all) and ".." not in Path(file).parts

    def place(self, name: str) -> Path:
        """The path for a file of this name."""
        return self.folder / safe_name(name)

    def take(self, sent: Path, place: Path) -> None:
        """Move a sent file to its path; the previous version stays beside it until the new one has been read."""
        make_folder(place.parent)
        before = _before(place)
        if place.is_file() and not before.exists():
            try:
                os.link(place, before)  # a kill leaves one version in its place
            except OSError:  # a file system without links
                place.replace(before)
        sent.replace(place)

    def settle(self, files: Iterable[str]) -> None:
        """Restore the previous version of files that could not be read, so that file and text agree; remove others."""
        kept = [file for file in filter(self.holds, files) if _before(Path(file)).exists()]
        recorded = DocumentStore(self._collection.folder).files() if kept else {}
        for file in kept:
            before = _before(Path(file))
            if file in recorded and recorded[file]["sha256"] == hashlib.sha256(before.read_bytes()).hexdigest():
                before.replace(file)
                self.share([file])
            else:
                before.unlink()

    def share(self, files: Iterable[str]) -> None:
        """Copy files into a home in a bucket, for its other machines."""
        if self._copies is not None:
            for file in filter(self.holds, files):
                self._copies.write(self._name(file), Path(file).read_bytes())

    def fetch(self, files: Iterable[str]) -> None:
        """Copy files that are missing here from a home in a bucket."""
        for file in filter(self.holds, files if self._copies is not None else ()):
            path = Path(file)
            content = None if path.exists() or self._copies is None else self._copies.read(self._name(file))
            if content is not None:
                LocalFiles(path.parent).write(path.name, content)

    def forget(self, files: Iterable[str]) -> None:
        """Remove files, and the folders that become empty."""
        for file in filter(self.holds, files):
            path = Path(file)
            path.unlink(missing_ok=True)
            _before(path).unlink(missing_ok=True)
            if self._copies is not None:
                self._copies.remove([self._name(file)])
            for folder in path.parents:
                if folder == self._all or not folder.is_dir() or any(folder.iterdir()):
                    break
                folder.rmdir()

    def forget_unread(self, files: Iterable[str]) -> None:
        """Remove those of the files that no document is from."""
        kept = set(filter(self.holds, files))
        if kept:
            self.forget(kept - {place.file for place in DocumentStore(self._collection.folder).all_places()})

    def forget_all(self) -> None:
        """Remove every uploaded file of the collection."""
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._copies is not None:
            self._copies.remove([file.name for file in self._copies.list(f"{self.folder.name}/")])

    def _name(self, file: str) -> str:
        return Path(file).relative_to(self._all).as_posix()

    def _token(self) -> str:
        files = self._collection.files
        known = files.read(TOKEN_FILE)
        if known is None:  # of two made at once, the first counts
            files.create(TOKEN_FILE, secrets.token_hex(TOKEN_BYTES).encode())
            known = files.read(TOKEN_FILE)
        assert known is not None
        return known.decode("ascii")


def _before(place: Path) -> Path:
    return place.with_name(f"{BEFORE}{place.name}")


def safe_name(name: str) -> PurePosixPath:
    r"""A sent name as a relative path that cannot leave its folder, hide, or control a terminal.

    >>> safe_name("../../etc/passwd")
    PurePosixPath('etc/passwd')
    >>> safe_name("C:\\Users\\me\\report.pdf")
    PurePosixPath('C_/Users/me/report.pdf')
    >>> safe_name("..")
    PurePosixPath('unnamed')
    """
    parts = [part for part in re.split(r"[/\\]", name) if part.strip(" .")]
    return PurePosixPath(*map(safe_part, parts[-MOST_FOLDERS:] or ["unnamed"]))


def safe_part(part: str) -> str:
    """A safe name in a path: composed, visible, short, without control characters, and not a device."""
    composed = unicodedata.normalize("NFC", part.encode("utf-8", "replace").decode("utf-8"))
    cleaned = _UNSAFE.sub("_", composed).strip(" .") or "unnamed"
    if _RESERVED.fullmatch(cleaned):
        cleaned = f"_{cleaned}"
    stem, dot, ending = cleaned.rpartition(".")
    if not stem or len(ending.encode()) > 16:  # too long for a file ending
        stem, dot, ending = cleaned, "", ""
    kept = stem.encode()[: LONGEST_PART - len((dot + ending).encode())].decode("utf-8", "ignore").strip(" .")
    return f"{kept or 'unnamed'}{dot}{ending}"


class Originals:
    """The current locations of a collection's documents."""

    def __init__(self, collection: Collection) -> None:
        self._places: dict[str, tuple[SourceRef, ...]] = {}
        self._read: set[str] = set()
        self._uploads = Uploads(collection.home, collection)
        if is_there(collection):
            store = collection.opened.store
            catalog = store.catalog()
            self._places = {id_: catalog.entry(id_).places for id_ in catalog.ids}
            self._read = set(store.files())

    def places(self, document: str) -> tuple[SourceRef, ...]:
        """Every location of a document. Raises Problem 404 for an unknown one."""
        if document not in self._places:
            raise missing(document)
        return self._places[document]

    def file(self, document: str) -> Path | None:
        """The first of its files that is on this machine; None if there is none."""
        for place in self.places(document):
            self._uploads.fetch([place.file])
            path = Path(place.file)
            known = place.file in self._read or self._uploads.holds(place.file)  # a deletion that was cut short
            if known and path.is_absolute() and path.is_file():
                return path
        return None


def forget_document(collection: Collection, document: str, *, purge: bool = False) -> list[str]:
    """Forget a document, and its file if it was uploaded; returns its sources. `purge` also removes what quotes it.

    Raises Problem 404 for an unknown one.
    """
    places = Originals(collection).places(document)
    if purge:  # first: a resumed purge does not include conversations
        forget_sources(collection.home, collection.name, {place.source for place in places})
    gone = collection.delete(*places, purge=purge)  # by place: another corpus may have a row of that name
    Uploads(collection.home, collection).forget_unread(place.file for place in places)
    return gone


def missing(document: str) -> Problem:
    """The problem of an unknown document."""
    return Problem(404, "is not there", subject=f"document {document}", next_step="see the list of documents")
