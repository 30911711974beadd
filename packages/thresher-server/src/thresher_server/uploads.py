"""Files that were sent: written to disk as they come, kept so that they can be opened and read again.

They lie in `server/uploads/COLLECTION-TOKEN` of the home, under the names they were sent with, made safe. A file of the
same name is the same document's next version. The token lies with the collection, so that a renamed one keeps its files
and another of its old name gets its own.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import shutil
import unicodedata
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from thresher.collection import Collection
from thresher.home.files import LocalFiles, make_folder
from thresher.home.places import Home, home_files, working_folder
from thresher.indexing.store import DocumentStore

TOKEN_FILE = "uploads"
"""In a collection's folder: the token of its uploads."""

TOKEN_BYTES = 6

LONGEST_PART = 120
"""Bytes of a file's or folder's name; with its ending it stays below the 255 of file systems."""

MOST_FOLDERS = 8
"""That a file sent with a folder's name lies deep; more are left out, the outermost first."""

_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*\\\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]')

_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")
"""Names that are devices on Windows."""


BEFORE = ".before-"
"""What the name of a kept file begins with whose next version was sent and has not been read yet."""


def uploads_folder(home: Home) -> Path:
    """Where the kept files of all collections lie."""
    return working_folder(home).resolve() / "server" / "uploads"


class Uploads:
    """The kept files of a collection."""

    def __init__(self, home: Home, collection: Collection) -> None:
        self._all = uploads_folder(home)
        self._collection = collection
        # A folder of this machine is not the home where that is in a bucket: other machines find a copy there.
        self._copies = None if isinstance(home, Path) else home_files(home).below("server").below("uploads")

    @property
    def folder(self) -> Path:
        """Where they lie; it need not be there."""
        return self._all / f"{safe_part(self._collection.name)}-{self._token()}"

    def holds(self, file: str) -> bool:
        """Whether a source is one of the kept files."""
        return Path(file).is_relative_to(self._all)

    def place(self, name: str) -> Path:
        """Where a file that is sent under a name is kept."""
        return self.folder / safe_name(name)

    def take(self, sent: Path, place: Path) -> None:
        """Keep a sent file in its place; the one that was there lies beside it until the new one was read."""
        make_folder(place.parent)
        before = _before(place)
        if place.is_file() and not before.exists():
            place.replace(before)
        sent.replace(place)

    def settle(self, files: Iterable[str]) -> None:
        """Put back what was there before where the new file could not be read, so that text and file fit together."""
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
        """Let the other machines of a home in a bucket have kept files too."""
        if self._copies is not None:
            for file in filter(self.holds, files):
                self._copies.write(self._name(file), Path(file).read_bytes())

    def fetch(self, files: Iterable[str]) -> None:
        """Bring kept files that another machine of a home in a bucket has shared, where they are not here."""
        for file in filter(self.holds, files if self._copies is not None else ()):
            path = Path(file)
            content = None if path.exists() or self._copies is None else self._copies.read(self._name(file))
            if content is not None:
                LocalFiles(path.parent).write(path.name, content)

    def forget(self, files: Iterable[str]) -> None:
        """Remove kept files, and the folders that are empty then."""
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
        """Remove those of kept files that no document is from."""
        kept = set(filter(self.holds, files))
        if kept:
            self.forget(kept - {place.file for place in DocumentStore(self._collection.folder).all_places()})

    def forget_all(self) -> None:
        """Remove every kept file of the collection."""
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._copies is not None:
            self._copies.remove([file.name for file in self._copies.list(f"{self.folder.name}/")])

    def _name(self, file: str) -> str:
        return Path(file).relative_to(self._all).as_posix()

    def _token(self) -> str:
        files = self._collection.files
        known = files.read(TOKEN_FILE)
        if known is None:  # of two that begin at once, the first one's counts
            files.create(TOKEN_FILE, secrets.token_hex(TOKEN_BYTES).encode())
            known = files.read(TOKEN_FILE)
        assert known is not None
        return known.decode("ascii")


def _before(place: Path) -> Path:
    return place.with_name(f"{BEFORE}{place.name}")


def safe_name(name: str) -> PurePosixPath:
    r"""A name as it was sent as a path below a folder of ours; what leads out, hides or breaks a terminal is not.

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
    """One name of a path: composed, without control characters, not hidden, short enough, no device."""
    composed = unicodedata.normalize("NFC", part.encode("utf-8", "replace").decode("utf-8"))
    cleaned = _UNSAFE.sub("_", composed).strip(" .") or "unnamed"
    if _RESERVED.fullmatch(cleaned):
        cleaned = f"_{cleaned}"
    stem, dot, ending = cleaned.rpartition(".")
    if not stem or len(ending.encode()) > 16:  # no ending of a file is that long
        stem, dot, ending = cleaned, "", ""
    kept = stem.encode()[: LONGEST_PART - len((dot + ending).encode())].decode("utf-8", "ignore").strip(" .")
    return f"{kept or 'unnamed'}{dot}{ending}"
