from __future__ import annotations

from tests.generation.answering import Overlapping, Scripted, only, piece, proposed, rarity
from thresher.generation.answerers.passages import MOST, PassageAnswerer

PASSAGES = PassageAnswerer(Overlapping(), rarity)
PUMP = (
    "Maintenance\n\n"
    "The pump is a device that moves water through the heating. It is driven by a small motor. "
    "The pump must be serviced every 500 hours because sand wears its seals."
)


def test_an_explanation_is_the_passage_whole_with_its_place_in_bold() -> None:
    reader = Scripted({PUMP: (3.0, "a device", 0.9)})
    (candidate,) = proposed(PASSAGES, "What is the pump?", piece(PUMP), reader=reader)
    assert candidate.answer.text == "“" + PUMP.replace("a device", "**a device**") + "” [1]"
    assert candidate.answer.citations[0].quote == PUMP
    assert candidate.is_passage
    signs = candidate.signs
    assert (signs.relevance, signs.terms, signs.uncovered) == (3.0, 1.0, 0.0)


def test_a_passage_is_read_once_more_as_it_is_shown() -> None:
    reader, again = Scripted({PUMP: (3.0, "a device", 0.9)}), Scripted({PUMP: (-1.5, "pump", 0.9)})
    (candidate,) = proposed(PassageAnswerer(again, rarity), "What is the pump?", piece(PUMP), reader=reader)
    assert (candidate.signs.relevance, candidate.signs.whole) == (3.0, -1.5)
    assert again.titles == ["Notes"]


def test_who_somebody_is_is_told_by_what_is_said_of_them() -> None:
    text = "Anna Weber met the board. David Galloway was a Canadian writer of travel books. She is in the hall today."
    reader = Scripted({text: (3.0, "a Canadian writer of travel books", 0.9)})
    answer = only(PASSAGES, "Who is David Galloway (writer)?", piece(text), reader=reader)
    assert "David Galloway was **a Canadian writer of travel books**." in answer.text


def test_a_sentence_that_leans_is_shown_behind_the_one_it_leans_on() -> None:
    text = "The boiler heats the water. It is driven by gas from a tank."
    reader = Scripted({text: (3.0, "gas from a tank", 0.9)})
    answer = only(PASSAGES, "How is it driven by gas?", piece(text), reader=reader)
    assert answer.text == "“The boiler heats the water. It is driven by **gas from a tank**.” [1]"


def test_the_branch_that_is_asked_about_lacks_no_name_and_another_does() -> None:
    other = piece("The branch was closed because a pipe burst.", title="Alderton", document="d1")
    own = piece("The branch was closed because it was renovated.", title="Fernby", document="d2")
    found = proposed(PASSAGES, "Why was the Fernby branch closed?", other, own)
    by_title = {candidate.answer.citations[0].title: candidate.signs for candidate in found}
    assert (by_title["Fernby"].uncovered, by_title["Alderton"].uncovered) == (0.0, 1.0)
    assert (by_title["Fernby"].terms or 0.0) > (by_title["Alderton"].terms or 0.0)


def test_a_passage_that_says_nothing_of_what_is_asked_holds_none_of_its_terms() -> None:
    (candidate,) = proposed(PASSAGES, "Why does dropout help networks?", piece(PUMP))
    assert candidate.signs.terms == 0.0


def test_what_stands_in_the_title_alone_is_a_part_of_the_terms_and_not_all_of_them() -> None:
    evidence = piece("Ostrom was born in Los Angeles.", title="Ostrom")
    (beside,) = proposed(PASSAGES, "payment terms of Ostrom", evidence)
    (answering,) = proposed(PASSAGES, "Where was Ostrom born?", evidence)
    assert 0.0 < (beside.signs.terms or 0.0) < (answering.signs.terms or 0.0) == 1.0
    assert answering.answer.citations[0].quote == evidence.text


def test_a_passage_of_another_year_is_no_answer() -> None:
    text = "In 2022 revenue was 15.8 million euros."
    reader = Scripted({text: (3.0, "15.8", 0.9), " " * len(text): (-9.0, " ", 0.1)})
    found = proposed(PASSAGES, "How much was revenue in 2021?", piece(text), reader=reader)
    assert [candidate.objection for candidate in found] == ["What is nearest to the question is of 2022, not of 2021."]


def test_documents_of_the_sort_that_is_asked_for_are_named_before_their_passage() -> None:
    text = "The works are in Farrow."
    answer = only(
        PASSAGES,
        "Which Ostrom is in Farrow?",
        piece(text, title="Ostrom"),
        reader=Scripted({text: (3.0, "works", 0.05)}),
    )
    assert answer.text == "Ostrom: “The **works** are in Farrow.” [1]"


def test_the_passages_of_the_most_relevant_windows_are_proposed_each_once_and_no_more_than_a_few() -> None:
    texts = [f"The pump of hall {number} is a device." for number in range(6)]
    pieces = [piece(text, document=f"d{number}") for number, text in enumerate(texts)]
    script = {text: (float(number), "device", 0.9) for number, text in enumerate(texts)}
    found = proposed(PASSAGES, "What is the pump?", *pieces, *pieces, reader=Scripted(script))
    assert [one.signs.relevance for one in found] == [5.0, 4.0, 3.0]
    assert len(found) == MOST


def test_the_sentence_with_most_terms_of_the_question_is_proposed_too_where_it_stands_elsewhere() -> None:
    filler = " ".join(f"Sentence {n} says nothing of it, in nine words." for n in range(45))
    text = f"The valve leaks. {filler} The pump is cleaned with soap."
    evidence = [piece(text[:1500], start=0), piece(text[1500:], start=1500)]
    found = proposed(PASSAGES, "How is the pump cleaned?", *evidence)
    assert any("The pump is cleaned with soap." in one.answer.citations[0].quote for one in found)


def test_a_question_with_options_asks_for_no_passage() -> None:
    assert not proposed(PASSAGES, "What is the pump? (A) a device (B) a town", piece(PUMP))


def test_a_heading_alone_and_a_list_of_references_are_no_passages_unless_they_are_asked_for() -> None:
    references = (
        "[1] J. Smith. Pumps and their seals. Journal of Pumps, 12(3):1-9, 2001.\n"
        "[2] K. Jones and L. Brown. Sand in pumps. In Proceedings of PUMP, pages 11-19, 2004.\n"
        "[3] A. Weber. On seals. arXiv preprint arXiv:1234.5678, 2012.\n"
    )
    assert not proposed(PASSAGES, "What is the pump?", piece("Maintenance of the pump"))
    assert not proposed(PASSAGES, "What wears pumps?", piece(references))
    assert proposed(PASSAGES, "Which references are cited on pumps?", piece(references))
