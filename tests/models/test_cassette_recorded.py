from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from thresher.errors import NotRecorded, ProviderError
from thresher.models.cassette import Exchanges, RecordedCrossEncoder, RecordedEncoder
from thresher.models.usage import Meter, MeteredEncoder
from thresher.testing.fakes import HashEncoder, OverlapCrossEncoder
from thresher.types import LOGIT, Score

TEXTS = ["one red light", "two"]


@dataclass
class Counting:
    """A cross-encoder that counts its calls, and fails when it is told to."""

    calls: int = 0
    name: str = "counting"
    error: Exception | None = None

    def __call__(self, question: str, texts: Sequence[str]) -> list[Score]:
        self.calls += 1
        if self.error is not None:
            raise self.error
        return [Score(-3.25 + at, LOGIT) for at, _ in enumerate(texts)]


class Gone:
    """An encoder whose server is not there any more."""

    name = HashEncoder().name
    dimension = 64
    max_tokens = 1

    def __getattr__(self, name: str) -> Callable[..., None]:
        raise AssertionError(f"{name} was asked for")


def test_vectors_are_played_back_bit_by_bit_without_the_encoder() -> None:
    first = Exchanges()
    recording = RecordedEncoder(HashEncoder(), first)
    rows, query = recording.encode(TEXTS), recording.encode_query("red")
    playing = RecordedEncoder(Gone(), Exchanges(first.stored()))  # type: ignore[arg-type]
    assert np.array_equal(playing.encode(TEXTS), rows)
    assert np.array_equal(playing.encode_query("red"), query)
    assert (rows.shape, query.shape, rows.dtype) == ((2, 64), (64,), np.float32)


def test_recorded_vectors_are_the_encoders_own() -> None:
    recording = RecordedEncoder(HashEncoder(), Exchanges())
    assert np.array_equal(recording.encode(TEXTS), HashEncoder().encode(TEXTS))
    assert (recording.name, recording.dimension, recording.max_tokens) == ("hash-64", 64, 1_000_000)


def test_other_texts_were_not_recorded() -> None:
    first = Exchanges()
    RecordedEncoder(HashEncoder(), first).encode(TEXTS)
    playing = RecordedEncoder(HashEncoder(), Exchanges(first.stored()))
    with pytest.raises(NotRecorded):
        playing.encode(TEXTS[:1])
    with pytest.raises(NotRecorded):
        playing.encode_query(TEXTS[0])


def test_no_texts_are_no_rows_and_nothing_to_record() -> None:
    recorded = Exchanges()
    assert RecordedEncoder(HashEncoder(), recorded).encode([]).shape == (0, 64)
    assert recorded.stored() == {}


def test_a_ranking_is_played_back_with_its_scale() -> None:
    first, ranking = Exchanges(), Counting()
    scores = RecordedCrossEncoder(ranking, first)("red", TEXTS)
    assert RecordedCrossEncoder(ranking, Exchanges(first.stored()))("red", TEXTS) == scores
    assert (ranking.calls, scores[0]) == (1, Score(-3.25, LOGIT))
    unit = Exchanges()
    shares = RecordedCrossEncoder(OverlapCrossEncoder(), unit)("red", TEXTS)
    assert RecordedCrossEncoder(OverlapCrossEncoder(), Exchanges(unit.stored()))("red", TEXTS) == shares


def test_a_ranking_that_failed_fails_again() -> None:
    first, ranking = Exchanges(), Counting(error=ProviderError("out of order", subject="r"))
    for exchanges in (first, None):
        played = exchanges or Exchanges(first.stored())
        with pytest.raises(ProviderError, match="out of order"):
            RecordedCrossEncoder(ranking, played)("red", TEXTS)
    assert ranking.calls == 1


def test_a_playback_counts_on_the_meter_what_the_model_counted() -> None:
    first, meter, second = Exchanges(), Meter(), Meter()
    encoder = MeteredEncoder(HashEncoder(), meter, "http://here:1/v1")
    recording = RecordedEncoder(encoder, first, meter)
    recording.encode(TEXTS)
    recording.encode_query("red")
    playing = RecordedEncoder(HashEncoder(), Exchanges(first.stored()), second)
    playing.encode(TEXTS)
    playing.encode_query("red")
    assert second.usage.hosts == meter.usage.hosts == ("here:1",)
