"""What a question asks for, read from its wording in a time that is no more than its length."""

from __future__ import annotations

import time

import pytest

from thresher.question.intent import intent_of

LONGEST = 8000
"""Characters that a server allows by default."""


@pytest.mark.parametrize("piece", [" ", "\n", "?", '"', "- ", ", ", "( ", "what is ", "and who ", "the ", "1 ", "A."])
@pytest.mark.parametrize("head", ["", "What is "])
def test_no_question_takes_longer_than_its_length(head: str, piece: str) -> None:
    question = (head + piece * LONGEST)[: LONGEST - 2] + "?x"
    began = time.process_time()
    assert intent_of(question).question == question
    assert time.process_time() - began < 2.0  # blanks took a quarter of an hour
