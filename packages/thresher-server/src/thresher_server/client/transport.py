"""Shared by both clients: the library's errors, waits before a retry, events of a stream, files to send."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import httpx

from thresher.errors import BudgetSpent, Cancelled, ModelError, ProviderError, StoreError, ThresherError, UsageError

Source: TypeAlias = str | Path | tuple[str, bytes]
"""A file, a folder, an address, or a name with its bytes."""

RETRIES = 6
"""Retries of a request after status 429."""

LONGEST_WAIT = 30.0
"""Upper bound for the seconds before a retry."""

CONNECT_SECONDS = 10.0

ERRORS: Mapping[int, type[ThresherError]] = {
    404: StoreError,
    500: ModelError,
    502: ProviderError,
    503: Cancelled,
    504: BudgetSpent,
    507: StoreError,
    429: ProviderError,
}
"""The error of a status; otherwise UsageError below 500 and ModelError from 500."""


def check_reply(reply: httpx.Response) -> None:
    """Raise the error of a failed reply, in the server's words; its body must have been read."""
    if reply.status_code < 400:
        return
    try:
        error = reply.json()["error"]
    except (ValueError, KeyError, TypeError):
        error = {"what": f"answered {reply.status_code}", "subject": str(reply.request.url)}
    raise error_of(reply.status_code, error)


def error_of(status: int, error: Mapping[str, Any]) -> ThresherError:
    """The library's error for an `error` object of the server."""
    kind = ERRORS.get(status) or (UsageError if status < 500 else ModelError)
    words = {"subject": error.get("subject", ""), "next_step": error.get("next", "")}
    what = error.get("what") or error.get("message", "")
    if issubclass(kind, ProviderError):
        return kind(what, **words, retryable=status == 429)
    return kind(what, **words)


@contextmanager
def reaching(url: str) -> Iterator[None]:
    """Raise network errors of the block as ProviderError."""
    try:
        yield
    except httpx.TimeoutException as error:
        raise ProviderError("took too long", subject=url, next_step="raise `timeout`", retryable=True) from error
    except httpx.HTTPError as error:
        raise ProviderError(
            f"cannot be reached ({error})", subject=url, next_step="is the server running?", retryable=True
        ) from error


def wait_of(reply: httpx.Response, tried: int) -> float | None:
    """Seconds before a request is retried; None for no retry."""
    if reply.status_code != 429 or tried >= RETRIES:
        return None
    try:
        return min(max(float(reply.headers["retry-after"]), 0.0), LONGEST_WAIT)
    except (KeyError, ValueError):
        return min(2.0**tried, LONGEST_WAIT)


class Events:
    """Parses the lines of an event stream."""

    def __init__(self) -> None:
        self._name = ""

    def of(self, line: str) -> tuple[str, Any] | None:
        """The event that a line completes, else None. Raises ThresherError for an `error` event."""
        field, _, value = line.partition(": ")
        if field == "event":
            self._name = value
        if field != "data":
            return None
        told = json.loads(value)
        if self._name == "error":
            raise error_of(told["error"].get("status", 500), told["error"])
        return self._name, told


def addresses(sources: Iterable[Source]) -> list[str]:
    """The sources that are web addresses."""
    return [one for one in sources if _is_address(one)]  # type: ignore[misc]


@contextmanager
def form(sources: Collection[Source]) -> Iterator[list[tuple[str, tuple[str, BinaryIO | bytes]]]]:
    """The other sources as open files of a form, a folder's with their path in it. Raises UsageError for no file."""
    if not sources:
        raise UsageError("nothing was given to add", next_step="give files, folders or addresses")
    with ExitStack() as opened:
        files: list[tuple[str, tuple[str, BinaryIO | bytes]]] = []
        for source in sources:
            if isinstance(source, tuple):
                files.append(("files", source))
            elif not _is_address(source):
                for name, path in _files(Path(source)):
                    files.append(("files", (name, opened.enter_context(open(path, "rb")))))
        yield files


def _files(path: Path) -> Iterator[tuple[str, Path]]:
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            inner = file.relative_to(path)
            if file.is_file() and not any(part.startswith(".") for part in inner.parts):
                yield (Path(path.resolve().name) / inner).as_posix(), file
    elif path.is_file():
        yield path.name, path
    else:
        raise UsageError("no such file or folder", subject=str(path), next_step="check the path")


def _is_address(source: Source) -> bool:
    return isinstance(source, str) and source.lower().startswith(("http://", "https://"))
