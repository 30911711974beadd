from __future__ import annotations

from thresher.structure.front_matter import abstract_span, author_lines, summary_spans

PAPER = (
    "On Lighthouses: A Survey\n\nAda Kask∗ Juhan Tamm\nUniversity of Hiiumaa\n\nAbstract\n\n"
    "We survey the lighthouses of the Baltic Sea and the lamps that they have used since 1531. "
    "Most of them were lit by wood at first, and by electricity only after the war of independence. "
    "We find that fourteen of them still stand and are open to visitors in summer.\n\n"
    "1 Introduction\n\nLighthouses are old. They guide ships."
)


def test_the_authors_stand_between_title_and_abstract() -> None:
    span = author_lines(PAPER)
    assert span is not None
    assert PAPER[slice(*span)] == "Ada Kask∗ Juhan Tamm\nUniversity of Hiiumaa"


def test_a_line_that_says_who_wrote_it_names_the_author() -> None:
    text = "Annual report\n\nPrepared by: Rosa Lind, Finance\n\nRevenue rose."
    span = author_lines(text)
    assert span is not None
    assert text[slice(*span)] == "Rosa Lind, Finance"
    assert author_lines("Revenue rose by a fifth. It fell by the end of the year.") is None


def test_the_abstract_ends_where_the_next_heading_begins() -> None:
    span = abstract_span(PAPER)
    assert span is not None
    assert PAPER[slice(*span)].startswith("We survey")
    assert PAPER[slice(*span)].endswith("in summer.")
    assert abstract_span("No heading here. " * 50) is None


def test_a_document_without_an_abstract_is_summed_up_by_what_it_repeats() -> None:
    text = (
        "The board met on Monday to speak about the new pump house. Lunch was good and the coffee was hot as always. "
        "The new pump house will cost two million euros in all. Somebody lost an umbrella near the door yesterday. "
        "The board agreed that the pump house is built next year."
    )
    quotes = [text[start:end] for start, end in summary_spans(text, 3)]
    assert quotes[0].startswith("The board met")
    assert not any("umbrella" in quote for quote in quotes)
    start, end = summary_spans(PAPER, 3)[0]
    assert PAPER[start:end].startswith("We survey")
