from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.generation.answering import certain, piece
from thresher.errors import UsageError
from thresher.generation.candidates import Candidate, Signs
from thresher.generation.citations import NO_EVIDENCE, cite
from thresher.generation.select import DISPUTED_FROM, ENOUGH, NEARLY, AnswerThresholds, Row, Selector
from thresher.generation.sentence_support import SUPPORT, Sentence
from thresher.types import Generation, Score, logistic

THRESHOLDS = AnswerThresholds(abstain_below=0.3, hedge_below=0.6)
TITLE = "Handbook"


def row(n: int, right: int, intercept: float = 0.0, weights: Mapping[str, float] | None = None) -> Row:
    return Row(intercept, n, right, weights or {})


def select(**certainties: float) -> Selector:
    """A table in which each answerer is as certain as that, whatever its signs."""
    return Selector({name: certain(value) for name, value in certainties.items()}, THRESHOLDS)


def candidate(
    text: str, by: str, *, passage: bool = False, objection: str = "", signs: Signs | None = None
) -> Candidate:
    cited = cite(1, Sentence.whole(piece(text, title=TITLE), Score(0.5, SUPPORT)))
    shown = f"“{text}” [1]" if passage else f"{text} [1]"
    answer = Generation(shown, (cited,), exact=True)
    return Candidate(answer, by, signs or Signs(), passage, objection)


SPAN, CELL = candidate("4 weeks", "spans"), candidate("40 days", "tables")
TEXT, OTHER = candidate("It runs.", "texts", passage=True), candidate("It stands.", "others", passage=True)


# --- which one --------------------------------------------------------------------------------------------------------


def test_the_most_certain_answer_wins_whoever_proposes_it_and_says_how_certain_it_is() -> None:
    chosen = select(spans=0.7, tables=0.9)([SPAN, CELL])
    assert chosen.text == "40 days [1]"
    assert chosen.certainty == pytest.approx(0.9)
    assert chosen.notes.facts["reader"] == "tables"
    chosen = select(spans=0.95, tables=0.9)([SPAN, CELL])
    assert chosen.text == "4 weeks [1]"


def test_an_answer_that_is_certain_is_preferred_to_a_passage_that_is_more_certain() -> None:
    assert select(spans=0.6001, texts=0.99)([TEXT, SPAN]).text == "4 weeks [1]"


def test_below_the_bound_of_a_hedge_a_passage_is_preferred_to_an_answer() -> None:
    chosen = select(spans=0.59, texts=0.35)([SPAN, TEXT])
    assert chosen.notes.facts["reader"] == "texts"
    assert chosen.certainty == pytest.approx(0.35)


def test_the_words_before_an_answer_say_whether_it_is_one_and_how_certain() -> None:
    assert select(spans=0.7)([SPAN]).text == "4 weeks [1]"
    assert select(spans=0.4)([SPAN]).text == "Perhaps: 4 weeks [1]"
    assert select(texts=0.7)([TEXT]).text == "Here: “It runs.” [1]"
    assert select(texts=0.4)([TEXT]).text == "Perhaps here: “It runs.” [1]"


def test_an_answer_is_hedged_and_withheld_below_the_bounds_and_not_at_them() -> None:
    at = Selector({"spans": row(1000, 500)}, AnswerThresholds(0.5, 0.5))
    assert at([SPAN]).text == "4 weeks [1]"
    below = Selector({"spans": row(1000, 500)}, AnswerThresholds(0.5, 0.50001))
    assert below([SPAN]).text == "Perhaps: 4 weeks [1]"
    withheld = Selector({"spans": row(1000, 500)}, AnswerThresholds(0.50001, 0.6))
    assert withheld([SPAN]).abstained


def test_a_candidate_that_something_speaks_against_is_never_chosen() -> None:
    against = candidate("50 weeks", "tables", objection="It is of 2022, not of 2021.")
    assert select(spans=0.4, tables=0.99)([against, SPAN]).text == "Perhaps: 4 weeks [1]"
    alone = select(tables=0.99)([against])
    assert alone.abstained
    assert (alone.reason or "").endswith("It is of 2022, not of 2021.")


