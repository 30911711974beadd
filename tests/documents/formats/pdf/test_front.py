from __future__ import annotations

import pytest

from thresher.documents.formats.pdf.front import author_lines, author_names, authors_of

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


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        ("Ann Lee * 1 Bo Chen * 1 Cy D. Young 2", ["Ann Lee", "Bo Chen", "Cy D. Young"]),
        ("Ann LeeαBo ChenαβCy Young\n1University of Grain", ["Ann Lee", "Bo Chen", "Cy Young"]),
        ("Ann Lee Bo Chen Cy D. Young Di-An Wu", ["Ann Lee", "Bo Chen", "Cy D. Young", "Di-An Wu"]),
        ("Ann Lee Maria Bo Chen", ["Ann Lee Maria Bo Chen"]),
        ("Ann Lee\nField Works\na@b.example\nBo Chen\nField Works", ["Ann Lee", "Bo Chen"]),
        (
            "Ann de la Cruz, Ludwig van Halm and Bo Chen\nParis, France",
            ["Ann de la Cruz", "Ludwig van Halm", "Bo Chen"],
        ),
        ("Sieve-AI\nresearch@sieve.example", ["Sieve-AI"]),
        ("†Field Works ‡Mill Works\nMarch 11, 2024\nLos Gatos, CA, USA", []),
        ("", []),
    ],
)
def test_people_are_told_from_places_of_work_marks_and_addresses(lines: str, names: list[str]) -> None:
    assert author_names(lines) == names


def test_names_of_the_file_go_first_where_the_page_has_them() -> None:
    text = "On Oats\n\nAnn Lee, Bo Chen\n\nAbstract\nOats are threshed."
    assert authors_of(text, title="On Oats", stated="Ann M. Lee*, Bo Chen") == "Ann M. Lee, Bo Chen"
    assert authors_of(text, title="On Oats", stated="admin") == "Ann Lee, Bo Chen"
    assert authors_of("Oats are threshed.", title="", stated="Ann Lee") == "Ann Lee"
