"""Questions made of documents are whole, have their answer where they say, and near misses have none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.text.sentences import line_spans
from thresher.types import Document, Table
from thresher_evals.questions.made_cells import field_questions, table_questions
from thresher_evals.questions.made_questions import sentence_questions
from thresher_evals.questions.question_maker import NearMiss, QuestionMaker, names_of

BOATS = """# Charter boats

The Tern is 9.4 metres long. The Tern costs 140 euros a day.

The Wren was built by Joss Wetherby in 2019.
"""
FERRY = """# Ferry to Skerry Island

Fares for one way, in euros

| Route | Adult | Boats a day | Operator |
|---|---|---|---|
| Skerry Island | 7.5 | 14 | Harwick Marine |
| Gannet Rock | 11 | 6 | Harwick Marine |
"""


def document(text: str, id: str = "d1", title: str = "") -> Document:
    tables = []
    if (start := text.find("\n|") + 1) > 0:
        end = text.rindex("|") + 1
        rows = tuple((start + low, start + high) for low, high in line_spans(text[start:end]))
        tables.append(Table(start, end, rows))
    return Document(id, f"{id}.md", title or text.split("\n")[0].strip("# "), text, "markdown", tables=tuple(tables))


def asked(text: str, title: str = "") -> dict[str, str]:
    return {made.question: made.answer for made in sentence_questions(text, title)}


@pytest.mark.parametrize(
    ("sentence", "question", "answer"),
    [
        ("The Kopu lighthouse was built in 1531.", "The Kopu lighthouse was built in what year?", "1531"),
        ("In May 2024 the Wren sank near Lisle.", "In what month the Wren sank near Lisle?", "May 2024"),
        ("The Wren leaves Lisle on 5 May.", "The Wren leaves Lisle on what date?", "5 May"),
        ("The Wren runs with a crew of 4 sailors.", "The Wren runs with a crew of how many sailors?", "4"),
        ("The fair in Lisle raised £1,240 for aid.", "The fair in Lisle raised how much for aid?", "£1,240"),
        ("The Wren costs 140 euros a day to hire.", "The Wren costs how much a day to hire?", "140 euros"),
        ("The rent in Lisle rose by 6.4%.", "The rent in Lisle rose by what percentage?", "6.4%"),
        ("The Wren listens on port 80 at night.", "The Wren listens on port what at night?", "80"),
        ("The Wren was built by Joss Wetherby in Lisle.", "The Wren was built by who in Lisle?", "Joss Wetherby"),
        ("The crew of the Wren comes from Gdansk.", "The crew of the Wren comes from what?", "Gdansk"),
        ("The boat (a day boat) was built in 1531.", "In “Boats”, the boat was built in what year?", "1531"),
    ],
)  # fmt: skip
def test_what_asks_for_a_number_a_date_or_a_name_stands_in_its_place(sentence: str, question: str, answer: str) -> None:
    assert asked(sentence, "Boats")[question] == answer


def test_a_brief_question_is_the_eight_words_around_its_gap() -> None:
    text = "If the harbour is closed, the crew of the Wren waits at the old mole near Lisle for 6 hours or more."
    briefs = {made.answer: made.brief for made in sentence_questions(text, "Boats")}
    assert briefs["6"] == "Old mole near Lisle for how many hours or more?"
    assert briefs["Wren"] == "In “Boats”, the crew of the what waits at the old?"


def test_a_name_is_the_piece_of_the_title_that_no_other_has_and_none_where_the_text_never_says_it() -> None:
    reports = [
        document(f"The branch of {place} was opened.", place, f"Branch report 2024: {place}")
        for place in ("Alderton", "Brackwell")
    ]
    template = document("It was opened.", "t", "Overleaf Example")
    assert names_of([*reports, template]) == {"Alderton": "Alderton", "Brackwell": "Brackwell", "t": ""}


def test_cells_and_fields_are_asked_for_by_their_names() -> None:
    ferry = document(FERRY)
    cells = {made.question: made.answer for made in table_questions(ferry, "Ferry")}
    assert cells["What is the adult fare for Skerry Island?"] == "7.5"
    assert cells["How many boats a day are there for Gannet Rock?"] == "6"
    assert cells["What is the operator of Gannet Rock?"] == "Harwick Marine"
    fields = ["Customer: Ashgrove", "Invoice date: 9 January", "Delivered on: 11 January", "Dear Sir: hello"]
    form = document("\n\n".join(fields), title="INV-1")
    assert {made.question: made.answer for made in field_questions(form, "INV-1")} == {
        "In “INV-1”, who is the customer?": "Ashgrove",
        "In “INV-1”, what is the invoice date?": "9 January",
        "In “INV-1”, when was it delivered?": "11 January",
    }


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("| Description: | Where the log is |", "| Default: | logs/error.log |"),
        ("| Task | QNLI 108k |", "| Wren | 90.5 |"),
        ("| Task | Average - |", "| Wren | 90.5 |"),
        ("| Task | Hyperparams / #A |", "| Wren | 16 |"),
        ("| Task | Module(s) |", "| Wren | Tern |"),
        ("| Layers | Accuracy |", "| 24 | 86.6 |"),
        ("| Task | Accuracy |", "| + BiLSTM | 84.1 |"),
    ],
)
def test_no_question_is_made_of_what_names_no_column_or_row(header: str, row: str) -> None:
    assert not [*table_questions(document(f"# Tasks\n\n{header}\n|---|---|\n{row}\n"), "Tasks")]


@pytest.mark.parametrize(
    "sentence",
    [
        "It was built near the old mole in 1531.",
        "These results of the Wren were measured in 1531.",
        "The Wren is shown with its 4 engines in Figure 3.",
        "Was the Wren built in 1531?",
        "The †Wren was built in 1531.",
        "The Wren, the Wrens and the Wren sail.",
        "Engine Type WREN-2 Power Output 1531.",
        "The 7 wrens.",
        "The 3-layer hull of a boat is WREN-2's.",
    ],
)
def test_no_question_is_made_of_a_sentence_that_needs_its_context_or_says_too_little(sentence: str) -> None:
    assert asked(sentence, "Boats") == {}


@given(st.text(alphabet="The boat Wren (is) of 5, £19 and has 1947-03-05 by: 4%\n.", max_size=80))
def test_any_text_is_read_and_each_answer_stands_in_it(drawn: str) -> None:
    text = f"The old boat of Lisle ({drawn}) was built in 1531 {drawn} by Joss Wetherby."
    assert all(made.answer in " ".join(text.split()) for made in sentence_questions(text, "Boats"))


def test_no_question_is_made_that_the_documents_answer_in_two_ways() -> None:
    """Also where the same words stand in two documents."""
    lit = "The North Beacon was last lit in {} by hand.\n"
    texts = {"once": lit.format(1901), "other": lit.format(1902), "twice": f"{lit.format(1903)}\n{lit.format(1904)}"}
    documents = {id: document(text, id, "Lamps") for id, text in texts.items()}

    def years(*ids: str) -> set[str]:
        made = QuestionMaker([documents[id] for id in ids], seed=0).made(9)
        return {one.made.answer for one in made} - {"North Beacon"}

    assert (years("once"), years("once", "other"), years("twice")) == ({"1901"}, set(), set())


def test_what_is_made_stands_where_it_says_and_is_not_told_by_its_question() -> None:
    documents = [document(BOATS, "b"), document(FERRY, "f")]
    found = QuestionMaker(documents, seed=1).made(100)
    assert len(found) >= 10
    for one in found:
        place = one.document.text[one.made.start : one.made.end]
        assert one.made.answer in " ".join(place.split())
        assert one.made.answer not in one.made.question
        assert one.made.question.endswith("?")
    assert len({one.made.question for one in found}) == len(found)


def test_questions_are_the_same_for_a_seed_whatever_the_order_and_documents_take_turns() -> None:
    documents = [document(BOATS, "b"), document(FERRY, "f")]
    first, second = (
        [one.made.question for one in QuestionMaker(order, seed=4).made(6)] for order in (documents, documents[::-1])
    )
    assert first == second
    assert {one.document.id for one in QuestionMaker(documents, seed=4).made(2)} == {"b", "f"}


STATIONS = """# Weather stations

