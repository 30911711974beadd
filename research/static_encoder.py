"""The table of static vectors, src/thresher/models/weights/static.npz: what `thresher index --fast` reads in place of
the encoder's network.

    python -m research.static_encoder [--texts 1600] [--write]

A text's vector is the sum of one vector a token, chosen so that it comes near to what the encoder gives for the text:
ridge regression on pieces of training texts (`THRESHER_DATA`/train, up to `--texts` of each set), drawn towards what
the encoder gives for each token alone, weighted by how rare the token is (SIF). So a question, which the encoder itself
reads, is compared with them. Then 256 principal directions of the encoder's vectors, and eight bits with a scale a
token. Seven minutes on one core, six of them the encoder's.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.machine import DATA
from thresher.deadline import watch
from thresher.models.encoders import BundledEncoder, bundled_tokenizer
from thresher.models.static_encoder import TABLE

DIRECTIONS = 256
SMOOTHING = 1e-3  # a of Arora et al. 2017: a token counts a / (a + its share of all tokens)
PULL = 1.0  # towards the token alone; cosine held out .787, .789, .792 for .1, .3, 1
STEPS = 25  # of conjugate gradients


def pieces(most: int) -> list[str]:
    """Questions and passages, of long passages a piece of 120 to 320 characters."""
    draw, found = random.Random(0), []
    for file in sorted((DATA / "train").glob("r*.gz")):
        with gzip.open(file, "rt") as lines:
            rows = [json.loads(line) for line in lines]
        passages, questions = (sorted({row[key] for row in rows}) for key in ("passage", "question"))
        draw.shuffle(passages)
        draw.shuffle(questions)
        found += [piece for piece in (_piece(text, draw) for text in passages[:most]) if len(piece) > 20]
        found += questions[: most // 5]
    draw.shuffle(found)
    return found


def _piece(text: str, draw: random.Random) -> str:
    if len(text) <= 300:
        return text.strip()
    start = text.find(" ", draw.randrange(len(text) - 250))
    return text[max(start, 0) :][: draw.randrange(120, 320)].rpartition(" ")[0].strip()


def fitted(
    counts: sparse.csr_matrix, vectors: np.ndarray, alone: np.ndarray, pull: float = PULL, steps: int = STEPS
) -> np.ndarray:
    """A vector a token: the least squares of counts times them and the vectors, drawn towards the tokens alone."""
    lengths = np.maximum(np.asarray(counts.sum(axis=1)).ravel(), 1)
    scaled = sparse.diags_array(1 / np.sqrt(lengths)) @ counts  # a long text counts no more than a short one
    product = scaled @ alone
    begin = alone * float((product * vectors).sum() / (product * product).sum())
    residual = scaled.T @ (vectors - scaled @ begin)
    moved, direction, size = np.zeros_like(begin), residual.copy(), (residual**2).sum(axis=0)
    for _ in range(steps):
        image = scaled.T @ (scaled @ direction) + pull * direction
        rate = size / np.maximum((direction * image).sum(axis=0), 1e-12)
        moved += rate * direction
        residual -= rate * image
        before, size = size, (residual**2).sum(axis=0)
        direction = residual + size / np.maximum(before, 1e-12) * direction
    return begin + moved


def unit(rows: np.ndarray) -> np.ndarray:
    """Rows of length 1."""
    scaled: np.ndarray = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return scaled


def write(table: np.ndarray, directions: np.ndarray, file: Path) -> None:
    """The table in eight bits, a scale a token, and the directions that a vector of the encoder is put in."""
    scales = (np.abs(table).max(axis=1) / 127).clip(1e-8).astype(np.float16)
    tokens = np.rint(table / scales[:, None].astype(np.float32)).clip(-127, 127).astype(np.int8)
    np.savez(file, tokens=tokens, scales=scales, directions=directions.astype(np.float16))


def main() -> None:
    """Fit the table and say how near it comes on one piece of twenty that was held out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=1600, help="passages of a set at most")
    parser.add_argument("--write", action="store_true", help="write the table")
    given = parser.parse_args()
    encoder, texts = BundledEncoder(threads=1), pieces(given.texts)
    cut = bundled_tokenizer().encode_batch_fast(texts, add_special_tokens=False)
    alone = np.stack([encoder._vector([[id_]], watch()) for id_ in range(bundled_tokenizer().get_vocab_size())])
    vectors = encoder.encode(texts)
    rows = np.repeat(np.arange(len(texts)), [len(one.ids) for one in cut])
    ids = np.concatenate([one.ids for one in cut])
    counts = sparse.coo_matrix((np.ones(len(ids), np.float32), (rows, ids)), (len(texts), len(alone))).tocsr()
    share = (np.bincount(ids, minlength=len(alone)) + 1) / (len(ids) + len(alone))
    weighted = (alone - alone.mean(axis=0)) * (SMOOTHING / (SMOOTHING + share))[:, None].astype(np.float32)
    held = np.arange(len(texts)) % 20 == 0
    _, _, directions = np.linalg.svd(vectors[~held].T @ vectors[~held])
    directions = directions[:DIRECTIONS].T
    table = fitted(counts[~held], vectors[~held], weighted) @ directions
    near = (unit(counts[held] @ table) * unit(vectors[held] @ directions)).sum(axis=1)
    print(f"{len(texts)} texts, {len(ids)} tokens; cosine with the encoder on {held.sum()} held out: {near.mean():.3f}")
    if given.write:
        write(table, directions, TABLE)
        print(f"{TABLE}: {TABLE.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
