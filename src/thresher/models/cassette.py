"""Replies from outside that are kept: all to one question (`Exchanges`), and for later questions (`ReplyCache`)."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, TypeVar

from thresher.errors import BudgetSpent, NotRecorded, ProviderError, StoreError
from thresher.models.usage import Meter
from thresher.protocols import Files
from thresher.types import Usage

Value = TypeVar("Value")

MAX_REPLIES = 20_000  # some hundreds of questions of a recipe that judges every chunk, well below 100 MB
FOLDERS = 256  # by the first two digits of the hash; the bound is kept in each: a write looks at one folder only

_log = logging.getLogger(__name__)


class Exchanges:
    """Records requests to the outside and their replies; with `stored`, plays a record back and asks nothing.

    A request is kept as a hash only. The same request may get two replies; they are played back in the order in which
    they came. Safe to use from several threads.
    """

    def __init__(self, stored: Mapping[str, Sequence[Mapping[str, Any]]] | None = None) -> None:
        self.replaying = stored is not None
        self._entries = {key: [dict(entry) for entry in entries] for key, entries in (stored or {}).items()}
        self._played: dict[str, int] = {}
        self._lock = threading.Lock()

    def reply(self, key_parts: Sequence[str], make: Callable[[], str], *, meter: Meter | None = None) -> str:
        """The result of `make`, recorded; at playback the recorded result, without a call.

        `key_parts` are all that the reply may depend on. A ProviderError or BudgetSpent of `make` is recorded and
        raised like a reply. What `make` spends on `meter` in its thread is recorded too, and spent again at playback,
        so that both answers cost the same. Raises NotRecorded at playback.
        """
        key = content_hash(key_parts)
        return self._play(key, meter) if self.replaying else self._record(key, make, meter)

    def recall(
        self,
        key_parts: Sequence[str],
        make: Callable[[], Value],
        *,
        write: Callable[[Value], str],
        read: Callable[[str], Value],
        meter: Meter | None = None,
    ) -> Value:
        """`reply` for a value that is no text: written as one, and read back from it when recording too."""
        return read(self.reply(key_parts, lambda: write(make()), meter=meter))

    def stored(self) -> dict[str, list[dict[str, Any]]]:
        """The record, in JSON types: for `Exchanges(stored)`."""
        with self._lock:
            return {key: [dict(entry) for entry in self._entries[key]] for key in sorted(self._entries)}

    def _record(self, key: str, make: Callable[[], str], meter: Meter | None) -> str:
        failure: ProviderError | BudgetSpent | None = None
        with nullcontext(Meter()) if meter is None else meter.tab() as tab:
            try:
                entry: dict[str, Any] = {"reply": make()}
            except (ProviderError, BudgetSpent) as error:
                failure, entry = error, _described(error)
        entry["usage"] = tab.usage.to_dict()
        with self._lock:
            self._entries.setdefault(key, []).append(entry)
        if failure is not None:
            raise failure
        return str(entry["reply"])

    def _play(self, key: str, meter: Meter | None) -> str:
        with self._lock:
            at = self._played.get(key, 0)
            entries = self._entries.get(key, [])
            if at >= len(entries):
                raise NotRecorded(
                    "something is asked of the outside that was not asked when the answer was stored",
                    next_step="the documents, the settings or Thresher itself changed since; ask the question anew",
                )
            self._played[key] = at + 1
        entry = entries[at]
        if meter is not None:
            meter.spend(Usage.from_dict(entry["usage"]))
        if "error" in entry:
            raise _made(entry)
        return str(entry["reply"])


def _described(error: ProviderError | BudgetSpent) -> dict[str, Any]:
    fields = {"what": error.what, "subject": error.subject, "next_step": error.next_step}
    if isinstance(error, ProviderError):
        return {"error": "ProviderError", **fields, "retryable": error.retryable}
    return {"error": "BudgetSpent", **fields}


def _made(entry: Mapping[str, Any]) -> ProviderError | BudgetSpent:
    fields = {"subject": entry["subject"], "next_step": entry["next_step"]}
    if entry["error"] == "ProviderError":
        return ProviderError(entry["what"], **fields, retryable=entry["retryable"])
    return BudgetSpent(entry["what"], **fields)


class ReplyCache:
    """Replies by the hash of the request, one file each; the oldest go when there are too many.

    A file that cannot be read or written never fails a question. Several threads and processes may share the files. A
    reply of the wrong form stays here; the second try asks with another prompt (`structured.asked`) and never meets it.
    """

    def __init__(self, files: Files, *, max_replies: int = MAX_REPLIES) -> None:
        self._files = files
        self._per_folder = max(1, max_replies // FOLDERS)

    def get(self, key_parts: Sequence[str]) -> str | None:
        """The stored reply to this request; None for none."""
        try:
            content = self._files.read(_name(key_parts))
            stored = None if content is None else json.loads(content)
        except (StoreError, ValueError, RecursionError) as error:
            _log.info("a stored reply cannot be read (%s); the model is asked instead", type(error).__name__)
            return None
        reply = stored.get("reply") if isinstance(stored, dict) else None
        return reply if isinstance(reply, str) else None

    def put(self, key_parts: Sequence[str], reply: str) -> None:
        """Store a reply, in place of an older one to the same request."""
        name = _name(key_parts)
        try:
            self._files.write(name, json.dumps({"reply": reply}).encode())
            kept = self._files.list(name.partition("/")[0] + "/")
            self._files.remove(file.name for file in kept[: -self._per_folder])
        except StoreError as error:
            _log.info("a reply cannot be stored: %s", error)

    def clear(self) -> None:
        """Forget every reply. Raises StoreError when a file cannot be removed."""
        names = [file.name for file in self._files.list()]
        self._files.remove(name for name in names if re.fullmatch("[0-9a-f]{2}/[0-9a-f]+[.]json", name))


def _name(key_parts: Sequence[str]) -> str:
    hashed = content_hash(key_parts)
    return f"{hashed[:2]}/{hashed[2:]}.json"


def content_hash(parts: Sequence[str]) -> str:
    """SHA-256 of texts, in hexadecimal digits; where one ends and the next begins counts."""
    return hashlib.sha256(json.dumps(list(parts)).encode()).hexdigest()
