"""Retrieval on SciFact's training questions: dense alone, BM25 alone, and `hybrid` without a reranker.

.venv/bin/python -m benchmarks.scifact
"""

from __future__ import annotations

import json
import shutil

from benchmarks.commands import thresher
from benchmarks.machine import CACHE, DATA, keep, tell

VARIANTS: dict[str, tuple[str, ...]] = {
    "dense": ("fuse.lexical_weight=0", "protect.n=0"),
    "lexical": ("fuse.dense_weight=0", "protect.n=0"),
    "hybrid": (),
    "hybrid, plain RRF 1:1": ("fuse.method=rrf",),
}
MEASURES = ("nDCG@10", "R@5", "MRR", "seconds_p50", "seconds_p95")


def main() -> None:
    """Measure every variant afresh."""
    tell()
    results = {}
    for name, variant in VARIANTS.items():
        out = CACHE / "runs" / f"scifact-{name.replace(' ', '-').replace(',', '').replace(':', '-')}"
        shutil.rmtree(out, ignore_errors=True)
        settings = [part for setting in ("rerank=none", *variant) for part in ("--set", setting)]
        dataset = ("--dataset", f"beir:{DATA / 'scifact'}")
        thresher("eval", "run", *dataset, "--recipe", "hybrid", *settings, "--out", str(out))
        scored = json.loads(thresher("eval", "score", str(out), "--json", home=False))
        results[name] = scored["recipes"]["hybrid"]
        cells = [
            f"{measure} {value['value']:.3f} [{value['low']:.3f}, {value['high']:.3f}]"
            for measure in MEASURES
            if (value := results[name][measure])["value"] is not None
        ]
        label = f"{name} (n={scored['n']})"
        print(f"{label:<28} " + "  ".join(cells))
    keep("scifact", {"dataset": "SciFact, training questions", "variants": results})


if __name__ == "__main__":
    main()
