from __future__ import annotations

import pytest

from thresher.text.boilerplate import is_bibliography, is_reference, leans, says_nothing


@pytest.mark.parametrize(
    "sentence",
    [
        "Revenue by quarter",
        "Section 4 summarizes related work.",
        "The results are presented in Table 3.",
        "The rest of this paper is organized as follows.",
        "Figure 2: Training loss on MNIST.",
        "Page 3 of 10",
        "We leave this to future work.",
        "x = (a + b) / 2 * {1, 2, 3}",
        "Vaswani, A., Shazeer, N., and Parmar, N. Attention is all you need. In Advances in NIPS, pp. 5998–6008, 2017.",
    ],
)
def test_headings_captions_signposts_and_references_say_nothing(sentence: str) -> None:
    assert says_nothing(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "The pump must be serviced every 500 hours.",
        "Opening hours: 9 to 17",
        "As shown in Table 4, GaLore uses less memory than LoRA.",
        "Section 12 of the lease makes the tenant liable for repairs.",
        "The table was bought in 2019 by J. Smith.",
        "Devlin et al. (2019) train BERT with a masked language model.",
    ],
)
def test_what_says_something_is_kept(sentence: str) -> None:
    assert not says_nothing(sentence)


def test_a_list_of_references_is_a_bibliography_and_a_text_that_cites_is_none() -> None:
    entry = "J. Devlin, M. Chang, and K. Lee. BERT. arXiv preprint arXiv:1810.04805, pages 1–16, 2018.\n"
    assert is_reference(entry)
    assert is_bibliography(entry * 3)
    assert not is_bibliography("BERT (Devlin et al., 2019) is a language model. It is trained on Wikipedia. " * 10)


def test_a_sentence_that_begins_with_a_pronoun_leans_on_the_one_before() -> None:
    assert leans("It must be replaced after 4,000 hours.")
    assert leans("However, the fee is not refunded.")
    assert not leans("The filter must be replaced.")
