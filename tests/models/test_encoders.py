"""The bundled encoder: one text, one vector, whatever stands beside it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies

from thresher.errors import ModelError, UsageError
from thresher.models.encoders import BUNDLED, BundledEncoder, EncoderWrapper, RememberingEncoder, token_windows
from thresher.protocols import Encoder
from thresher.testing.fakes import HashEncoder

FLOAT_VECTORS = json.loads(Path(__file__).with_name("float_vectors.json").read_text(encoding="utf-8"))
TEXTS = ["A short one.", "Retrieval finds documents that may answer a question.", "cell " * 120, "", "Yes."]
LONG = " ".join(f"Sentence {number} speaks of grain, chaff and the weather." for number in range(30))


@pytest.fixture(scope="module")
def encoder() -> BundledEncoder:
    return BundledEncoder()


def test_onnx_runtime_reports_nothing_to_its_maker(tmp_path: Path) -> None:
    quiet = {"CI", "ORT_DISABLE_TELEMETRY", "ORT_RUNNING_UNIT_TESTS", "XDG_CACHE_HOME"}
    environment = {name: value for name, value in os.environ.items() if name not in quiet} | {"HOME": str(tmp_path)}
    code = "from thresher.models.encoders import BundledEncoder; BundledEncoder().warm_up()"
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert list(tmp_path.iterdir()) == []  # the reports wait in .cache/Microsoft until they are sent


def test_a_vector_does_not_depend_on_its_neighbours_or_on_threads(encoder: BundledEncoder) -> None:
    finished: list[int] = []
    together = encoder.encode([*TEXTS, LONG], progress=finished.append)
    assert sum(finished) == len(TEXTS) + 1
    assert together.dtype == np.float32
    assert together.shape == (len(TEXTS) + 1, encoder.dimension)
    assert encoder.encode([]).shape == (0, encoder.dimension)
    alone = np.stack([encoder.encode_query(text) for text in [*TEXTS, LONG]])
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(BundledEncoder(threads=1).encode([*TEXTS, LONG]), together)


def test_the_int8_model_orders_pairs_as_the_float_model_does(encoder: BundledEncoder) -> None:
    wanted = np.array(list(FLOAT_VECTORS.values()), np.float32)
    found = encoder.encode(list(FLOAT_VECTORS))
    assert (wanted * found).sum(axis=1).min() > 0.985
    assert np.abs(wanted @ wanted.T - found @ found.T).max() < 0.05


def test_a_long_text_is_read_to_its_end(encoder: BundledEncoder) -> None:
    tail = " The harvest festival takes place in the old mill by the river."
    whole, beginning = encoder.encode([LONG + tail * 10, LONG])
    query = encoder.encode_query("Where is the harvest festival?")
    assert query @ whole > query @ beginning


@given(strategies.integers(0, 3000), strategies.integers(1, 300))
def test_windows_partition_the_tokens_evenly(count: int, most: int) -> None:
    ids = list(range(count))
    pieces = token_windows(ids, most)
    assert [number for piece in pieces for number in piece] == ids
    lengths = [len(piece) for piece in pieces]
    assert max(lengths) <= most
    assert max(lengths) - min(lengths) <= 1
    assert len(pieces) == max(1, -(-count // most))


@given(text=strategies.text(alphabet=strategies.characters(), max_size=60))
def test_any_string_has_a_vector(encoder: BundledEncoder, text: str) -> None:
    vector = encoder.encode_query(text)
    assert abs(float(vector @ vector) - 1) < 1e-5


def test_the_name_tells_weights_apart(tmp_path: Path) -> None:
    name = BundledEncoder().name
    folder, _, digest = name.partition("@")
    assert folder == "all-MiniLM-L6-v2-int8"
    assert len(digest) == 12
    copy = tmp_path / folder
    shutil.copytree(BUNDLED, copy)
    assert BundledEncoder(copy).name == name
    with (copy / "model.onnx").open("ab") as file:
        file.write(b"\0")
    assert BundledEncoder(copy).name != name


@pytest.mark.parametrize("damaged", ["model.onnx", "tokenizer.json"])
def test_a_file_that_is_missing_or_damaged_is_named_when_it_is_needed(tmp_path: Path, damaged: str) -> None:
    for name in ("model.onnx", "tokenizer.json"):
        shutil.copy(BUNDLED / name, tmp_path / name)
    (tmp_path / damaged).unlink()
    with pytest.raises(ModelError, match=f"{damaged}: the weights are not there"):
        BundledEncoder(tmp_path).warm_up()
    (tmp_path / damaged).write_bytes(b"{")
    with pytest.raises(ModelError, match=f"{damaged}: cannot be read"):
        BundledEncoder(tmp_path).warm_up()
    with pytest.raises(UsageError):
        BundledEncoder(threads=0)


def test_the_stated_hashes_are_those_of_the_files() -> None:
    lines = [line.split() for line in (BUNDLED / "README.md").read_text(encoding="utf-8").splitlines()]
    stated = {line[1]: line[0] for line in lines if len(line) == 2 and len(line[0]) == 64}
    assert set(stated) >= {"model.onnx", "tokenizer.json", "config.json"}
    assert {name: hashlib.sha256((BUNDLED / name).read_bytes()).hexdigest() for name in stated} == stated


# --- remembered -------------------------------------------------------------------------------------------------------


@dataclass
class Counting(EncoderWrapper):
    """Keeps what it was asked to read."""

    encoder: Encoder = field(default_factory=HashEncoder)
    read: list[str] = field(default_factory=list)

    def encode(self, texts: Sequence[str], *, progress: Any = None) -> Any:
        self.read += texts
        return self.encoder.encode(texts, progress=progress)

    def encode_query(self, text: str) -> Any:
        self.read.append(text)
        return self.encoder.encode_query(text)


def test_a_text_is_read_once_and_its_vector_is_the_encoders() -> None:
    counting = Counting()
    memo = RememberingEncoder(counting)
    first = memo.encode(["a b", "c", "a b"])
    again = memo.encode(["c", "d"])
    assert counting.read == ["a b", "c", "d"]
    assert np.array_equal(first, HashEncoder().encode(["a b", "c", "a b"]))
    assert np.array_equal(again, HashEncoder().encode(["c", "d"]))
    query = memo.encode_query("d")
    assert memo.encode_query("d") is query
    assert counting.read == ["a b", "c", "d", "d"]
    assert np.array_equal(query, HashEncoder().encode_query("d"))


def test_the_text_that_was_not_used_for_longest_is_forgotten_first() -> None:
    counting = Counting()
    memo = RememberingEncoder(counting, most=2)
    memo.encode(["a"])
    memo.encode(["b"])
    memo.encode(["a"])
    memo.encode(["c"])
    memo.encode(["a", "b"])
    assert counting.read == ["a", "b", "c", "b"]
