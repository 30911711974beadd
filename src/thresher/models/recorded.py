"""Models behind an endpoint whose replies are recorded with the question, and played back in place of the endpoint."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thresher.models.around import EncoderAround
from thresher.models.exchanges import Exchanges
from thresher.models.meter import Meter
from thresher.protocols import CrossEncoder, Encoder, Progress
from thresher.types import LOGIT, UNIT, Score

if TYPE_CHECKING:
    from thresher.protocols import Vectors


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
