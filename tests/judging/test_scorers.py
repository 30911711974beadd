from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from thresher.judging.scorers import LocalRelevance, LocalScorer
from thresher.testing.fakes import HashEncoder
from thresher.types import UNIT, Hit, Query, Score

ASKED = Query("capital of France", "France capital city")


def terms(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@pytest.fixture
def scorer() -> LocalScorer:
    return LocalScorer(LocalRelevance(HashEncoder(256), terms, lambda question: dict.fromkeys(terms(question), 1.0)))


def test_each_hit_gets_a_relevance_and_the_parts_it_is_made_of(
    scorer: LocalScorer, make_hit: Callable[..., Hit]
) -> None:
    scored = scorer(ASKED, [make_hit(value=0.9, text="Paris is the capital"), make_hit(value=0.1, text="Cheese")])
    assert scored.others == (
        {"sentence": Score(0.9, UNIT), "terms": Score(pytest.approx(1 / 3), UNIT)},
        {"sentence": Score(0.1, UNIT), "terms": Score(0.0, UNIT)},
    )
    first, second = scored.scores
    assert first is not None
    assert second is not None
    assert first.scale == scorer.scale == UNIT
    assert 0 < second.value < 0.1 < 0.5 < first.value < 1


def test_a_strip_without_a_dense_score_is_read_with_its_title(
    scorer: LocalScorer, make_hit: Callable[..., Hit]
) -> None:
    text = "It is the capital of France."
    bare, titled = scorer(
        Query("Paris capital", ""),
        [make_hit(name="rank", text=text), make_hit(name="rank", text=text, title="Paris")],
    ).others
    assert bare["sentence"] == titled["sentence"]
    assert (bare["terms"].value, titled["terms"].value) == (0.5, 1.0)


def test_the_question_the_person_asked_is_judged_not_the_words_that_were_searched(
    scorer: LocalScorer, make_hit: Callable[..., Hit]
) -> None:
    hits = [make_hit(text="Paris is the capital")]
    assert scorer(ASKED, hits) == scorer(Query(ASKED.question, "quite other words"), hits)


def test_no_hits_have_no_scores(scorer: LocalScorer) -> None:
    assert scorer(ASKED, []).scores == ()
