"""Distils the bundled encoder into one vector per token, so that a text's vector is a sum: no network is run.

    .venv/bin/python -m research.distil_static_encoder

Two tables of float16, (tokens of the vocabulary, dimension), are written, and their hashes printed:

* `plain.npy`: each token encoded alone, centred, its first 256 principal components, times a / (a + frequency).
  Follows model2vec (Minish Lab 2024), with the weights of Arora et al. 2017 (smooth inverse frequency, a = 0.001).
* `distilled.npy`: the table whose sums come nearest to the encoder's vectors of whole sentences, by ridge regression
  towards the centred and weighted vectors of the single tokens. Follows the idea of tokenlearn, in closed form instead
  of epochs.

Frequencies and sentences are those of the Wikipedia pool below THRESHER_DATA (sha1 of "static:TITLE" modulo 10 is 0 to
6; the other articles are left to `research.static_encoder`). What the encoder says is kept beside the tables, so
that a second run only fits. One core of an AMD EPYC: 35 s for the tokens, 220 s for the sentences, 30 s for the fit.

Thresher ships neither table: see the section on static vectors in docs/decisions.md.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import tokenizers
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.machine import RESEARCH, rows
from thresher.deadline import watch
from thresher.models.encoders import BUNDLED, BundledEncoder
from thresher.text.sentences import sentence_spans
from thresher_evals.dataset import sha1_number
from thresher_evals.jsonl import digest

Matrix = NDArray[np.float32]

TARGET = RESEARCH / ".cache" / "static_encoder"

TRAINING_PARTS = 7  # of 10 parts of the articles
SENTENCES = 60_000  # of 90,214: what one core encodes in four minutes
COMPONENTS = 256  # model2vec's default
SMOOTHING = 1e-3  # Arora et al. 2017, section 4.1
RIDGE = 1.0  # of 0.03, 0.1, 0.3, 1 and 3 the best mean cosine on 4,000 held-out sentences: 0.835 (0.834 to 0.835)
ITERATIONS = 25


def part(title: str) -> int:
    """Which tenth of the articles one belongs to."""
    return sha1_number(f"static:{title}") % 10


def training_sentences() -> list[str]:
    """Sentences of the training articles in a fixed random order."""
    sentences = []
    for row in rows("wikipedia/corpus.jsonl"):
        if part(row["title"]) < TRAINING_PARTS:
            text = row["text"].removeprefix(row["title"]).strip()
            sentences += [text[start:end] for start, end in sentence_spans(text)]
    random.Random(0).shuffle(sentences)
    return sentences


def loaded_tokenizer() -> tokenizers.Tokenizer:
    """The bundled encoder's, without padding and truncation."""
    tokenizer = tokenizers.Tokenizer.from_file(str(BUNDLED / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def counts(tokenizer: tokenizers.Tokenizer, texts: Sequence[str]) -> sparse.csr_matrix:
    """(n_texts, n_tokens) float32: how often each token stands in each text."""
    ids = [encoding.ids for encoding in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]
    columns = np.concatenate([np.asarray(row, np.int64) for row in ids])
    begins = np.concatenate([[0], np.cumsum([len(row) for row in ids])])
    shape = (len(texts), tokenizer.get_vocab_size())
    table = sparse.csr_matrix((np.ones(len(columns), np.float32), columns, begins), shape=shape)
    table.sum_duplicates()
    return table


def token_vectors(encoder: BundledEncoder, size: int) -> Matrix:
    """(size, 384): each token between [CLS] and [SEP], by its number, so that pieces of words need no spelling."""
    allow = watch()
    return np.stack([encoder._vector([[number]], allow) for number in range(size)])


def kept(file: Path, make: Callable[[], Matrix]) -> Matrix:
    """What `make()` gives, from `file` where it was made before."""
    if not file.is_file():
        np.save(file, make())
    return np.asarray(np.load(file))


def weights(frequencies: NDArray[np.int64]) -> Matrix:
    """Smooth inverse frequency of each token, 0 to 1."""
    return np.asarray(SMOOTHING / (SMOOTHING + frequencies / frequencies.sum()), np.float32)


def plain(centred: Matrix, weight: Matrix) -> Matrix:
    """Principal components of the tokens' vectors, the frequent tokens made short."""
    _, axes = np.linalg.eigh(centred.T @ centred)
    return np.asarray((centred @ axes[:, ::-1][:, :COMPONENTS]) * weight[:, None])


def distilled(table: sparse.csr_matrix, targets: Matrix, prior: Matrix) -> Matrix:
    """Ridge regression by conjugate gradients, one system per dimension.

    A sentence of n tokens is divided by the root of n, which brings its sum to about unit length.
    """
    lengths = np.maximum(np.asarray(table.sum(axis=1)).ravel(), 1)
    scaled = sparse.diags((1 / np.sqrt(lengths)).astype(np.float32)) @ table
    sums = scaled @ prior
    prior = prior * np.float32((sums * targets).sum() / (sums * sums).sum())
    residual = scaled.T @ (targets - scaled @ prior)
    change, direction = np.zeros_like(prior), residual.copy()
    square = (residual * residual).sum(axis=0)
    for _ in range(ITERATIONS):
        image = scaled.T @ (scaled @ direction) + np.float32(RIDGE) * direction
        step = square / ((direction * image).sum(axis=0) + 1e-20)
        change += step * direction
        residual -= step * image
        square, before = (residual * residual).sum(axis=0), square
        direction = residual + (square / (before + 1e-20)) * direction
    return prior + change


def main() -> None:
    """Write both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=TARGET, help="folder for the tables")
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    tokenizer, encoder = loaded_tokenizer(), BundledEncoder()
    sentences = training_sentences()
    table = counts(tokenizer, sentences)
    weight = weights(np.asarray(table.sum(axis=0)).ravel().astype(np.int64))
    vectors = kept(out / "tokens.npy", lambda: token_vectors(encoder, tokenizer.get_vocab_size()))
    targets = kept(out / "sentences.npy", lambda: encoder.encode(sentences[:SENTENCES]))
    centred = vectors - vectors.mean(axis=0)  # as it is, the prior takes Pk on SciFact from 0.23 to 0.29
    tables = {
        "plain": plain(centred, weight),
        "distilled": distilled(table[: len(targets)], targets, centred * weight[:, None]),
    }
    for name, values in tables.items():
        file = out / f"{name}.npy"
        np.save(file, values.astype(np.float16))
        print(f"{digest(file)}  {name}.npy  {file.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
