"""Everything that came from outside for one question, so that the question can be asked again without a network."""

from __future__ import annotations

import hashlib
import json
import threading
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from thresher.errors import BudgetSpent, NotRecorded, ProviderError
from thresher.models.encoders import EncoderAround
from thresher.models.usage import Meter, Tab
from thresher.protocols import CrossEncoder, Encoder, Progress
from thresher.types import LOGIT, UNIT, Score, Usage

if TYPE_CHECKING:
    from thresher.protocols import Vectors


class Exchanges:
    """Records what is asked of the outside and what came back; with `stored`, plays a record back and asks nothing.

    What was asked is kept as a hash only. The same thing asked twice may get two replies; they are played back in the
    order in which they came. Safe to use from several threads.
    """

    def __init__(self, stored: Mapping[str, Sequence[Mapping[str, Any]]] | None = None) -> None:
        self.replaying = stored is not None
        """Whether this is a record played back."""
        self._entries = {key: [dict(entry) for entry in entries] for key, entries in (stored or {}).items()}
        self._played: dict[str, int] = {}
        self._lock = threading.Lock()

    def reply(self, key_parts: Sequence[str], make: Callable[[], str], *, meter: Meter | None = None) -> str:
        """What `make` returns, recorded; or what it returned when it was recorded, without calling it.

        `key_parts` say what is asked: all that the reply may depend on. A ProviderError or BudgetSpent of `make` is
        recorded and raised like a reply. What `make` spends on `meter` in its thread is recorded too, and spent again
        at playback, so that both answers cost the same. Raises NotRecorded at playback.
        """
        key = content_hash(key_parts)
        return self._play(key, meter) if self.replaying else self._record(key, make, meter)

    def stored(self) -> dict[str, list[dict[str, Any]]]:
        """The record, in JSON types: for `Exchanges(stored)`."""
        with self._lock:
            return {key: [dict(entry) for entry in self._entries[key]] for key in sorted(self._entries)}

    # --- inside

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
            meter.spend(Usage(**{**entry["usage"], "hosts": tuple(entry["usage"]["hosts"])}))
        if "error" in entry:
            raise _made(entry)
        return str(entry["reply"])


def content_hash(parts: Sequence[str]) -> str:
    """SHA-256 of texts, in hexadecimal digits; where one ends and the next begins counts."""
    return hashlib.sha256(json.dumps(list(parts)).encode()).hexdigest()


def _described(error: ProviderError | BudgetSpent) -> dict[str, Any]:
    told = {"what": error.what, "subject": error.subject, "next_step": error.next_step}
    if isinstance(error, ProviderError):
        return {"error": "ProviderError", **told, "retryable": error.retryable}
    return {"error": "BudgetSpent", **told}


def _made(entry: Mapping[str, Any]) -> ProviderError | BudgetSpent:
    told = {"subject": entry["subject"], "next_step": entry["next_step"]}
    if entry["error"] == "ProviderError":
        return ProviderError(entry["what"], **told, retryable=entry["retryable"])
    return BudgetSpent(entry["what"], **told)


# --- models behind an endpoint whose replies are recorded with the question, and played back in place of the ----------


@dataclass(frozen=True, slots=True)
class RecordedEncoder(EncoderAround):
    """An encoder whose vectors are part of a question's record."""

    encoder: Encoder
    exchanges: Exchanges
    meter: Meter | None = None
    """What the encoder counts on, so that a playback counts the same."""

    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """(n_texts, dimension) float32, rows of unit length."""
        if not texts:  # nothing is asked for
            return self.encoder.encode(texts)

        def make() -> str:
            return _written(self.encoder.encode(texts, progress=progress))

        reply = self.exchanges.reply(["encode", self.name, *texts], make, meter=self.meter)
        return _read(reply).reshape(len(texts), -1)

    def encode_query(self, text: str) -> Vectors:
        """(dimension,) float32 of unit length."""

        def make() -> str:
            return _written(self.encoder.encode_query(text))

        return _read(self.exchanges.reply(["encode query", self.name, text], make, meter=self.meter))


@dataclass(frozen=True, slots=True)
class RecordedCrossEncoder:
    """A cross-encoder whose scores are part of a question's record."""

    cross_encoder: CrossEncoder
    exchanges: Exchanges
    meter: Meter | None = None
    """What the cross-encoder counts on, so that a playback counts the same."""

    @property
    def name(self) -> str:
        """Of the cross-encoder."""
        return self.cross_encoder.name

    def __call__(self, question: str, texts: Sequence[str]) -> list[Score]:
        """One score per text, in their order."""

        def make() -> str:
            scores = self.cross_encoder(question, texts)
            return json.dumps([[score.value, score.scale.name] for score in scores])

        scales = {scale.name: scale for scale in (LOGIT, UNIT)}
        reply = self.exchanges.reply(["rank", self.name, question, *texts], make, meter=self.meter)
        return [Score(value, scales[name]) for value, name in json.loads(reply)]


def _written(vectors: Vectors) -> str:
    return b64encode(vectors.astype("<f4").tobytes()).decode("ascii")


def _read(text: str) -> Vectors:
    import numpy as np

    return np.frombuffer(b64decode(text), dtype="<f4").astype(np.float32)
