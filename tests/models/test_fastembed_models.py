"""The fastembed encoder, with the bundled weights as a folder; nothing is fetched."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from thresher.errors import ModelError, UnknownSetting
from thresher.models.encoders import BUNDLED, BundledEncoder
from thresher.models.fastembed_models import FastembedEncoder

TEXTS = ["A short one.", "Retrieval finds documents that may answer a question.", "cell division " * 60, "", "Yes."]
LONG = " ".join(f"Sentence {number} speaks of grain, chaff and the weather." for number in range(60))


@pytest.fixture(scope="module")
def encoder() -> FastembedEncoder:
    return FastembedEncoder(str(BUNDLED), threads=1)


def test_it_agrees_with_the_bundled_loop(encoder: FastembedEncoder) -> None:
    alone = np.stack([encoder.encode_query(text) for text in TEXTS])
    assert np.sum(alone * BundledEncoder().encode(TEXTS), axis=1).min() > 0.9999
    # Batched, texts of 3 and of 122 tokens share one activation scale.
    together = np.sum(encoder.encode(TEXTS) * BundledEncoder().encode(TEXTS), axis=1)
    assert together.mean() > 0.99
    assert together.min() > 0.98


def test_queries_agree_with_texts(encoder: FastembedEncoder) -> None:
    for text in (TEXTS[1], LONG[:300]):
        assert float(encoder.encode_query(text) @ encoder.encode([text])[0]) > 0.999


def test_vectors_have_unit_length_and_the_order_of_the_texts(encoder: FastembedEncoder) -> None:
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), encoder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(vectors[::-1], encoder.encode(TEXTS[::-1]), atol=0.03)


def test_the_same_list_gives_the_same_vectors(encoder: FastembedEncoder) -> None:
    np.testing.assert_array_equal(encoder.encode(TEXTS), encoder.encode(TEXTS))


def test_a_long_text_is_windowed(encoder: FastembedEncoder) -> None:
    long, short = encoder.encode([LONG, "short"])
    assert encoder.max_tokens == 256
    assert float(long @ BundledEncoder().encode_query(LONG)) > 0.98
    assert abs(float(short @ short) - 1) < 1e-5


def test_progress_sums_to_the_number_of_texts(encoder: FastembedEncoder) -> None:
    finished: list[int] = []
    encoder.encode(["one", "two"] * 150, progress=finished.append)
    assert sum(finished) == 300
    assert encoder.encode([]).shape == (0, 384)


def test_half_a_surrogate_pair_has_a_vector(encoder: FastembedEncoder) -> None:
    assert encoder.encode_query("broken \ud800 text").shape == (384,)


def test_the_name_of_a_folder_carries_a_hash_of_its_weights(tmp_path: Path) -> None:
    assert FastembedEncoder(str(BUNDLED)).name == BundledEncoder().name
    assert FastembedEncoder("BAAI/bge-small-en-v1.5").name == "BAAI/bge-small-en-v1.5"
    with pytest.raises(ModelError, match=r"model\.onnx"):
        _ = FastembedEncoder(str(tmp_path)).name


def test_the_dimension_of_a_listed_model_is_known_without_loading_it() -> None:
    assert FastembedEncoder("BAAI/bge-base-en-v1.5").dimension == 768


def test_an_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(UnknownSetting, match="did you mean 'sentence-transformers/all-MiniLM-L6-v2'"):
        FastembedEncoder("sentence-transformers/all-MiniLM-L6").warm_up()


def test_a_damaged_folder_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(BUNDLED, folder)
    (folder / "model.onnx").write_bytes(b"nothing")
    with pytest.raises(ModelError, match="damaged: cannot be loaded"):
        FastembedEncoder(str(folder)).warm_up()
