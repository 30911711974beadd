from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import exp

import pytest

from tests.judging.scoring import ASKED, Given, scores, values
from thresher.errors import BudgetSpent, ProviderError, UsageError
from thresher.judging.judge import ScoringJudge
from thresher.judging.llm_scorers import LLMRelevance
from thresher.judging.scorers import CrossEncoderScorer, StandInForT5
from thresher.judging.thresholds import Fixed
from thresher.testing.fakes import OverlapCrossEncoder, ScriptedModel
from thresher.types import LOGIT, T5, UNIT, Hit, Notes, Query, Scale, Score

Make = Callable[..., Hit]


@dataclass
class Logits:
    """A cross-encoder whose numbers are given."""

    numbers: Sequence[float]
    scale: Scale = LOGIT
    name: str = "logits"
    seen: list[tuple[str, list[str]]] = field(default_factory=list)

    def __call__(self, question: str, texts: Sequence[str]) -> list[Score]:
        self.seen.append((question, list(texts)))
        return [Score(number, self.scale) for number in self.numbers]


def scored(cross_encoder: Logits, make_hit: Make, **more: object) -> list[float | None]:
    scorer = CrossEncoderScorer(cross_encoder, **more)  # type: ignore[arg-type]
    found = scorer(ASKED, [make_hit(str(n)) for n in range(len(cross_encoder.numbers))])
    assert all(score is not None and score.scale == scorer.scale for score in found.scores)
    return values(found.scores)


def test_logits_become_probabilities(make_hit: Make) -> None:
    assert scored(Logits([0.0, 2.0, -2.0]), make_hit) == pytest.approx([0.5, 1 / (1 + exp(-2)), 1 / (1 + exp(2))])


def test_logits_of_any_size_stay_between_0_and_1(make_hit: Make) -> None:
    assert scored(Logits([1e4, -1e4]), make_hit) == [1.0, 0.0]


def test_what_is_already_from_0_to_1_stays_as_it_is(make_hit: Make) -> None:
    assert scored(Logits([0.9, 0.1], UNIT), make_hit) == [0.9, 0.1]


def test_logits_may_be_kept(make_hit: Make) -> None:
    assert scored(Logits([7.5, -3.0]), make_hit, to_unit=False) == [7.5, -3.0]


def test_the_fine_tuned_evaluators_logit_is_its_score(make_hit: Make) -> None:
    assert scored(Logits([0.6, -0.99, 1.02]), make_hit, to_unit=False, raw=T5) == [0.6, -0.99, 1.0]
    assert scored(Logits([0.75], UNIT), make_hit, to_unit=False, raw=T5) == [0.5]


def test_it_reads_the_searched_words_with_title_and_text(make_hit: Make) -> None:
    model = Logits([0.0, 0.0])
    CrossEncoderScorer(model)(ASKED, [make_hit("a", title="Towers", text="Built."), make_hit("b", text="Razed.")])
    CrossEncoderScorer(model, query_text="question")(ASKED, [make_hit("a"), make_hit("b")])
    assert model.seen[0] == ("tower builder", ["Towers\nBuilt.", "Razed."])
    assert model.seen[1][0] == "Who built the tower?"


@pytest.mark.parametrize("error", [ProviderError("is down"), BudgetSpent("is spent")])
def test_a_reranker_that_fails_scores_nothing_and_says_so(make_hit: Make, error: Exception) -> None:
    class Failing(OverlapCrossEncoder):
        def __call__(self, question: str, texts: Sequence[str]) -> list[Score]:
            raise error

    found = CrossEncoderScorer(Failing())(ASKED, [make_hit("a"), make_hit("b")])
    assert found.scores == (None, None)
    assert found.failed == (0, 1)
    assert found.notes.degraded == (f"judge: {error}; 2 chunks were not scored",)


def test_a_stand_in_for_the_evaluator_is_marked(make_hit: Make) -> None:
    stand_in = StandInForT5(Given({"a": 0.75, "b": None, "c": 0.0}, notes=Notes(("judge: before",))))
    found = stand_in(Query("q", "q"), [make_hit(id) for id in "abc"])
    assert (stand_in.scale, found.scores) == (T5, scores(0.5, None, -1.0, scale=T5))
    before, marked = found.notes.degraded
    assert before == "judge: before"
    assert "twice the relevance minus one" in marked


def test_a_stand_in_makes_no_failure_of_an_unreadable_reply(make_hit: Make) -> None:
    relevance = LLMRelevance(ScriptedModel(lambda system, user: "no idea"))
    judged = ScoringJudge(StandInForT5(relevance), Fixed(0.0))(ASKED, [make_hit("a")])
    assert [(one.keep, one.reason) for one in judged.judgements] == [(True, "unreadable, kept")]


def test_only_a_scorer_from_0_to_1_can_stand_in() -> None:
    with pytest.raises(UsageError, match="logit"):
        StandInForT5(Given({}, scale=LOGIT))
