from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest

from thresher.errors import NotRecorded, ProviderError
from thresher.models.cassette import Exchanges
from thresher.models.endpoints import EndpointCrossEncoder, QuestionEncoder
from thresher.models.usage import Meter
from thresher.protocols import Encoder
from thresher.testing.fakes import HashEncoder
from thresher.types import LOGIT, Score
from thresher_testing.llm_server import Reply, ScriptedServer

TEXTS = ["one red light", "two"]


class Gone:
    """An encoder whose server is not there any more."""

    name = HashEncoder().name
    dimension = 64
    max_tokens = 1

    def __getattr__(self, name: str) -> Callable[..., None]:
        raise AssertionError(f"{name} was asked for")


def recorded(encoder: Encoder, exchanges: Exchanges, meter: Meter | None = None) -> QuestionEncoder:
    return QuestionEncoder(encoder, "http://here:1/v1", meter or Meter(), exchanges)


def test_vectors_are_played_back_bit_by_bit_without_the_encoder() -> None:
    first = Exchanges()
    recording = recorded(HashEncoder(), first)
    rows, query = recording.encode(TEXTS), recording.encode_query("red")
    playing = recorded(Gone(), Exchanges(first.stored()))  # type: ignore[arg-type]
    assert np.array_equal(playing.encode(TEXTS), rows)
    assert np.array_equal(playing.encode_query("red"), query)
    assert (rows.shape, query.shape, rows.dtype) == ((2, 64), (64,), np.float32)


def test_recorded_vectors_are_the_encoders_own() -> None:
    recording = recorded(HashEncoder(), Exchanges())
    assert np.array_equal(recording.encode(TEXTS), HashEncoder().encode(TEXTS))
    assert (recording.name, recording.dimension, recording.max_tokens) == ("hash-64", 64, 1_000_000)


def test_other_texts_were_not_recorded() -> None:
    first = Exchanges()
    recorded(HashEncoder(), first).encode(TEXTS)
    playing = recorded(HashEncoder(), Exchanges(first.stored()))
    with pytest.raises(NotRecorded):
        playing.encode(TEXTS[:1])
    with pytest.raises(NotRecorded):
        playing.encode_query(TEXTS[0])


def test_no_texts_are_no_rows_and_nothing_to_record() -> None:
    exchanges = Exchanges()
    assert recorded(HashEncoder(), exchanges).encode([]).shape == (0, 64)
    assert exchanges.stored() == {}


def test_a_ranking_is_played_back_with_its_scale_and_costs_the_same(serve: Callable[..., ScriptedServer]) -> None:
    results = [{"index": 1, "relevance_score": 2.5}, {"index": 0, "relevance_score": -3.25}]
    server = serve(rerank=[Reply(body=json.dumps({"results": results}))])
    first, meter, again = Exchanges(), Meter(), Meter()
    scores = EndpointCrossEncoder(server.rerank_url, meter, exchanges=first)("red", TEXTS)
    assert EndpointCrossEncoder(server.rerank_url, again, exchanges=Exchanges(first.stored()))("red", TEXTS) == scores
    assert scores == [Score(-3.25, LOGIT), Score(2.5, LOGIT)]
    assert (len(server.requests), again.usage) == (1, meter.usage)


def test_a_ranking_that_failed_fails_again(serve: Callable[..., ScriptedServer]) -> None:
    server = serve(rerank=[Reply(status=500)])
    first = Exchanges()
    for exchanges in (first, None):
        played = Exchanges(first.stored()) if exchanges is None else exchanges
        ranking = EndpointCrossEncoder(server.rerank_url, Meter(), exchanges=played)
        with pytest.raises(ProviderError, match="status 500"):
            ranking("red", TEXTS)
    assert len(server.requests) == 1


def test_a_playback_counts_on_the_meter_what_the_model_counted() -> None:
    first, meter, second = Exchanges(), Meter(), Meter()
    recording = recorded(HashEncoder(), first, meter)
    assert recording.encode([]).shape == (0, 64)
    assert meter.usage.hosts == ()
    recording.encode(TEXTS)
    recording.encode_query("red")
    playing = recorded(HashEncoder(), Exchanges(first.stored()), second)
    playing.encode(TEXTS)
    playing.encode_query("red")
    assert second.usage.hosts == meter.usage.hosts == ("here:1",)
