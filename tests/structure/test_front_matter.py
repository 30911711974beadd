from __future__ import annotations

from thresher.structure.front_matter import author_lines

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
