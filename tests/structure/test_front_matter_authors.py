from __future__ import annotations

import pytest

from thresher.structure.front_matter import author_names, authors_of


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
