"""Retrieval on SciFact's training questions: dense alone, BM25 alone, and `hybrid` without a reranker.

.venv/bin/python benchmarks/scifact.py
"""

from __future__ import annotations

from evaluate import keep, measured, show
from machine import DATA, tell

VARIANTS = {
    "dense": ("fuse.lexical_weight=0", "protect.n=0"),
    "lexical": ("fuse.dense_weight=0", "protect.n=0"),
    "hybrid": (),
    "hybrid, plain RRF 1:1": ("fuse.method=rrf",),
}
MEASURES = ("nDCG@10", "R@5", "MRR", "seconds_p50", "seconds_p95")


def main() -> None:
    tell()
    results = {}
    for name, settings in VARIANTS.items():
        folder = name.replace(" ", "-").replace(",", "").replace(":", "-")
        dataset = f"beir:{DATA / 'scifact'}"
        scored = measured(f"scifact-{folder}", dataset, ["hybrid"], settings=["rerank=none", *settings])
        results[name] = scored["recipes"]["hybrid"]
        show(f"{name} (n={scored['n']})", results[name], MEASURES)
    keep("scifact", {"dataset": "SciFact, training questions", "variants": results})


if __name__ == "__main__":
    main()
