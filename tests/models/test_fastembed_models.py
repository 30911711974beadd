"""The fastembed encoder, with the bundled weights in place of those that it would fetch."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from thresher.errors import MissingExtra, ModelError, UnknownSetting
from thresher.models.cross_encoders import BUNDLED_JUDGE, BundledJudge
from thresher.models.encoders import BUNDLED, BundledEncoder
from thresher.models.fastembed_models import FastembedCrossEncoder, FastembedEncoder
from thresher.recipes.components import Models
from thresher.recipes.settings import EncoderSettings

TextEmbedding = pytest.importorskip("fastembed", reason="fastembed is not installed: make dev").TextEmbedding

NAME = "sentence-transformers/all-MiniLM-L6-v2"
TEXTS = ["A short one.", "Retrieval finds documents that may answer a question.", "cell division " * 60, "", "Yes."]
LONG = " ".join(f"Sentence {number} speaks of grain, chaff and the weather." for number in range(30))


@pytest.fixture(scope="module")
def encoder() -> FastembedEncoder:
    encoder = FastembedEncoder(NAME)
    vars(encoder)["_model_in_memory"] = TextEmbedding(NAME, specific_model_path=str(BUNDLED))
    return encoder


@pytest.mark.slow
def test_it_agrees_with_the_bundled_loop(encoder: FastembedEncoder) -> None:
    alone = np.stack([encoder.encode_query(text) for text in TEXTS])
    assert np.sum(alone * BundledEncoder().encode(TEXTS), axis=1).min() > 0.9999
    # Batched, texts of 3 and of 122 tokens share one activation scale.
    together = np.sum(encoder.encode(TEXTS) * BundledEncoder().encode(TEXTS), axis=1)
    assert together.mean() > 0.99
    assert together.min() > 0.98


@pytest.mark.slow
def test_a_cross_encoder_in_a_folder_agrees_about_a_single_text() -> None:
    # Not to the last bit: ONNX Runtime rewrites the graph there, and a rounded activation moves the logit.
    for text in TEXTS:
        (ours,), (theirs,) = (
            judge("Yes?", [text]) for judge in (BundledJudge(), FastembedCrossEncoder(str(BUNDLED_JUDGE)))
        )
        assert theirs.value == pytest.approx(ours.value, abs=0.3)


def test_vectors_have_unit_length_and_the_order_of_the_texts(encoder: FastembedEncoder) -> None:
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), encoder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(vectors[::-1], encoder.encode(TEXTS[::-1]), atol=0.03)
    finished: list[int] = []
    assert encoder.encode(["broken \ud800 text"], progress=finished.append).shape == (1, 384)
    assert encoder.encode([]).shape == (0, 384)
    assert finished == [1]


def test_a_long_text_is_windowed(encoder: FastembedEncoder) -> None:
    long, short = encoder.encode([LONG, "short"])
    assert encoder.max_tokens == 256
    assert float(long @ BundledEncoder().encode_query(LONG)) > 0.98
    assert abs(float(short @ short) - 1) < 1e-5


def test_a_folder_is_read_without_it_and_a_name_that_is_not_listed_offers_the_nearest(tmp_path: Path) -> None:
    models = Models()
    assert models.encoder(str(BUNDLED), EncoderSettings()).name == BundledEncoder().name
    assert models.encoder("BAAI/bge-base-en-v1.5", EncoderSettings()).dimension == 768
    with pytest.raises(UnknownSetting, match=f"did you mean '{NAME}'"):
        FastembedEncoder(NAME[:-3]).warm_up()
    with pytest.raises(ModelError, match=r"give a folder with onnx/model\.onnx"):
        FastembedCrossEncoder(str(tmp_path))("q", ["a"])


@pytest.mark.parametrize("use", [lambda: FastembedEncoder("x").dimension, lambda: FastembedCrossEncoder("x")("q", "a")])
def test_a_package_that_is_not_installed_is_named_with_its_extra(
    use: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    monkeypatch.setitem(sys.modules, "fastembed.rerank.cross_encoder", None)
    with pytest.raises(MissingExtra, match=r"'fastembed' is not installed; in a checkout: pip install '\.\[fast"):
        use()
