"""The answer without a chat model is a passage or a cell of what was kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.answering.answering import Overlapping, answerer, document, piece
from thresher.answer import NOT_ANSWERED
from thresher.answering.citations import SUPPORT, Sentence, cite
from thresher.answering.parts import in_turn
from thresher.answering.passage import SHOWN
from thresher.documents.assembly import table_over
from thresher.question.wording import SubQuestion, asked_apart
from thresher.types import IN_DOUBT, Evidence, Generation, Query, Reading, Score

FERRY = "The ferry to Gull Island leaves at 06:40. It takes forty minutes. Bicycles travel free of charge."
BRIDGE = "The bridge to Gull Island was closed in 2019. Cars take the ferry instead."
QUESTION = Query("When does the ferry to Gull Island leave?", "ferry")


def test_the_best_passage_is_shown_with_its_sentence_marked_and_cited_whole() -> None:
    answer = answerer(document(FERRY))(QUESTION, [piece(FERRY)])
    assert answer.text.startswith("Here: “**The ferry to Gull Island leaves at 06:40.** It takes")
    (cited,) = answer.citations
    assert cited.quote == FERRY
    assert FERRY[cited.start : cited.end] == cited.quote


def test_of_a_long_text_what_stands_around_the_marked_sentence_is_shown() -> None:
    long = " ".join(
        [*["Nothing runs in winter on the islands of the bay."] * 20, FERRY, *["Seals live on the rocks."] * 40]
    )
    answer = answerer(document(long))(QUESTION, [piece(long)])
    assert "**The ferry to Gull Island leaves at 06:40.**" in answer.text
    assert len(answer.citations[0].quote) <= SHOWN < len(long)


def test_further_passages_of_other_places_follow_as_alternatives() -> None:
    evidence = [piece(FERRY), piece(BRIDGE, document="d2")]
    answer = answerer(document(FERRY), document(BRIDGE, "d2"))(QUESTION, evidence)
    (other,) = answer.alternatives
    assert other.citation.marker == 2
    assert {other.citation.document_id, answer.citations[0].document_id} == {"d1", "d2"}
    assert other.text.endswith("[2]")
    assert 0 < other.probability <= (answer.certainty or 0)


@pytest.mark.parametrize("elsewhere", ["d1", "d2"])
def test_another_value_for_the_same_question_is_shown_as_a_conflict_also_within_one_document(elsewhere: str) -> None:
    query = Query("In which year was the lighthouse of Gull Island built?", "lighthouse")
    first = "The lighthouse of Gull Island was built in 1867 by two masons."
    second = "In 1912 two masons built the lighthouse of Gull Island."
    gap = "\n\n" + "Bicycles travel free of charge. " * 60 + "\n\n"
    start = len(first + gap) if elsewhere == "d1" else 0
    whole = [document(first + gap + second)] if start else [document(first), document(second, "d2")]
    pieces = [piece(first), piece(second, document=elsewhere, start=start)]
    reader = Overlapping("1867", "1912", certainty=0.5)
    answer = answerer(*whole, reader=reader, rivals=True)(query, pieces)
    place = "Another place of the document" if start else "Another document"
    assert f"\n{place} says" in answer.text
    assert answer.conflicts == ((1, 2),)
    assert {one.document_id for one in answer.citations} == {"d1", elsewhere}


def test_a_superseded_version_is_told_as_such_and_is_no_contradiction() -> None:
    fare = "A ticket for the ferry to Gull Island costs {} euros.".format
    old = f"Valid from 1 May 2020.\n\n{fare(14)}"
    new = f"Valid from 1 May 2024, replaces the list of 1 May 2020.\n\n{fare(17)}"
    pieces = [piece(old), piece(new, document="d2")]
    reader = Overlapping("14 euros", "17 euros", certainty=0.9)
    ask = answerer(document(old), document(new, "d2"), reader=reader, rivals=True)
    answer = ask(Query("How much does a ticket for the ferry to Gull Island cost?", "ferry"), pieces)
    assert "costs 17 euros.**” [1]" in answer.text
    told = "\nIn force from 1 May 2024 [2].\nSuperseded, in force from 1 May 2020 until 30 April 2024: 14 euros: “"
    assert told in answer.text
    assert answer.citations[1].quote == "Valid from 1 May 2024, replaces the list of 1 May 2020."
    assert not answer.conflicts
    past = ask(Query("How much did a ticket for the ferry to Gull Island cost in 2022?", "ferry"), pieces)
    assert "costs 14 euros.**” [1]" in past.text
    assert "Replaced since" in past.text


def test_of_a_passage_the_sentence_about_the_time_that_is_asked_for_is_marked() -> None:
    text = "Until 1 May 2023 the ferry to Gull Island left at 6. Since 2 May 2023 the ferry to Gull Island goes at 8."
    before, now = (
        answerer(document(text))(Query(question, "ferry"), [piece(text)]).text
        for question in (
            "When did the ferry to Gull Island leave in 2022?",
            "When does the ferry to Gull Island leave now?",
        )
    )
    assert "**Until 1 May 2023" in before
    assert "**Since 2 May 2023" in now


def test_nothing_of_a_document_is_shown_that_was_not_kept() -> None:
    kept = piece(FERRY[:41])
    answer = answerer(document(FERRY))(QUESTION, [kept])
    assert "Bicycles" not in answer.text
    assert all(kept.start <= one.start and one.end <= kept.end for one in answer.citations)


def test_a_doubtful_passage_says_so_and_a_refusal_asserts_nothing_and_shows_the_nearest_sentence() -> None:
    answered = answerer(document(FERRY))(QUESTION, [piece(FERRY)])
    doubtful = answerer(document(FERRY), hedge=1.0)(QUESTION, [piece(FERRY)])
    assert doubtful.text == answered.text.replace("Here: ", IN_DOUBT)
    improbable = answerer(document(BRIDGE), abstain=1.0)(QUESTION, [piece(BRIDGE)])
    assert [one.state for one in (answered, doubtful, improbable)] == ["answered", "doubtful", "refused"]
    assert (improbable.text, improbable.citations) == (NOT_ANSWERED, ())
    assert [one.citation.quote for one in improbable.alternatives] == ["The bridge to Gull Island was closed in 2019."]
    assert "bridge" not in (improbable.reason or "")


def test_the_passage_with_the_most_probable_sentence_is_shown_first() -> None:
    texts = [BRIDGE, FERRY, "The ferry to Gull Island leaves from pier 2.", "Gull Island has a ferry."]
    pieces = [piece(text, document=f"d{at}") for at, text in enumerate(texts)]
    answer = answerer(*(document(text, f"d{at}") for at, text in enumerate(texts)))(QUESTION, pieces)
    assert answer.citations[0].document_id == "d1"


def test_what_lacks_a_name_that_the_first_passage_has_is_no_alternative() -> None:
    other = "The ferry to Seal Rock leaves at 07:10."
    pieces = [piece(FERRY), piece(other, document="d2"), piece(BRIDGE, document="d3")]
    known = (document(FERRY), document(other, "d2"), document(BRIDGE, "d3"))
    assert [one.citation.document_id for one in answerer(*known)(QUESTION, pieces).alternatives] == ["d3"]


def test_the_same_text_in_another_file_is_one_passage_that_names_it_and_another_number_is_another_text() -> None:
    late = FERRY.replace("06:40", "07:10")
    pieces = [piece(text, document=f"d{at}") for at, text in enumerate((FERRY, f"{FERRY}\n", late))]
    answer = answerer(document(FERRY, "d0"), document(f"{FERRY}\n", "d1"), document(late, "d2"))(QUESTION, pieces)
    assert answer.text.endswith("[1]\nThe same in d1.txt.")
    assert [one.citation.document_id for one in answer.alternatives] == ["d2"]


def test_the_sentence_with_the_answer_is_marked_in_the_text_and_in_the_citation() -> None:
    asked = "How many minutes does it take?"
    answer = answerer(document(FERRY), reader=Overlapping("forty minutes"))(Query(asked, asked), [piece(FERRY)])
    assert "**It takes forty minutes.**" in answer.text
    start, end = answer.citations[0].mark or (0, 0)
    assert FERRY[start:end] == "It takes forty minutes."


def test_a_cell_is_answered_with_its_row() -> None:
    text = "| Desk | Price |\n| --- | --- |\n| Oak | 690 |\n| Elm | 450 |"
    whole = document(text, tables=(table_over(text.split("\n"), 0),))
    answer = answerer(whole)(Query("What is the price of Oak?", "price"), [piece(text)])
    assert answer.text.startswith("690 [1]")
    assert "Oak" in answer.citations[0].quote


def test_both_parts_of_a_question_are_answered_or_the_missing_one_is_named() -> None:
    query = Query("When does the ferry to Gull Island leave and who was the emperor Napoleon?", "ferry")
    answer = answerer(document(FERRY), abstain=0.85)(query, [piece(FERRY)])
    assert "06:40" in answer.text
    assert "Not answered: who was the emperor Napoleon?" in answer.text


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Who wrote it and when was it written?", ["Who wrote it?", "when was it written?"]),
        ("What is A? How is B made?", ["What is A?", "How is B made?"]),
        ("Which terms and conditions hold?", ["Which terms and conditions hold?"]),
        ("salt and pepper, where?", ["salt and pepper, where?"]),
        ("Is the pier open and is it lit at night?", ["Is the pier open?", "is it lit at night?"]),
        ("Can I cancel, and will the club pay me back?", ["Can I cancel?", "will the club pay me back?"]),
        (
            "Does the log say the pump failed, while the report blames the valve?",
            ["Does the log say the pump failed?", "the report blames the valve?"],
        ),
        *(
            (one, [one])
            for one in (
                "Does the lease end in May and can be renewed?",
                "Is there wifi, while I wait?",
                "Are cats and dogs allowed?",
                "Did the report name the pump while it was hot?",
                "Which pier is open, and is lit at night?",
            )
        ),
    ],
)
def test_a_question_is_cut_between_two_question_words(question: str, parts: list[str]) -> None:
    assert [part.text for part in asked_apart(question)] == parts


# --- several answers as one -------------------------------------------------------------------------------------------


def given(text: str, *pieces: Evidence, conflicts: tuple[tuple[int, int], ...] = ()) -> Generation:
    score = Score(0.5, SUPPORT)
    citations = tuple(cite(number, Sentence.whole(one, score)) for number, one in enumerate(pieces, start=1))
    return Generation(text, citations, conflicts=conflicts)


def test_answers_in_turn_keep_their_contradictions() -> None:
    colour, year, other = (piece(f"Said by {name}.", document=name) for name in "abc")
    when = given("1531 [1]; another document says 1649 [2]", year, other, conflicts=((1, 2),))
    both = in_turn([(SubQuestion("What colour?", ""), given("white [1]", colour)), (SubQuestion("When?", ""), when)])
    assert both.conflicts == ((2, 3),)
    assert both.text == "What colour?\nwhite [1]\nWhen?\n1531 [2]; another document says 1649 [3]"


def test_each_part_stands_above_its_passage_and_its_state_is_in_the_trace() -> None:
    one, other = piece("It is white."), piece("It was lit in 1531.", document="d2")
    doubtful = replace(given("lit in 1531 [1]", other), doubtful=True, certainty=0.41, reason="It may be another.")
    refused = Generation("", abstained=True)
    parts = [
        SubQuestion(text, text) for text in ("What colour is it?", "When was it lit?", "Who lit it?", "Is it white?")
    ]
    answers = [given("white [1]", one), doubtful, refused, given("white [1]", one)]
    both = in_turn(list(zip(parts, answers, strict=True)))
    assert both.text.split("\n") == [
        "What colour is it?",
        "white [1]",
        "When was it lit?",
        "lit in 1531 [2]",
        "Not answered: Who lit it?",
        "Is it white? As above [1].",
    ]
    assert both.reason == "When was it lit? It may be another."
    told = [(each["state"], each["probability"], each["citations"]) for each in both.notes.facts["parts"]]
    assert told == [("answered", None, [1]), ("doubtful", 0.41, [2]), ("refused", None, []), ("answered", None, [1])]


def test_brackets_within_quotes_are_no_markers() -> None:
    first, second = piece("It is late."), piece("As [7] says, it is 5.", document="d2")
    both = in_turn(
        [
            (SubQuestion("A?", ""), given("late [1]", first)),
            (SubQuestion("B?", ""), given("“As [1] says, it is 5.” [1]", second)),
        ]
    )
    assert both.text.endswith("“As [1] says, it is 5.” [2]")


SHEET = "Prices in pounds.\n\n| Model | Price |\n| Oak | 1450 |\n| Pine | 690 |\n\n# Delivery\n\nWithin a week."


def test_an_answer_with_a_table_has_its_marker_behind_it() -> None:
    text = answerer(document(SHEET))(Query("Oak price", "Oak price"), [piece(SHEET)]).text
    assert text.startswith("Here:\n\n“Prices in pounds.”\n\n| Model | Price |\n|---|---|\n| **Oak** | **1450** |")
    assert text.endswith("\n\n[1]")


def test_evidence_without_a_passage_is_refused() -> None:
    headings = "# Orders\n\n## Amounts of the year"
    generation = answerer(document(headings))(Query("sum?", "sum?"), [piece(headings)])
    assert (generation.abstained, generation.reason) == (True, NOT_ANSWERED)


def test_of_a_follow_up_the_sentence_about_what_was_typed_is_marked() -> None:
    text = "Reception is open from 7 am to 10 pm. Check-in is from 3 pm."
    asked = "And check-in? (When is reception open?)"
    assert "**Check-in is from 3 pm.**" in answerer(document(text))(Query(asked, asked), [piece(text)]).text


FAQ = """Where do I park?

