"""Models that open collections share."""

from __future__ import annotations

import gc
import weakref

from thresher.models.encoders import RememberingEncoder
from thresher.recipes.components import Models
from thresher.recipes.settings import EncoderSettings
from thresher.testing.fakes import HashEncoder

NONE = EncoderSettings()


def test_models_of_one_name_are_one_while_a_collection_has_them() -> None:
    first, second = Models(), Models()
    assert first.reading_encoder("bundled", NONE) is second.reading_encoder("bundled", NONE)
    assert first.judge() is second.cross_encoder("bundled") is not first.checker()
    keys = [EncoderSettings(base_url="http://h/v1", api_key=key) for key in ("one", "two")]  # type: ignore[arg-type]
    assert first.encoder("endpoint:m", keys[0]) is not second.encoder("endpoint:m", keys[1])
    alone = Models()
    kept = weakref.ref(alone.encoder("endpoint:another", keys[0]))
    del alone
    gc.collect()
    assert kept() is None


def test_encoders_of_ones_own_are_never_taken_for_each_other() -> None:
    for _ in range(50):  # the next may lie where the last one lay
        models = Models(own_encoder=HashEncoder())
        reading = models.reading_encoder(HashEncoder().name, NONE)
        assert isinstance(reading, RememberingEncoder)
        assert reading.encoder is models.own_encoder
