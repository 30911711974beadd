"""Fits the calibration of the local judge that comes with Thresher, and says whether the package has it.

    .venv/bin/python -m research.calibration

Questions, pools and splits are those of `research.pools`; the same number of training questions of each set counts.
What the local judge and its calibration are worth was measured up to commit 2ebb4b8: docs/decisions.md,
research/results/calibration.json.
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from benchmarks.machine import tell
from research.pools import TRAIN, Pool, Question, Remembered, candidates, of_slices, squad, wikipedia
from thresher.judging.calibration import SHIPPED
from thresher.judging.fitting import fit
from thresher.judging.scorers import LocalScorer
from thresher.models.encoders import BundledEncoder

SHIPPED_QUESTIONS = 200  # of each set, so that each weighs the same


def best_scores(encoder: Remembered, pool: Pool, questions: list[Question]) -> np.ndarray:
    """(n_questions, 2): the local judge's best score as it is, and with what answers out of reach."""
    local = LocalScorer(encoder, pool.rarity)
    best = []
    for asked in questions:
        for out in (frozenset[int](), asked.answered_by):
            found = candidates(pool, asked.text, asked.vector, out)
            chunks, cosines = [pool.chunks[one.row] for one in found], [one.cosine for one in found]
            texts, titles = [chunk.text for chunk in chunks], [chunk.title for chunk in chunks]
            best.append(max(parts.relevance for parts in local.judged(asked.text, texts, titles, cosines=cosines)))
    return np.array(best).reshape(-1, 2)


def main() -> None:
    """Fit and compare."""
    tell()
    bundled = BundledEncoder()
    encoder = Remembered(bundled)
    wiki, sets = wikipedia(bundled)
    paragraphs, sets["SQuAD"], _ = squad(bundled)
    kinds: tuple[list[float], list[float]] = ([], [])
    for name, questions in sets.items():
        best = best_scores(encoder, paragraphs if name == "SQuAD" else wiki, questions)
        train = of_slices(best, questions, TRAIN).kinds
        chosen = random.Random(0).sample(range(len(train[0])), min(SHIPPED_QUESTIONS, len(train[0])))
        for kind, values in zip(kinds, train, strict=True):
            kind.extend(values[at] for at in chosen)
    encoder.save()
    fitted = replace(fit(*kinds, judge="local", encoder=bundled.name, source="shipped"), source="shipped")
    shipped = SHIPPED["local"]
    agrees = np.allclose(fitted.parameters, shipped.parameters, atol=0.01) and fitted.encoder == shipped.encoder
    print(f"fitted: {fitted}\nthe package has {'it' if agrees else f'another one: {shipped}'}")


if __name__ == "__main__":
    main()
