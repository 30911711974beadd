from __future__ import annotations

from dataclasses import dataclass

import pytest

from thresher.text.document_names import LEAST_FIT, SURE_FIT, fit


@dataclass(frozen=True)
class Paper:
    title: str
    source: str = "papers/1512.03385.pdf"


RESIDUAL = Paper("Deep Residual Learning for Image Recognition")
PASSAGES = Paper("Dense Passage Retrieval for Open-Domain Question Answering")
BERT = Paper("BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding")


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("the BERT paper", BERT),
        ("1512.03385.pdf", Paper("Untitled", "1512.03385.pdf")),
        ("the DPO paper", Paper("Direct Preference Optimization: Your Language Model Is a Reward Model")),
        ("the report", RESIDUAL),
    ],
)
def test_what_a_document_is_called_fits_it_wholly(name: str, document: Paper) -> None:
    assert fit(name, document) == 1.0


def test_the_words_a_title_begins_with_are_sure_to_mean_it() -> None:
    assert fit("the paper on dense passage retrieval", PASSAGES) >= SURE_FIT


def test_a_few_words_of_a_title_may_mean_it() -> None:
    assert LEAST_FIT < fit("the paper on deep learning", RESIDUAL) < SURE_FIT


def test_one_word_of_many_means_nothing() -> None:
    assert fit("the paper on learning", RESIDUAL) <= LEAST_FIT


def test_a_word_that_is_not_the_documents_fits_nothing() -> None:
    assert fit("the paper on deep reinforcement learning", RESIDUAL) == 0.0
