"""Small files as objects of a bucket: written atomically, created once, replaced only if unchanged.

This depends on conditional puts. A bucket that creates an object twice, or replaces one whose tag has changed, would
lose concurrent writes: opening it is refused.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from secrets import token_hex
from threading import Lock
from time import monotonic
from typing import Any

from thresher.errors import StoreAway, StoreError
from thresher.home.places import check_name, held_too_long
from thresher.protocols import StoredFile
from thresher_bucket.address import BucketAddress
from thresher_bucket.lease import Tag, held_by
from thresher_bucket.settings import BucketSettings, forget_options, options_of

CONNECT_SECONDS = 3.0
"""Connection timeout; a data centre away connecting takes a tenth of a second."""

REMEMBERED = 1000
"""Folders with cached small files; a home has one for each collection."""

RETRIES = 2
"""Tries after the first: enough for a restart behind a load balancer, in three times `timeout_seconds` at most."""

_log = logging.getLogger(__name__)


# --- errors -----------------------------------------------------------------------------------------------------------

_STATUS = re.compile(r"status code: (\d+ [A-Z][A-Za-z ]*)|status: (\d{3})")
_SLOW = re.compile("timed? ?out|TimedOut|deadline", re.IGNORECASE)
_NO_BUCKET = re.compile("NoSuchBucket|ContainerNotFound|specified bucket does not exist", re.IGNORECASE)
_NOT_ALLOWED_STATUS = ("401", "403")
_NOT_ALLOWED = re.compile("AccessDenied|SignatureDoesNotMatch|InvalidAccessKey|Unauthenticated|PermissionDenied")
_KEYLESS = re.compile("credential|metadata endpoint|169.254.169.254|metadata.google", re.IGNORECASE)


def words(text: str) -> tuple[str, str]:
    """Meaning of an object store's error and the next step; never its own text, which may contain keys."""
    status = _STATUS.search(text)
    code = next(filter(None, status.groups()), "") if status else ""
    if _NO_BUCKET.search(text):
        return "there is no such bucket", "make it with the tools of whoever keeps it"
    if code.startswith(_NOT_ALLOWED_STATUS) or (not code and _NOT_ALLOWED.search(text)):  # a port may be 40135
        return "does not let these keys in", "see AWS_ACCESS_KEY_ID and its secret, and what they may do"
    if not code and _KEYLESS.search(text) and not _SLOW.search(text.partition("169.254")[0]):
        return "nothing says with which keys it is asked", "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    if code:
        return f"answers {code.strip()}", "try again; what was committed is kept"
    what = "does not answer in time" if _SLOW.search(text) else "does not answer, or cannot be reached"
    return what, "try again when it is there; what was committed is kept"


def error_of(subject: str, text: str) -> StoreError:
    """The error for an object store's message; StoreAway if a retry can help."""
    what, advice = words(text)
    is_away = what.startswith(("does not answer", "answers 5", "answers 429"))
    return (StoreAway if is_away else StoreError)(what, subject=subject, next_step=advice)


@contextmanager
def bucket_errors(subject: str) -> Iterator[None]:
    """Raise errors of the object store in the block as StoreError about the subject."""
    from obstore.exceptions import BaseError

    try:
        yield
    except (BaseError, OSError, ValueError) as error:
        _log.debug("%s: %s", subject, type(error).__name__)
        # Without the cause: its text contains the store's answer, which may quote a key.
        raise error_of(subject, str(error)) from None


# --- buckets ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bucket:
    """An opened bucket with working conditional puts."""

    store: Any
    options: BucketSettings
    keeps_versions: bool | None
    """Whether removed objects stay as old versions; None if unknown."""


_opened: dict[str, Bucket] = {}
_opening = Lock()


def forget_all() -> None:
    """Open every bucket anew at its next use, by the environment at that time."""
    with _opening:
        _opened.clear()
    forget_options()


def bucket_of(folder: BucketAddress) -> Bucket:
    """The bucket of a folder, opened and tested once in a process, and again with other settings. Raises StoreError."""
    options = options_of(folder)
    with _opening:
        if folder.bucket not in _opened or _opened[folder.bucket].options != options:
            store = _connected(folder, options)
            _opened[folder.bucket] = Bucket(store, options, _tried(folder, store))
        return _opened[folder.bucket]


