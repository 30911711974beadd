"""`thresher.rerank`: texts of anybody's search put in order, without a collection."""

from __future__ import annotations

import subprocess
import sys

import pytest

import thresher
from tests.conftest import LIGHTHOUSE, RAILWAY
from thresher.errors import UsageError
from thresher.recipes.rerank import RankedText, Reranker
from thresher.types import Verdict

CHEESE = "Cheese notes. Gouda ripens for twelve months."
QUESTION = "When was the Kõpu lighthouse built?"
TEXTS = [CHEESE, LIGHTHOUSE, RAILWAY]


def test_the_text_that_answers_comes_first_with_a_probability_and_its_relevant_sentences() -> None:
    first, *others = thresher.rerank(QUESTION, TEXTS, spans=True)
    assert (first.index, sorted(one.index for one in others)) == (1, [0, 2])
    assert 0.8 < first.score < 1
    assert all(0 < one.score < 0.1 and one.spans == () for one in others)
    assert [LIGHTHOUSE[span.start : span.end] for span in first.spans] == ["The Kõpu lighthouse was built in 1531."]
    assert 0.8 <= first.spans[0].score <= 1


def test_only_the_best_are_given_where_so_many_are_wanted_and_a_lower_bar_shows_more_sentences() -> None:
    (first,) = thresher.rerank(QUESTION, TEXTS, top_n=1, spans=True, span_score=0.0001)
    assert first.index == 1
    assert len(first.spans) > 1
    assert [span.start for span in first.spans] == sorted(span.start for span in first.spans)
    assert min(span.score for span in first.spans) < 0.2
    plain = thresher.rerank(QUESTION, TEXTS, top_n=99)
    assert len(plain) == 3
    assert plain[0].spans == ()
    assert thresher.rerank(QUESTION, []) == []


def test_no_two_texts_share_a_score_however_little_they_answer_and_equal_ones_stay_as_they_came() -> None:
    scores = [one.score for one in thresher.rerank("Who won the world cup of 1998?", TEXTS)]
    assert scores == sorted(set(scores), reverse=True)
    found = thresher.rerank(QUESTION, [LIGHTHOUSE, LIGHTHOUSE], spans=True)
    assert [one.index for one in found] == [0, 1]
    assert all(one.spans for one in found)


def test_a_title_is_read_with_its_text_and_every_part_of_a_question_counts() -> None:
    text = "It was built in 1531."
    (bare,), (titled,) = thresher.rerank(QUESTION, [text]), thresher.rerank(QUESTION, [text], ["Kõpu lighthouse"])
    assert titled.score > bare.score + 0.2
    asked = "When was the Kõpu lighthouse built and when was the Semmering railway opened?"
    scores = {one.index: one.score for one in thresher.rerank(asked, TEXTS)}
    assert min(scores[1], scores[2]) > 0.7 > 0.1 > scores[0]


@pytest.mark.parametrize("text", ["", " \n", "\ud800 1531", "x " * 600], ids=["empty", "blank", "broken", "long"])
def test_a_text_that_says_nothing_is_no_error_and_comes_last(text: str) -> None:
    found = thresher.rerank(QUESTION, [text, LIGHTHOUSE], spans=True)
    assert [one.index for one in found] == [1, 0]
    assert found[1].spans == ()


def test_ranked_texts_have_a_verdict_by_models_that_are_loaded_once() -> None:
    reranker = Reranker()
    reranker.warm_up()
    loaded = reranker._models.judge()._loaded
    for texts, verdict in ((TEXTS, Verdict.CORRECT), ([CHEESE, RAILWAY], Verdict.INCORRECT), ([], Verdict.INCORRECT)):
        found = reranker(QUESTION, texts)
        decision = reranker.decide(QUESTION, found)
        assert (decision.verdict, decision.confidence) == (verdict, found[0].score if found else None)
    assert reranker.decide("lighthouse", [RankedText(0, 0.9)]).verdict is Verdict.AMBIGUOUS
    assert reranker._models.judge()._loaded is loaded is not None


@pytest.mark.parametrize(
    ("question", "texts", "options", "said"),
    [
        (" ", TEXTS, {}, "the question is empty"),
        (QUESTION, TEXTS, {"titles": ["one"]}, "are 1 for 3 texts"),
        (QUESTION, "one text", {}, "give a list of them"),
        (QUESTION, [LIGHTHOUSE, None], {}, "texts"),
        (QUESTION, TEXTS, {"top_n": 0}, "must be at least 1"),
        (QUESTION, TEXTS, {"span_score": 1.5}, "from 0 to 1"),
    ],
)
def test_what_cannot_be_ranked_is_told(question: str, texts: list[str], options: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        thresher.rerank(question, texts, **options)


@pytest.mark.slow
def test_reranking_needs_no_store() -> None:
    code = "import sys, thresher; thresher.rerank('Who?', ['Nobody knows.']); print('lancedb' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
