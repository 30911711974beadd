"""The location of a home, a folder or an address, and the small files of a home and its collections."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import get_ident
from typing import Any, cast

from thresher.errors import StoreError, UsageError, check_type, missing
from thresher.plugins import brought, loaded
from thresher.protocols import Files, RemoteFolder, StoredFile
from thresher.protocols import Home as Home

__all__ = [
    "COLLECTIONS",
    "UNFINISHED",
    "LocalFiles",
    "check_name",
    "files_asked",
    "files_at",
    "held_too_long",
    "home_files",
    "home_of",
    "make_folder",
    "shared",
    "working_folder",
]

COLLECTIONS = "collections"
"""The folder of a home that holds its collections, a folder each."""

STORES = "thresher.stores"
"""Entry points of the stores of other distributions: a name, and a callable that takes a folder."""

SCHEMES = "thresher.homes"
"""Entry points of remote homes: the scheme of an address, and a function from an address to a `RemoteFolder`."""


def home_of(given: str | Path | RemoteFolder) -> Home:
    """The home at a path or at an address such as s3://BUCKET/PREFIX. Raises UsageError."""
    check_type("home", given, (str, Path, RemoteFolder), "a folder, or an address of one")
    if not isinstance(given, str):
        return given
    scheme, sign, _ = given.partition("://")
    if not sign:
        return Path(given)
    if entry := brought(SCHEMES).get(scheme):
        return cast(RemoteFolder, loaded(entry)(given))
    known = "".join(f", or an address that begins with {one}://" for one in sorted(brought(SCHEMES)))
    raise missing(SCHEMES, scheme) or UsageError("is not a home", subject=given, next_step=f"give a folder{known}")


def files_at(folder: Home) -> Files:
    """The files of a home or of a folder in it, including the records of its collections."""
    return LocalFiles(folder) if isinstance(folder, Path) else folder.files()


def shared(home: Path) -> Files | None:
    """The files that homes with one store share, from `home_files` of its entry point; None for a home of its own."""
    from thresher.settings import of_home

    entry = brought(STORES).get(of_home(home).store)
    keeps: Callable[[Path], Files | None] | None = None if entry is None else getattr(loaded(entry), "home_files", None)
    return None if keeps is None else keeps(home)


def home_files(home: Home) -> Files:
    """The files of a home: replies, and the records of the server. The store is looked up at each use."""
    alone = files_at(home)
    return chosen(lambda: shared(home) or alone) if isinstance(home, Path) else alone


def record_files(folder: Home) -> Files:
    """The files of a collection's record when it is not beside the tables; the home is two folders above."""
    together = shared(folder.absolute().parents[1]) if isinstance(folder, Path) else None
    return files_at(folder) if together is None else together.below(COLLECTIONS).below(folder.name)


def files_asked(files: Files) -> Files:
    """The same files for reads of every question: remote ones are cached for a while."""
    remembered: Callable[[], Files] | None = getattr(files, "remembered", None)
    return files if remembered is None else remembered()


def working_folder(folder: Home, environment: Mapping[str, str] = os.environ) -> Path:
    """The folder for local files such as checkpoints of a training: the home, unless it is remote."""
    if isinstance(folder, Path):
        return folder
    caches = Path(environment.get("XDG_CACHE_HOME") or Path(environment.get("HOME", "~")).expanduser() / ".cache")
    return caches / "thresher" / hashlib.sha256(str(folder).encode()).hexdigest()[:16]


def folders(folder: Home) -> list[str]:
    """The sorted names of the folders in a folder, without those that begin with a dot."""
    if isinstance(folder, Path):
        found = sorted(one.name for one in folder.iterdir() if one.is_dir()) if folder.is_dir() else []
    else:
        found = list(folder.folders())
    return [name for name in found if not name.startswith(".")]


def purge_remark(folder: Home) -> str:
    """A sentence on the copies that a purge cannot delete; empty if there are none."""
    return "" if isinstance(folder, Path) else folder.purge_remark()


def size(folder: Home) -> tuple[int, int]:
    """Number and total bytes of the files below a folder."""
    if not isinstance(folder, Path):
        return folder.size()
    files = bytes_ = 0
    for above, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):  # upkeep of another process takes files away
                bytes_ += os.stat(os.path.join(above, name)).st_size
                files += 1
    return files, bytes_


def chosen(choose: Callable[[], Files]) -> Files:
    """Files that are resolved at each use, because the settings that choose them are known only then."""
    return cast(Files, _Chosen(choose))


class _Chosen:
    remembered = None  # what is chosen later cannot be remembered now, see `files_asked`

    def __init__(self, choose: Callable[[], Files]) -> None:
        self._choose = choose

    def __getattr__(self, name: str) -> Any:
        return getattr(self._choose(), name)

    def below(self, name: str) -> Files:
        return chosen(lambda: self._choose().below(name))


# --- files on this machine --------------------------------------------------------------------------------------------

UNFINISHED = ".unfinished-"
"""Prefix of a file that is being written; `Files` does not list it."""

LEFT_SECONDS = 60.0
"""An unfinished file of this age belongs to a killed process: writing takes milliseconds."""

FOLDER_MODE, FILE_MODE = 0o700, 0o600
"""Only the user may read a home: it holds documents, questions and keys."""


def make_folder(folder: Path) -> None:
    """Make a folder of a home, and its missing parents. Raises OSError."""
    if not folder.is_dir():
        if folder.parent != folder:
            make_folder(folder.parent)
        folder.mkdir(FOLDER_MODE, exist_ok=True)


