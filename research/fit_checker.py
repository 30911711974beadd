"""Fits what the readings of a claim weigh (src/thresher/verification/weights.json) on labelled claims.

    .venv/bin/python -m research.fit_checker --contrasts training/claim_contrasts.jsonl

The first time every claim is read: 3 to 30 a second.

Multinomial logistic regression over supported, contradicted and neither, each reading with the direction that it can
only have (readings that go together would else take turns). Fitted on
the cases of benchmarks.checker that are not final; of SciFact and Climate-FEVER only the fourth fifth, because the
model was trained on the first three; and on contrasts that people wrote and that are held back from its training
(`research.claim_contrasts`). Every set weighs the same, and in it supported claims as much as all others.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax

from benchmarks.checker import NOT_STATED, Observed, cases, observed, show
from benchmarks.machine import ROOT, tell
from benchmarks.planted_errors import Case, sentences_of
from research.train.groups import held_back
from thresher.verification.check import SIGNS, fitted

WEIGHTS = ROOT / "src/thresher/verification/weights.json"
TRAINED_ON = ("SciFact", "Climate-FEVER")
NAMES = ("neither", "supported", "contradicted")
PENALTY = 0.5
"""Of the squared weights, against the sum of the claims' losses."""

FOR, AGAINST, ANY = (0.0, None), (None, 0.0), (None, None)
OF_SUPPORT = {"constant": ANY, "selected": FOR, "alone": FOR, "denial": AGAINST, "share": FOR}
OF_DENIAL = {"constant": ANY, "selected": AGAINST, "alone": AGAINST, "denial": FOR, "share": FOR}
"""The directions of the readings."""


CONTRASTS = (
    "vitaminc_real",
    "tabfact_pairs",
    "infotabs",
    "sharc",
    "condaqa",
    "contractnli",
    "sufficient_facts",
    "fever_symmetric",
    "evidence_inference",
)
"""Sets of claims that differ in one place over the same text, written or edited by people."""

OF_A_SET = 200
"""Contrasts of each set that are read."""


def contrasts(file: Path) -> Iterator[Case]:
    """The first held-back contrasts of each set; one that is only known not to be supported counts as not stated."""
    counts: Counter[str] = Counter()
    for row in map(json.loads, file.open(encoding="utf-8")):
        source, key = row["source"], row.get("family") or row["text"]
        if source in CONTRASTS and held_back(key) and counts[source] < OF_A_SET:
            counts[source] += 1
            error = {"supported": "", "contradicted": "denied"}.get(row["label"], "not stated")
            yield Case(f"contrast: {source}", error, key, row["claim"], sentences_of(row["text"]), row.get("title", ""))


def outcome(one: Observed) -> int:
    """0 neither, 1 supported, 2 contradicted."""
    if one.true:
        return 1
    return 0 if one.error in NOT_STATED else 2


def fit(
    values: NDArray[np.float64], labels: NDArray[np.int64], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The weights of the readings, (signs,), for support and for denial, by L-BFGS-B within their directions."""
    signs = values.shape[1]
    chosen = np.eye(3)[labels]

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        table = np.column_stack([np.zeros(signs), flat[:signs], flat[signs:]])
        shares = log_softmax(values @ table, axis=1)
        slope = values.T @ (weight[:, None] * (np.exp(shares) - chosen))
        total = -(weight * (shares * chosen).sum(axis=1)).sum() + PENALTY * (flat**2).sum() / 2
        return float(total), slope[:, 1:].T.ravel() + PENALTY * flat

    bounds = [OF_SUPPORT[name] for name in SIGNS] + [OF_DENIAL[name] for name in SIGNS]
    found = minimize(loss, np.zeros(2 * signs), jac=True, method="L-BFGS-B", bounds=bounds)
    return found.x[:signs], found.x[signs:]


def main() -> None:
    """Fit, write, and show what the weights do on what they were fitted on."""
    tell()
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--contrasts", type=Path, required=True, help="what research.claim_contrasts wrote")
    given = parser.parse_args()
    wanted = [case for case in cases(None) if not case.final and (case.data not in TRAINED_ON or case.slice == 3)]
    found = observed([*wanted, *contrasts(given.contrasts)])
    labels = np.array([outcome(one) for one in found])
    counts = Counter((one.data, label) for one, label in zip(found, labels.tolist(), strict=True))
    shares = {1: 0.5, 0: 0.25, 2: 0.25}
    weight = np.array([shares[at] / counts[one.data, at] for one, at in zip(found, labels.tolist(), strict=True)])
    values = np.array([one.signs.values() for one in found])
    support, denial = fit(values, labels, weight * len(found) / weight.sum())
    table = {
        "support": dict(zip(SIGNS, np.round(support, 4).tolist(), strict=True)),
        "denial": dict(zip(SIGNS, np.round(denial, 4).tolist(), strict=True)),
        "fitted_on": {
            f"{data}, {('neither', 'supported', 'contradicted')[label]}": n
            for (data, label), n in sorted(counts.items())
        },
    }
    WEIGHTS.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    fitted.cache_clear()
    print(json.dumps(table, indent=1))
    show(found)


if __name__ == "__main__":
    main()
