from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.judging.scoring import ASKED, Given, values
from thresher.judging.named import NamedScorer
from thresher.text.document_names import NAME_SCORE
from thresher.types import PROBABILITY, UNIT, Hit, Notes, Score

Make = Callable[..., Hit]


def named(hit: Hit, fit: float) -> Hit:
    return replace(hit, scores={**hit.scores, NAME_SCORE: Score(fit, UNIT)})


@pytest.mark.parametrize(
    ("own", "fit", "judged"), [(0.2, 0.8, 0.4), (0.7, 0.8, 0.7), (0.4, 0.8, 0.4), (None, 0.8, 0.4), (0.0, 0.0, 0.0)]
)
def test_a_document_that_is_meant_by_its_name_has_the_higher_of_both_probabilities(
    make_hit: Make, own: float | None, fit: float, judged: float
) -> None:
    scorer = NamedScorer(Given({"a": own}, scale=PROBABILITY), lambda fit: fit / 2)
    assert values(scorer(ASKED, [named(make_hit("a"), fit)]).scores) == [judged]


def test_a_hit_that_was_found_by_a_search_keeps_its_own_score(make_hit: Make) -> None:
    scorer = NamedScorer(Given({"a": 0.2, "b": None, "c": 0.1}, scale=PROBABILITY), lambda fit: fit)
    hits = [make_hit("a"), make_hit("b"), named(make_hit("c"), 0.9)]
    assert values(scorer(ASKED, hits).scores) == [0.2, None, 0.9]


def test_it_goes_by_the_name_of_the_other_scorer_and_keeps_what_that_says(make_hit: Make) -> None:
    own = Given({"a": 0.2}, name="trained", scale=PROBABILITY, notes=Notes(facts={"read": 1}))
    scorer = NamedScorer(own, lambda fit: fit)
    assert (scorer.name, scorer.scale) == ("trained", PROBABILITY)
    assert scorer(ASKED, [make_hit("a")]).notes.facts == {"read": 1}
