"""Where a home is, a folder of this machine or of a bucket, and where it and its collections keep their small files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from thresher.errors import UsageError, check_type
from thresher.home.files import LocalFiles
from thresher.protocols import Files, StoredFile

COLLECTIONS = "collections"
"""The folder of a home that holds its collections, a folder each."""

REMEMBERED = 1000
"""Folders of buckets whose few small files are remembered; a home has one for each collection."""

SCHEMES = ("s3", "gs", "az")
"""What the address of a bucket begins with: S3 and what speaks like it, Google Cloud Storage, Azure Blob Storage."""


@dataclass(frozen=True, slots=True)
class BucketFolder:
    """A folder of a bucket; its address holds no secret."""

    address: str

    def __truediv__(self, name: str) -> BucketFolder:
        return BucketFolder(f"{self.address}/{name}")

    def __str__(self) -> str:
        return self.address

    @property
    def name(self) -> str:
        """The last part of the address."""
        return self.address.rpartition("/")[2]

    @property
    def parent(self) -> BucketFolder:
        """The folder that holds it."""
        return BucketFolder(self.address.rpartition("/")[0])

    @property
    def bucket(self) -> str:
        """The address of the whole bucket."""
        return "/".join(self.address.split("/")[:3])

    @property
    def prefix(self) -> str:
        """What the names of everything in the folder begin with, without a slash at its end."""
        return "/".join(self.address.split("/")[3:])


Home: TypeAlias = Path | BucketFolder
"""Where collections are: a folder, or one of a bucket. The folder of a collection is another of the same kind."""


def home_of(given: str | Path | BucketFolder) -> Home:
    """What a person gave as a home: a path, or an address such as s3://BUCKET/PREFIX. Raises UsageError."""
    check_type("home", given, (str, Path, BucketFolder), "a folder, or the address of one of a bucket")
    if not isinstance(given, str) or "://" not in given:
        return given if isinstance(given, BucketFolder) else Path(given)
    scheme, _, rest = given.partition("://")
    bucket, _, prefix = rest.partition("/")
    if "@" in bucket:
        advice = "leave them to the environment, e.g. AWS_ACCESS_KEY_ID"
        raise UsageError("holds credentials", subject="the address of a home", next_step=advice)
    parts = [part for part in prefix.split("/") if part]
    if scheme not in SCHEMES or not bucket or any(part.startswith(".") for part in parts) or set(rest) & set("?#\\"):
        known = ", ".join(f"{known}://BUCKET/PREFIX" for known in SCHEMES)
        raise UsageError("is not a home", subject=given, next_step=f"give a folder, or one of {known}")
    return BucketFolder("/".join([f"{scheme}://{bucket}", *parts]))


def files_at(folder: Home, *, private: bool = False) -> Files:
    """The files of a home, or of a folder in it, the records of its collections among them.

    `private` ones are for the user alone who runs this; who may read a bucket is said there.
    """
    if isinstance(folder, Path):
        return LocalFiles(folder, private=private)
    from thresher.home.bucket import BucketFiles

    return BucketFiles(folder)


def _by_itself(home: Path) -> Files | None:
    return None


shared: Callable[[Path], Files | None] = _by_itself
"""What a home keeps together with other homes, as the settings around it say; None for a home by itself.

The settings are read by `thresher.recipes`, which puts its own here.
"""


def home_files(home: Home, *, private: bool = False) -> Files:
    """The files of a home: replies, and what the server keeps. Which they are is asked at each use.

    `private` as `files_at` has it.
    """
    alone = files_at(home, private=private)
    return ChosenFiles(lambda: shared(home) or alone) if isinstance(home, Path) else alone


def record_files(folder: Home) -> Files:
    """Where a collection's own record is kept that is not beside its tables; its home is two above its folder."""
    together = shared(folder.absolute().parents[1]) if isinstance(folder, Path) else None
    return files_at(folder) if together is None else together.below(COLLECTIONS).below(folder.name)