def test_of_two_doubtful_passages_that_are_nearly_alike_both_are_shown_and_of_others_the_better_one() -> None:
    near, far = 0.5 * NEARLY + 0.001, 0.5 * NEARLY - 0.001
    both = select(texts=0.5, others=near)([OTHER, TEXT])
    assert both.text == "Here: “It runs.” [1]\nOr here: “It stands.” [2]"  # one of both is certain enough
    assert [citation.quote for citation in both.citations] == ["It runs.", "It stands."]
    assert both.certainty == pytest.approx(1 - (1 - 0.5) * (1 - near))  # that one of both is right
    less = select(texts=0.3, others=0.3)([OTHER, TEXT])
    assert less.text.startswith("Perhaps here: ")
    assert less.certainty == pytest.approx(0.51)
    assert select(texts=0.5, others=far)([OTHER, TEXT]).text == "Perhaps here: “It runs.” [1]"
    assert select(texts=0.7, others=0.7)([OTHER, TEXT]).text.count("“") == 1
    assert select(spans=0.6001, texts=0.5, others=near)([OTHER, TEXT, SPAN]).text == "4 weeks [1]"


# --- none -------------------------------------------------------------------------------------------------------------


def test_an_abstention_shows_the_nearest_passage_first_and_then_says_why() -> None:
    none = select(spans=0.1, texts=0.2)([SPAN, TEXT])
    assert none.abstained
    assert none.reason == (
        "Perhaps here (Handbook): “It runs.”. It is right with a probability of 0.20, and 0.30 is asked for."
    )
    assert none.certainty is None
    assert none.notes.facts["certainty"] == pytest.approx(0.2)


def test_an_abstention_over_a_candidate_without_a_citation_says_why_alone() -> None:
    bare = Candidate(Generation(""), "documents", objection="No document speaks of pottery.")
    assert select(documents=0.9)([bare]).reason == "No document speaks of pottery."


def test_without_candidates_the_reason_is_what_the_evidence_lacks() -> None:
    assert select()([], "No document that was found names K-12.").reason == "No document that was found names K-12."
    assert select()([]).reason == NO_EVIDENCE


# --- how certain ------------------------------------------------------------------------------------------------------


def test_a_row_weighs_the_signs_that_apply() -> None:
    weighed = row(1000, 500, -1.0, {"relevance": 0.5, "terms": 2.0})
    assert weighed.probability(Signs(relevance=3.0, terms=0.25)) == pytest.approx(logistic(-1 + 1.5 + 0.5))
    assert weighed.probability(Signs(relevance=3.0)) == pytest.approx(logistic(0.5))
    assert weighed.probability(Signs(place=-9.0)) == pytest.approx(logistic(-1.0))


def test_of_few_observations_the_lower_bound_of_the_interval_counts_at_most() -> None:
    assert row(10, 9, 9.0).probability(Signs()) == pytest.approx(0.5958, abs=1e-4)  # Wilson's interval of 9 of 10
    assert row(10, 9, -2.0).probability(Signs()) == pytest.approx(logistic(-2.0))
    assert row(ENOUGH, 90, 9.0).probability(Signs()) == pytest.approx(logistic(9.0))
    assert row(10, 0).lower_bound == 0.0


@given(some.integers(1, 500).flatmap(lambda n: some.tuples(some.just(n), some.integers(0, n))))
def test_the_lower_bound_is_a_share_below_the_one_that_was_seen(counts: tuple[int, int]) -> None:
    n, right = counts
    assert 0.0 <= row(n, right).lower_bound <= right / n + 1e-9


def test_a_rival_makes_an_answer_less_certain_and_not_less_likely_to_be_shown() -> None:
    beside = candidate("1531 [1]; another document says 1538", "spans", signs=Signs(rival=0.5))
    shown = select(spans=0.8, tables=0.75)([beside, CELL])
    assert shown.text == "1531 [1]; another document says 1538 [1]"
    assert shown.certainty == pytest.approx(0.8 * 0.5 / (1 - 0.8 * 0.5))
    doubted = select(spans=0.7)([beside])
    assert doubted.text == "Perhaps: 1531 [1]; another document says 1538 [1]"
    assert doubted.certainty == pytest.approx(0.7 * 0.5 / (1 - 0.7 * 0.5))


