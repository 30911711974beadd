"""The fastembed encoder, with the bundled weights as a folder; nothing is fetched."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from thresher.errors import MissingExtra, ModelError, UnknownSetting
from thresher.models.encoders import BUNDLED, BundledEncoder
from thresher.models.fastembed_models import FastembedCrossEncoder, FastembedEncoder

TEXTS = ["A short one.", "Retrieval finds documents that may answer a question.", "cell division " * 60, "", "Yes."]
LONG = " ".join(f"Sentence {number} speaks of grain, chaff and the weather." for number in range(30))


@pytest.fixture(scope="module")
def encoder() -> FastembedEncoder:
    return FastembedEncoder(str(BUNDLED))


@pytest.mark.slow
def test_it_agrees_with_the_bundled_loop(encoder: FastembedEncoder) -> None:
    alone = np.stack([encoder.encode_query(text) for text in TEXTS])
    assert np.sum(alone * BundledEncoder().encode(TEXTS), axis=1).min() > 0.9999
    # Batched, texts of 3 and of 122 tokens share one activation scale.
    together = np.sum(encoder.encode(TEXTS) * BundledEncoder().encode(TEXTS), axis=1)
    assert together.mean() > 0.99
    assert together.min() > 0.98


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


def test_the_name_of_a_folder_carries_a_hash_of_its_weights(tmp_path: Path) -> None:
    assert FastembedEncoder(str(BUNDLED)).name == BundledEncoder().name
    listed = FastembedEncoder("BAAI/bge-base-en-v1.5")
    assert (listed.name, listed.dimension) == ("BAAI/bge-base-en-v1.5", 768)
    with pytest.raises(ModelError, match=r"model\.onnx"):
        _ = FastembedEncoder(str(tmp_path)).name


def test_an_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(UnknownSetting, match="did you mean 'sentence-transformers/all-MiniLM-L6-v2'"):
        FastembedEncoder("sentence-transformers/all-MiniLM-L6").warm_up()


def test_a_damaged_folder_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(BUNDLED, folder)
    (folder / "model.onnx").write_bytes(b"nothing")
    with pytest.raises(ModelError, match="damaged: cannot be loaded"):
        FastembedEncoder(str(folder)).warm_up()
    with pytest.raises(ModelError, match=r"give a folder with onnx/model\.onnx"):
        FastembedCrossEncoder(str(tmp_path))("q", ["a"])


@pytest.mark.parametrize("use", [lambda: FastembedEncoder("x").dimension, lambda: FastembedCrossEncoder("x")("q", "a")])
def test_a_package_that_is_not_installed_is_named_with_its_extra(
    use: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    monkeypatch.setitem(sys.modules, "fastembed.rerank.cross_encoder", None)
    with pytest.raises(MissingExtra, match=r"'fastembed' is not installed; install with: pip install 'thresher\[fast"):
        use()
