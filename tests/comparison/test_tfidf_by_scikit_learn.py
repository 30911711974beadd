"""TF-IDF against scikit-learn's own."""

from __future__ import annotations

import pytest
from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped, unused-ignore]

from thresher.retrieval.wrappers import tfidf

TEXTS = [
    "the cat sat on the mat",
    "the cat sat on the mat today",
    "a dog ran in the park",
    "the cat sat on the mat",
    "",
]


def test_tfidf_is_that_of_scikit_learn() -> None:
    vectorizer = TfidfVectorizer(tokenizer=str.split, token_pattern=None, lowercase=False)
    theirs = vectorizer.fit_transform(TEXTS).toarray()
    ours = tfidf(TEXTS, str.split)
    assert ours @ ours.T == pytest.approx(theirs @ theirs.T)
