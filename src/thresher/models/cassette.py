"""All replies from outside to one question, so that it can be asked again without a network."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, TypeVar

from thresher.errors import BudgetSpent, NotRecorded, ProviderError
from thresher.models.usage import Meter, Tab
from thresher.types import Usage

Value = TypeVar("Value")


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
        with nullcontext(Tab()) if meter is None else meter.tab() as tab:
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


def content_hash(parts: Sequence[str]) -> str:
    """SHA-256 of texts, in hexadecimal digits; where one ends and the next begins counts."""
    return hashlib.sha256(json.dumps(list(parts)).encode()).hexdigest()


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
