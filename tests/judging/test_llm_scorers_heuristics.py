from __future__ import annotations

from collections.abc import Callable

import pytest

from thresher.judging.llm_scorers import periods_of, temporal, years_of
from thresher.types import Hit, Query


def asking(question: str, today: str = "2025-06-01") -> Query:
    return Query(question, "words that were searched", today=today)


@pytest.mark.parametrize(
    ("question", "today", "periods"),
    [
        ("Who won in 2019?", "", ["2019"]),
        ("Who ruled from 1939 to 1945?", "", ["1939 to 1945"]),
        ("Prices between 2010 and 2015", "", ["2010 to 2015"]),
        ("The war of 1914–1918", "", ["1914 to 1918"]),
        ("Films of the 1990s", "", ["1990s"]),
        ("What happened since 2020?", "", ["from 2020 on"]),
        ("Maps before 1900", "", ["up to 1900"]),
        ("Compare 2008 and 2020", "", ["2008", "2020"]),
        ("the latest release", "2025-06-01", ["latest (today is 2025-06-01)"]),
        ("the latest release", "", []),
        ("the current champion in 2019", "2025-06-01", ["2019"]),
        ("Who built the tower?", "2025-06-01", []),
        ("What is 12345 divided by 3?", "2025-06-01", []),
        ("a price of $1500 or 1,500 euros", "2025-06-01", []),
    ],
)
def test_the_years_a_question_asks_for(question: str, today: str, periods: list[str]) -> None:
    assert periods_of(question, today) == periods


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("Built in 1889, repainted in 1968 and 1889.", [1889, 1968]),
        ("From 1939-1945.", [1939, 1945]),
        ("In 1,889 cases, 20190 times, 1.2019", []),
        ("the 1920s", list(range(1920, 1930))),
        ("nothing", []),
    ],
)
def test_the_years_a_text_names(text: str, years: list[int]) -> None:
    assert years_of(text) == years


def test_a_note_names_the_years_of_question_and_chunk(make_hit: Callable[..., Hit]) -> None:
    finding = temporal(asking("Who won the cup in 2019?"), make_hit(text="The cup of 1987 went to Bern."))
    assert finding is not None
    assert (finding.name, finding.note) == ("temporal", "years in question: 2019; years in chunk: 1987")


def test_the_year_may_stand_in_the_title(make_hit: Callable[..., Hit]) -> None:
    finding = temporal(asking("Who won in 2019?"), make_hit(text="Bern won.", title="Cup of 2019"))
    assert finding is not None
    assert finding.note == "years in question: 2019; years in chunk: 2019"


def test_what_is_latest_counts_from_the_day_of_the_asking(make_hit: Callable[..., Hit]) -> None:
    finding = temporal(asking("latest version?"), make_hit(text="Version 3 came out in 2019."))
    assert finding is not None
    assert finding.note == "years in question: latest (today is 2025-06-01); years in chunk: 2019"


@pytest.mark.parametrize(("question", "text"), [("Who won?", "In 1987 Bern won."), ("Who won in 2019?", "Bern won.")])
def test_without_a_year_on_both_sides_there_is_nothing_to_say(
    make_hit: Callable[..., Hit], question: str, text: str
) -> None:
    assert temporal(asking(question), make_hit(text=text)) is None
