"""Questions made of documents are whole, have their answer where they say, and near misses have none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.text.sentences import line_spans, sentence_spans
from thresher.types import Document, Table
from thresher_evals.questions.made_cells import field_questions, table_questions
from thresher_evals.questions.made_questions import sentence_questions
from thresher_evals.questions.question_maker import NearMiss, QuestionMaker, names_of
from thresher_evals.questions.statements import clauses_of

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
        ("The Kopu lighthouse was built in 1531.", "When was the Kopu lighthouse built?", "1531"),
        ("In May 2024 the Wren sank near Lisle.", "When did the Wren sink near Lisle?", "May 2024"),
        ("The Wren leaves Lisle at 17:05.", "At what time does the Wren leave Lisle?", "17:05"),
        ("The Wren has 4 engines.", "How many engines does the Wren have?", "4"),
        ("The Wren weighs 96 kg.", "How much does the Wren weigh?", "96 kg"),
        ("The fair in Lisle raised £1,240 for charity.", "How much did the fair in Lisle raise for charity?", "£1,240"),
        ("The Wren is 9.4 metres long.", "How long is the Wren?", "9.4 metres"),
        ("The Wren is checked every 500 hours.", "How often is the Wren checked?", "every 500 hours"),
        ("The Wren is kept for six weeks.", "For how many weeks is the Wren kept?", "six"),
        ("40% of the boats in Lisle were sold.", "What percentage of the boats in Lisle were sold?", "40%"),
        ("The rent in Lisle rose by 6.4 percent.", "By what percentage did the rent in Lisle rise?", "6.4 percent"),
        ("The Wren is run with a crew of 4 men.", "With what crew is the Wren run?", "4 men"),
        ("The Wren was built by Joss Wetherby.", "Who built the Wren?", "Joss Wetherby"),
        ("Joss Wetherby designs the hull of the Wren.", "Who designs the hull of the Wren?", "Joss Wetherby"),
        ("The crew of the Wren comes from Gdansk.", "Where does the crew of the Wren come from?", "Gdansk"),
        ("The Wren is a day boat without cabin.", "What is the Wren?", "a day boat without cabin"),
        ("The Wren is late because the gearbox broke.", "Why is the Wren late?", "because the gearbox broke"),
        ("The Wren combines sails, oars and an engine.", "What does the Wren combine?", "sails, oars and an engine"),
    ],
)  # fmt: skip
def test_a_sentence_is_asked_for_what_it_states(sentence: str, question: str, answer: str) -> None:
    assert asked(sentence)[question] == answer


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
        "QQP Quora Question Pairs is a task of two questions.",
        "The Wren The Tern is a boat without cabin.",
        "James Wren James Edward Wren is an actor without fame.",
        "Limits the number of overlapping ranges to 20 requests.",
        "50% of the time it is a random sentence.",
        "The Wren uses a batch size of 32 and fine-sails along.",
        "The †Wren was built in 1531.",
        "The Wren stands on the leaderboard10 since 1531.",
        "Joss Wetherby wrote The Boats” in 1531.",
    ],
)
def test_no_question_is_made_of_a_broken_sentence(sentence: str) -> None:
    assert asked(sentence, "Boats") == {}


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
            "How much does the Wren cost a day?": "entity",
            "How long is the Wren?": "entity",
            "Who built the Tern in 2019?": "entity",
            "Who built the Wren in 2020?": "year",
        }.items()
    )
    told = missed(f"{BOATS}\nThe Wren is 6 metres long and costs 90 euros a day.\n")
    assert not told.keys() & {"How long is the Wren?", "How much does the Wren cost a day?"}


# --- statements -------------------------------------------------------------------------------------------------------


def stated(text: str, about: str = "") -> list[tuple[str, str, str]]:
    return [(one.subject, one.verb, one.rest) for _, one in clauses_of(text, sentence_spans(text), about)]


def test_one_sentence_may_state_several_things_of_one_subject_and_of_others() -> None:
    assert stated("The branch has 4 employees and serves 1,390 customers.") == [
        ("The branch", "has", "4 employees"),
        ("The branch", "serves", "1,390 customers"),
    ]
    assert stated("The keel is laid on 5 May, sea trials begin in June and the hand-over is in July.") == [
        ("The keel", "is", "laid on 5 May"),
        ("sea trials", "begin", "in June"),
        ("the hand-over", "is", "in July"),
    ]


def test_it_is_the_subject_before_it_or_what_the_text_is_about() -> None:
    assert stated("The pump costs 90 euros. It weighs 5 kg.")[1] == ("The pump", "weighs", "5 kg")
    assert stated("It weighs 5 kg.", about="The Wren") == [("The Wren", "weighs", "5 kg")]
    assert stated("Was it heavy? It weighs 5 kg.", about="The Wren") == []


@pytest.mark.parametrize(
    "sentence",
    [
        "This costs 40 euros.",
        "The results show a gain of 4 points over the other models.",
        "The boat never sails in May.",
        "and the harbour burns 40 lamps.",
        "How many lamps does it have?",
        "The same holds for 40 lamps in Table 3 above.",
    ],
)
def test_what_leans_on_other_sentences_denies_or_asks_states_nothing(sentence: str) -> None:
    assert stated(sentence) == []


@pytest.mark.parametrize("rest", ["if it rains", "that it rains", "as follows"])
def test_a_verb_with_nothing_but_a_condition_behind_it_stops_nothing(rest: str) -> None:
    assert stated(f"The boat is {rest}, built in 2020. The pump costs 90 euros.")[-1] == (
        "The pump",
        "costs",
        "90 euros",
    )


@given(st.text(alphabet="The boat is of 5, and has by:(); WE'’\n.", max_size=80))
def test_any_text_is_read_and_each_statement_has_a_subject_and_a_rest(text: str) -> None:
    for subject, verb, rest in stated(text):
        assert subject
        assert verb
        assert rest
