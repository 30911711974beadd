"""How much of the label the claim alone gives away."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

from research.checker_data import SUPPORTED, Row

READ = 9_000
"""Rows of a source that are read at most."""


def said_alone(groups: list[list[Row]]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None:
    """Of rows: their group, whether they are supported, and what the words of the claim say; None of few rows.

    That is the log odds of a logistic regression over its words and pairs of words, by folds of whole groups.
    """
    rows = [(at, row) for at, group in enumerate(groups) for row in group][:READ]
    right = np.array([row["label"] == SUPPORTED for _, row in rows])
    of = np.array([at for at, _ in rows])
    if min(right.sum(), (~right).sum()) < 40 or len(groups) < 20:
        return None
    words = CountVectorizer(ngram_range=(1, 2), min_df=3, binary=True, token_pattern=r"\w+|[;:]")
    seen = words.fit_transform(row["claim"] for _, row in rows)
    said = np.zeros(len(rows))
    for train, test in GroupKFold(4).split(seen, right, of):
        model = LogisticRegression(C=0.3, solver="liblinear").fit(seen[train], right[train])
        said[test] = model.decision_function(seen[test])
    return of, right, said


def giveaway(groups: list[list[Row]]) -> float:
    """Area under the curve by the claim alone; -1 of few rows."""
    found = said_alone(groups)
    return round(float(roc_auc_score(*found[1:])), 3) if found else -1.0


def hardest(groups: list[list[Row]], share: float) -> list[list[Row]]:
    """The share of the groups with both labels of which the claims alone say least."""
    read: list[list[Row]] = []
    count = 0
    for rows in groups:
        count += len(rows)
        if count <= READ and len({row["label"] == SUPPORTED for row in rows}) > 1:
            read.append(rows)
    if not (found := said_alone(read)):
        return read
    of, right, said = found
    gains = [float(said[(of == at) & right].mean() - said[(of == at) & ~right].mean()) for at in range(len(read))]
    order = np.argsort(gains, kind="stable")[: int(share * len(read))]
    return [read[at] for at in sorted(order.tolist())]