def allows_http() -> bool:
    """Whether the environment names an unencrypted address, which clients reject by default."""
    endpoints = (os.environ.get(name, "") for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT"))
    return any(endpoint.startswith("http://") for endpoint in endpoints)


def _connected(folder: BucketAddress, options: BucketSettings) -> Any:
    from obstore.store import AzureStore, GCSStore, S3Store

    scheme, _, name = folder.bucket.partition("://")
    how: dict[str, Any] = {
        "client_options": {
            "timeout": timedelta(seconds=options.timeout_seconds),
            "connect_timeout": timedelta(seconds=min(CONNECT_SECONDS, options.timeout_seconds)),
            "allow_http": allows_http(),
        },
        "retry_config": {
            "max_retries": RETRIES,
            "retry_timeout": timedelta(seconds=options.timeout_seconds * RETRIES),
            "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=1), "base": 2},
        },
    }
    with bucket_errors(folder.bucket):
        match scheme:
            case "gs":
                return GCSStore(name, **how)
            case "az":
                return AzureStore(name, **how)
            case _:
                return S3Store(name, **how)


def _tried(folder: BucketAddress, store: Any) -> bool | None:
    """Whether the bucket keeps old versions. Raises StoreError if its conditional puts do not work."""
    import obstore
    from obstore.exceptions import AlreadyExistsError, PreconditionError

    name = "/".join(filter(None, [folder.prefix, f".probe-{token_hex(8)}"]))
    with bucket_errors(str(folder)):
        put = obstore.put(store, name, b"one", mode="create")
        first: Any = _tag(put)
        held = _refused(AlreadyExistsError, lambda: obstore.put(store, name, b"two", mode="create"))
        if held:
            second = _tag(obstore.put(store, name, b"three", mode=first))
            held = _refused(PreconditionError, lambda: obstore.put(store, name, b"four", mode=first))
            held = held and bytes(obstore.get(store, name).bytes()) == b"three" and second != first
        obstore.delete(store, name)
    if not held:
        raise StoreError(
            "does not keep to conditional puts, so that several writers would lose what they write",
            subject=folder.bucket,
            next_step="use an object store that heeds If-None-Match and If-Match",
        )
    return None if folder.address.startswith("gs:") else put["version"] is not None


def _refused(error: type[Exception], put: Callable[[], object]) -> bool:
    try:
        put()
    except error:
        return True
    return False


# --- files ------------------------------------------------------------------------------------------------------------


class BucketFiles:
    """The files of a folder in a bucket (implements `Files`)."""

    def __init__(self, folder: BucketAddress) -> None:
        self.folder = folder

    def read(self, name: str) -> bytes | None:
        """The content; None if there is no such file."""
        found = self.read_tagged(name)
        return None if found is None else found[0]

    def read_tagged(self, name: str) -> tuple[bytes, Tag] | None:
        """The content with its tag; None if there is no such file."""
        import obstore

        key = self._key(name)
        with bucket_errors(self.where(name)):
            try:
                found = obstore.get(self._store, key)
                return bytes(found.bytes()), _tag(found.meta)
            except FileNotFoundError as error:
                if _NO_BUCKET.search(str(error)):
                    raise
                return None

    def write(self, name: str, content: bytes, *, durable: bool = False) -> None:
        """Atomic and always durable: a reader sees the old content or the new one."""
        self._put(name, content, "overwrite")

    def create(self, name: str, content: bytes) -> bool:
        """Write a new file; False if it exists. Of several concurrent calls one returns True."""
        return self.create_tagged(name, content) is not None

    def create_tagged(self, name: str, content: bytes) -> Tag | None:
        """Write a new file and return its tag; None if it exists."""
        from obstore.exceptions import AlreadyExistsError

        return self._put(name, content, "create", AlreadyExistsError)

    def swap(self, name: str, content: bytes, tag: Tag) -> Tag | None:
        """Replace a file that still has this tag, and return the new tag; None if it changed or is gone."""
        from obstore.exceptions import PreconditionError

        return self._put(name, content, dict(tag), PreconditionError)

    def find(self, name: str) -> StoredFile | None:
        """Metadata of a file; None if there is no such file."""
        import obstore

        key = self._key(name)
        with bucket_errors(self.where(name)):
            try:
                return _stored(name, obstore.head(self._store, key))
            except FileNotFoundError:
                return None

    def list(self, prefix: str = "") -> Sequence[StoredFile]:
        """The files whose names begin with the prefix, also in subfolders, the oldest first."""
        found = (file for file in self._below(prefix.rpartition("/")[0]) if file.name.startswith(prefix))
        shown = [file for file in found if not any(part.startswith(".") for part in file.name.split("/"))]
        return sorted(shown, key=lambda file: (file.modified, file.name))

    def folders(self) -> Sequence[str]:
        """Names of subfolders, sorted."""
        import obstore

        with bucket_errors(str(self.folder)):
            found = obstore.list_with_delimiter(self._store, self.folder.prefix or None)["common_prefixes"]
        return sorted(name.rstrip("/").rpartition("/")[2] for name in found)

    def is_empty(self) -> bool:
        """Whether the folder is empty."""
        import obstore

        with bucket_errors(str(self.folder)):
            return not next(iter(obstore.list(self._store, self.folder.prefix or None, chunk_size=1)), None)

    def size(self) -> tuple[int, int]:
        """Number of objects below the folder, and their bytes."""
        sizes = [file.bytes for file in self._below("")]
        return len(sizes), sum(sizes)

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; missing ones are ignored."""
        self._remove([self._key(name) for name in names])

    def remove_all(self) -> None:
        """Remove everything in the folder."""
        self._remove([self._full(file.name) for file in self._below("")])

    @contextmanager
    def lock(self, name: str, seconds: float) -> Iterator[None]:
        """The lock of that name, exclusive on all machines; it ends with its holder."""
        from filelock import Timeout

        held = held_by(self, name)
        try:
            held.acquire(seconds)
        except Timeout as error:
            raise held_too_long(held.where, seconds) from error
        try:
            yield
        finally:
            held.release()

    def below(self, name: str) -> BucketFiles:
        """The files in a folder."""
        check_name(name)
        return BucketFiles(self.folder / name)

    def remembered(self) -> RememberedFiles:
        """The same files, cached for some seconds."""
        return _remembered(self.folder)

    def where(self, name: str) -> str:
        """The address of a file."""
        check_name(name)
        return f"{self.folder}/{name}"

    def _remove(self, keys: Sequence[str]) -> None:
        import obstore

        if not keys:
            return
        with bucket_errors(str(self.folder)):
            try:
                obstore.delete(self._store, keys)
            except FileNotFoundError:  # Google and Azure report a missing one after removing some
                for key in keys:
                    with suppress(FileNotFoundError):
                        obstore.delete(self._store, key)

    def _below(self, folder: str) -> Iterator[StoredFile]:
        import obstore

        above = "/".join(filter(None, [self.folder.prefix, folder]))
        start = len(self.folder.prefix) + 1 if self.folder.prefix else 0
        with bucket_errors(str(self.folder)):
            for some in obstore.list(self._store, above or None):
                for one in some:
                    yield _stored(one["path"][start:], one)

    def _put(self, name: str, content: bytes, mode: Any, *refusal: type[Exception]) -> Tag | None:
        """The tag of the new content; None if the bucket refuses the put by the condition in `mode`."""
        import obstore

        key = self._key(name)
        with bucket_errors(self.where(name)):
            try:
                return _tag(obstore.put(self._store, key, content, mode=mode, use_multipart=False))
            except refusal:
                return None

    @property
    def _store(self) -> Any:
        return bucket_of(self.folder).store

    def _key(self, name: str) -> str:
        check_name(name)
        return self._full(name)

    def _full(self, name: str) -> str:
        return f"{self.folder.prefix}/{name}" if self.folder.prefix else name


class RememberedFiles(BucketFiles):
    """Files whose contents are cached for some seconds, for reads of every question; own writes are visible at once.

    Taking a lock empties the cache: content read under it is about to be written.
    """

    def __init__(self, folder: BucketAddress) -> None:
        super().__init__(folder)
        self._known: dict[str, tuple[float, bytes | None]] = {}

    def read(self, name: str) -> bytes | None:
        """The content, at most `seconds_behind` old; None if there is no such file."""
        known, began = self._known.get(name), monotonic()
        if known is not None and began - known[0] < options_of(self.folder).seconds_behind:
            return known[1]
        content = super().read(name)
        self._known[name] = began, content
        return content

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; missing ones are ignored."""
        gone = list(names)
        super().remove(gone)
        for name in gone:
            self._known.pop(name, None)

    @contextmanager
    def lock(self, name: str, seconds: float) -> Iterator[None]:
        """The lock of that name, exclusive on all machines; it ends with its holder."""
        with super().lock(name, seconds):
            self._known.clear()
            yield

    def below(self, name: str) -> RememberedFiles:
        """The files in a folder."""
        check_name(name)
        return RememberedFiles(self.folder / name)

    def _put(self, name: str, content: bytes, mode: Any, *refusal: type[Exception]) -> Tag | None:
        try:
            return super()._put(name, content, mode, *refusal)
        finally:
            self._known.pop(name, None)


_remembered = lru_cache(maxsize=REMEMBERED)(RememberedFiles)
"""The cache of a folder, one for the process."""


def _tag(told: Mapping[str, Any]) -> Tag:
    return {name: told[name] for name in ("e_tag", "version") if told[name] is not None}


def _stored(name: str, meta: Mapping[str, Any]) -> StoredFile:
    return StoredFile(name, meta["size"], meta["last_modified"].timestamp())