May dogs come in?

When is the desk open?

Where do I park?

You park behind the house, next to the barn.

There is room for six cars.

May dogs come in?

On a lead."""


def test_a_question_of_the_document_is_no_answer_and_a_list_of_questions_is_no_passage() -> None:
    query = Query("Where do I park?", "park")
    answer = answerer(document(FAQ))(query, [piece(FAQ)])
    assert answer.citations[0].quote == FAQ
    assert "**Where do I park?**" not in answer.text
    contents = FAQ[: FAQ.index("Where do I park?", 10)].strip()
    assert answerer(document(contents))(query, [piece(contents)]).abstained


SAUNA = "Sauna\n\nIs it heated on Sundays? Yes. How hot is it? 85 degrees.\n\nQ: Who runs it?\nA: Maret Kask."
NOVEL = 'Linda Orav was born in Tartu. Her best-known novel is "Who Counts the Swans?" She lives in Narva.'
STUDY = """This study of mussels asks:

- Does the tide change their growth?
- Do those of the north grow slowly?
- Which bird eats most of them?"""


@pytest.mark.parametrize(
    ("text", "asked", "marked"),
    [
        (SAUNA, "Is the sauna heated on Sundays?", "**Yes.**"),
        (SAUNA, "How hot is the sauna?", "**85 degrees.**"),
        (SAUNA, "Who runs the sauna?", "**A: Maret Kask.**"),
        (NOVEL, "What is her best-known novel?", '**Her best-known novel is "Who Counts the Swans?"**'),
        (STUDY, "Which questions does the study of mussels ask?", "Does the tide change their growth?"),
    ],
)
def test_an_answer_is_read_with_its_question_and_what_only_ends_in_one_may_answer(
    text: str, asked: str, marked: str
) -> None:
    assert marked in answerer(document(text))(Query(asked, asked), [piece(text)]).text


class ShortFirst(Overlapping):
    """The shorter a sentence, the more relevant; what has several most of all."""

    def read(self, question: str, texts: Sequence[str], titles: Sequence[str] | None = None) -> list[Reading]:
        return [Reading(0.0 if text.count(".") > 1 else -len(text), 0.0, 0, len(text), 0.1) for text in texts]


def test_the_number_of_an_item_is_no_sentence_to_mark() -> None:
    text = "13. The licence lasts for ten years. It may be renewed."
    shown = answerer(document(text), reader=ShortFirst())(Query("lasts?", "lasts?"), [piece(text)]).text
    assert "**It may be renewed.**" in shown


def test_the_name_above_a_text_is_no_sentence_to_mark() -> None:
    text = "max_jobs (integer)\n\nHow many jobs run at once, at most. It is typically 100."
    shown = answerer(document(text), reader=ShortFirst())(Query("max_jobs?", "max_jobs?"), [piece(text)]).text
    assert "max_jobs (integer)" in shown
    assert "**It is typically 100.**" in shown


def test_a_follow_up_to_another_thing_is_not_answered_with_what_the_first_was_asked() -> None:
    text = "An adult pays 11 euros. Children pay 4 euros. The ferry runs daily."
    reader = Overlapping("11 euros", certainty=0.9)
    answer = answerer(document(text), reader=reader)
    given = answer(Query(asked := "And children? (What does an adult pay?)", asked), [piece(text)])
    assert "**Children pay 4 euros.**" in given.text
    assert not given.text.startswith("11 euros")