def files_asked(files: Files) -> Files:
    """The same files for what every question reads: those of a bucket are asked for again only after a while."""
    from thresher.home.bucket import BucketFiles

    return _remembered(files.folder) if isinstance(files, BucketFiles) else files


@lru_cache(maxsize=REMEMBERED)
def _remembered(folder: BucketFolder) -> Files:
    from thresher.home.bucket import BucketFiles, options_of
    from thresher.home.remembered import RememberedFiles

    return RememberedFiles(BucketFiles(folder), lambda: options_of(folder).seconds_behind)


def working_folder(folder: Home, environment: Mapping[str, str] = os.environ) -> Path:
    """Where this machine keeps what is its own, such as the checkpoints of a training: the home, unless in a bucket."""
    if isinstance(folder, Path):
        return folder
    caches = Path(environment.get("XDG_CACHE_HOME") or Path(environment.get("HOME", "~")).expanduser() / ".cache")
    return caches / "thresher" / hashlib.sha256(folder.address.encode()).hexdigest()[:16]


def folders(folder: Home) -> list[str]:
    """The names of the folders in a folder, sorted, those that begin with a dot left out."""
    if isinstance(folder, BucketFolder):
        from thresher.home.bucket import BucketFiles

        found = list(BucketFiles(folder).folders())
    else:
        found = sorted(one.name for one in folder.iterdir() if one.is_dir()) if folder.is_dir() else []
    return [name for name in found if not name.startswith(".")]


def purge_remark(folder: Home) -> str:
    """What a purge cannot reach, in words; the empty text where it reaches everything."""
    if isinstance(folder, Path):
        return ""
    from thresher.home.bucket import bucket_of

    advice = "let a rule of the bucket expire them"
    match bucket_of(folder).keeps_versions:
        case True:
            return f"the bucket keeps old versions of what was removed, which are out of reach here: {advice}"
        case None:
            return f"whether the bucket keeps old versions of what was removed cannot be told here: {advice}"
        case False:
            return ""


def size(folder: Home) -> tuple[int, int]:
    """Files in a folder and below it, and their bytes."""
    if isinstance(folder, BucketFolder):
        from thresher.home.bucket import BucketFiles

        return BucketFiles(folder).size()
    files = bytes_ = 0
    for above, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):  # upkeep of another process takes files away
                bytes_ += os.stat(os.path.join(above, name)).st_size
                files += 1
    return files, bytes_


class ChosenFiles:
    """Files that are chosen when they are used (implements `Files`): by then the settings around them are known."""

    def __init__(self, choose: Callable[[], Files]) -> None:
        self._choose = choose

    def read(self, name: str) -> bytes | None:
        """The content; None where there is no such file."""
        return self._choose().read(name)

    def write(self, name: str, content: bytes, *, durable: bool = False) -> None:
        """Whole or not at all."""
        self._choose().write(name, content, durable=durable)

    def create(self, name: str, content: bytes) -> bool:
        """Write a file that is not there yet; False where it is."""
        return self._choose().create(name, content)

    def find(self, name: str) -> StoredFile | None:
        """Its size and age; None where there is no such file."""
        return self._choose().find(name)

    def list(self, prefix: str = "") -> Sequence[StoredFile]:
        """The files whose names begin with the prefix, the oldest first."""
        return self._choose().list(prefix)

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that are not there are passed over."""
        self._choose().remove(names)

    def lock(self, name: str, seconds: float) -> AbstractContextManager[None]:
        """While inside, nobody else holds the lock of that name."""
        return self._choose().lock(name, seconds)

    def below(self, name: str) -> ChosenFiles:
        """The files in a folder."""
        return ChosenFiles(lambda: self._choose().below(name))

    def where(self, name: str) -> str:
        """Where a file is, as a person is told."""
        return self._choose().where(name)