| station | height_m | next service |
|---|---|---|
| North Beacon | 22.0 | June |
| Old Mole | 8.5 | July |
| Slipway | 3.1 | August |

The North Beacon was built in 1901.

The Slipway costs 40 euros a day.
"""


@pytest.mark.parametrize("seed", range(5))
def test_no_near_miss_is_answered_by_another_row_of_its_table(seed: int) -> None:
    near = {one.question for one in QuestionMaker([document(STATIONS)], seed=seed).near_misses(20)}
    assert near
    assert not [question for question in near if "height m" in question or "next service" in question]


def test_a_near_miss_asks_of_another_thing_or_year_that_no_passage_answers() -> None:
    def missed(text: str) -> dict[str, str]:
        return {near.question: near.changed for seed in range(4) for near in near_misses_of(text, seed)}

    def near_misses_of(text: str, seed: int) -> list[NearMiss]:
        return QuestionMaker([document(text)], seed=seed).near_misses(20)

    assert (
        missed(BOATS).items()
        >= {
            "The Wren costs how much a day?": "entity",
            "The Wren is how many metres long?": "entity",
            "The Tern was built by who in 2019?": "entity",
            "The Wren was built by who in 2020?": "year",
        }.items()
    )
    told = missed(f"{BOATS}\nThe Wren is 6 metres long and costs 90 euros a day.\n")
    assert not told.keys() & {"The Wren is how many metres long?", "The Wren costs how much a day?"}