class LocalFiles:
    """The files of a folder (implements `Files`), which is made with the first file; only the user may read them."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)

    def read(self, name: str) -> bytes | None:
        """The content of a file; None if it does not exist."""
        file = self._file(name)
        try:
            return file.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise _failed("read", file, error) from error

    def write(self, name: str, content: bytes, *, durable: bool = False) -> None:
        """Write atomically: a reader sees the old or the new content. `durable` survives a power cut too."""
        file = self._file(name)
        with _unfinished(file, content, durable=durable) as unfinished:
            unfinished.replace(file)

    def create(self, name: str, content: bytes) -> bool:
        """Write a file that does not exist; False if it does. Of several concurrent writers one gets True."""
        file = self._file(name)
        with _unfinished(file, content, durable=False) as unfinished:
            try:
                file.hardlink_to(unfinished)
            except FileExistsError:
                return False
        return True

    def find(self, name: str) -> StoredFile | None:
        """The metadata of a file; None if it does not exist."""
        file = self._file(name)
        try:
            status = file.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise _failed("read", file, error) from error
        return StoredFile(name, status.st_size, status.st_mtime) if file.is_file() else None

    def list(self, prefix: str = "") -> Sequence[StoredFile]:
        """The files whose names begin with the prefix, recursively, oldest first; deletes unfinished files."""
        folder, slash, start = prefix.rpartition("/")
        found: list[tuple[int, StoredFile]] = []
        top = self._file(folder) if folder else self.folder
        for file in _files_below(top, start):
            with suppress(FileNotFoundError):  # removed just now
                status = file.stat()
                name = f"{folder}{slash}{file.relative_to(top).as_posix()}"
                found.append((status.st_mtime_ns, StoredFile(name, status.st_size, status.st_mtime)))
        return [file for _, file in sorted(found, key=lambda one: (one[0], one[1].name))]

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; missing ones are ignored."""
        for name in names:
            file = self._file(name)
            try:
                with suppress(FileNotFoundError, NotADirectoryError):
                    file.unlink()
            except OSError as error:
                raise _failed("removed", file, error) from error

    @contextmanager
    def lock(self, name: str, seconds: float) -> Iterator[None]:
        """Hold the lock of that name, exclusive between processes; it ends with its holder."""
        from filelock import FileLock, Timeout

        file = self._file(name)
        _make_folder(file)
        held = FileLock(file, timeout=seconds)
        try:
            held.acquire()
        except Timeout as error:
            raise held_too_long(str(file), seconds) from error
        try:
            yield
        finally:
            held.release()

    def below(self, name: str) -> LocalFiles:
        """The files in a folder."""
        return LocalFiles(self._file(name))

    def where(self, name: str) -> str:
        """The path of a file."""
        return str(self._file(name))

    def _file(self, name: str) -> Path:
        check_name(name)
        return self.folder / name


def held_too_long(subject: str, seconds: float) -> StoreError:
    """The error for a lock that was not acquired in so many seconds."""
    return StoreError(
        f"another process has held it for {seconds:.0f} s",
        subject=subject,
        next_step="wait for that process or end it, then try again",
    )


def check_collection_name(name: str) -> None:
    """Raise UsageError for an invalid name of a collection."""
    check_type("name", name, str, "the name of a collection")
    if not name.isprintable() or not name or name.startswith(".") or any(mark in name for mark in "/\\"):
        raise UsageError("is not a collection name", subject=repr(name), next_step="use letters, digits, - and _")


def check_name(name: str) -> None:
    """Raise UsageError for a name of a file that leaves the folder or is hidden."""
    if "\0" in name or any(part == "" or part.startswith(".") for part in name.split("/")):
        raise UsageError("is not the name of a file", subject=repr(name), next_step="use names without dots in front")


@contextmanager
def _unfinished(file: Path, content: bytes, *, durable: bool) -> Iterator[Path]:
    """A temporary file with the content beside its target, removed at the end unless it was moved."""
    beside = file.with_name(f"{UNFINISHED}{os.getpid()}-{get_ident()}-{file.name}")
    _make_folder(file)
    try:
        with open(beside, "wb", opener=lambda path, flags: os.open(path, flags, FILE_MODE)) as written:
            written.write(content)
            if durable:
                written.flush()
                os.fsync(written.fileno())
        yield beside
    except OSError as error:
        raise _failed("written", file, error) from error
    finally:
        beside.unlink(missing_ok=True)


def _make_folder(file: Path) -> None:
    try:
        make_folder(file.parent)
    except OSError as error:
        raise _failed("written", file, error) from error


def _files_below(folder: Path, start: str) -> Iterator[Path]:
    """The files below a folder; in the folder itself only names that begin with `start`."""
    try:
        entries = list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise _failed("read", folder, error) from error
    for entry in entries:
        if entry.name.startswith(UNFINISHED):
            _clear_away(Path(entry.path))
        elif entry.name.startswith(start) and not entry.name.startswith("."):
            if entry.is_dir():
                yield from _files_below(Path(entry.path), "")
            else:
                yield Path(entry.path)


def _clear_away(unfinished: Path) -> None:
    with suppress(FileNotFoundError):
        if time.time() - unfinished.stat().st_mtime > LEFT_SECONDS:
            unfinished.unlink()


def _failed(what: str, file: Path, error: OSError) -> StoreError:
    advice = "free some space, or see who may use the folder"
    return StoreError(f"cannot be {what}: {error.strerror}", subject=str(file), next_step=advice)