@given(some.floats(0.31, 0.99), some.floats(0.0, 1.0))
def test_with_a_rival_an_answer_is_never_more_certain(certainty: float, rival: float) -> None:
    shown = select(spans=certainty)([candidate("1531", "spans", signs=Signs(rival=rival))])
    assert shown.certainty is not None
    assert 0.0 <= shown.certainty <= certainty + 1e-9


def test_an_answerer_without_a_row_is_an_error_that_names_it() -> None:
    with pytest.raises(UsageError, match=r"answerer tables.*no row in the table of certainties"):
        select(spans=0.7)([SPAN, CELL])


def test_a_table_is_read_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "certainty.json"
    one = {"intercept": -1.0, "weights": {"terms": 2.0}, "n": 7, "right": 3, "sets": ["questions"]}
    file.write_text(json.dumps({"answerers": {"spans": one}}), encoding="utf-8")
    loaded = Selector.load(THRESHOLDS, file)
    assert loaded.table == {"spans": Row(-1.0, 7, 3, {"terms": 2.0})}
    assert loaded.thresholds == THRESHOLDS


# --- order ------------------------------------------------------------------------------------------------------------


def test_ties_do_not_depend_on_the_order_of_the_candidates() -> None:
    equals = [candidate(text, by) for text, by in (("b", "spans"), ("a", "spans"), ("c", "lists"))]
    chosen = [select(spans=0.7, lists=0.7)(order) for order in permutations(equals)]
    assert all(one == chosen[0] for one in chosen)


MADE = some.lists(
    some.builds(
        candidate,
        some.sampled_from(["one", "two", "three"]),
        some.sampled_from(["spans", "tables", "texts"]),
        passage=some.booleans(),
        objection=some.sampled_from(["", "", "It is of another year."]),
        signs=some.builds(
            Signs,
            relevance=some.none() | some.integers(-6, 6).map(float),
            terms=some.none() | some.sampled_from([0.0, 0.5, 1.0]),
            rival=some.none() | some.sampled_from([0.0, 0.4, 1.0]),
        ),
    ),
    max_size=6,
)


@given(MADE, some.permutations(["spans", "tables", "texts"]))
def test_the_answer_does_not_depend_on_the_order_of_the_answerers(made: list[Candidate], order: list[str]) -> None:
    weights = {"relevance": 0.5, "terms": 1.0}
    rows = {"spans": row(200, 100, 0.0, weights), "tables": row(26, 26, 2.0), "texts": row(200, 100, -1.0, weights)}
    ask = Selector(rows, THRESHOLDS)
    one, other = (sorted(made, key=lambda each: names.index(each.by)) for names in (order, order[::-1]))
    assert ask(one) == ask(other)


@given(MADE)
def test_what_is_chosen_is_as_certain_as_asked_for_and_said_to_be_doubtful_where_it_is(made: list[Candidate]) -> None:
    weights = {"relevance": 0.5}
    ask = Selector({name: row(200, 100, 0.0, weights) for name in ("spans", "tables", "texts")}, THRESHOLDS)
    answer = ask(made)
    free = [one for one in made if not one.objection]
    answering = max((ask.probability(one) for one in free if not one.is_passage), default=0.0)
    readable = max((ask.probability(one) for one in free if one.is_passage), default=0.0)
    disputed = any(one.signs.rival is not None and ask.probability(one) >= DISPUTED_FROM for one in free)
    assert answer.abstained == (max(answering, readable) < THRESHOLDS.abstain_below and not disputed)
    if answer.abstained:
        return
    is_passage = answer.text.startswith(("Here: ", "Perhaps here: "))
    if not disputed:  # that is shown, however doubtful
        assert is_passage == (answering < THRESHOLDS.hedge_below and readable >= THRESHOLDS.abstain_below)
    assert answer.text.startswith("Perhaps") == ((answer.certainty or 0.0) < THRESHOLDS.hedge_below)
    if not is_passage:
        assert (answer.certainty or 0.0) <= answering


def test_answers_that_contradict_each_other_are_shown_before_a_passage_that_is_more_certain() -> None:
    both = replace(SPAN, signs=Signs(rival=0.4))
    answer = select(spans=0.4, texts=0.9)([both, TEXT])
    assert answer.text == "Perhaps: 4 weeks [1]"
    assert answer.certainty == pytest.approx(0.4 * 0.6 / (1 - 0.4 * 0.4))
