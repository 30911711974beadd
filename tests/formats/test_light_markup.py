"""reStructuredText, AsciiDoc and Org: headings, tables and notes are known, and words lose their markup."""

from __future__ import annotations

import pytest

from tests.documents import making
from tests.documents.making import read_text


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("=====\nBoats\n=====\n\nOars\n----\n\nTwo.\n", "Boats\n\nOars\n\nTwo."),
        (":Author: Paul\n:Date: 2024\n", "Author: Paul\nDate: 2024"),
        (".. warning:: Keep off.\n   At night too.\n", "Warning: Keep off.\n\nAt night too."),
        (".. _oars:\n\n.. A remark\n   of two lines\n\nShown.\n", "Shown."),
        (".. toctree::\n   :maxdepth: 2\n\n   a\n   b\n\nShown.\n", "Shown."),
        ("Run::\n\n   row -f\n", "Run:\n\nrow -f"),
        (".. code-block:: sh\n   :linenos:\n\n   row *.txt\n", "row *.txt"),
        ("Call :func:`boats.row`, see `the list <x>`_ and ``-f``; **not** *now*, 2*3*4.\n",
         "Call boats.row, see the list and -f; not now, 2*3*4."),
        (".. function:: row(fast)\n\n   Rows.\n", "row(fast)\n\nRows."),
    ],
)  # fmt: skip
def test_restructured_text_is_read_as_it_is_shown(written: str, text: str) -> None:
    assert read_text(written, "a.rst").text == text


@pytest.mark.parametrize(
    "written",
    [
        "+------+-------+\n| Pier | Boats |\n+======+=======+\n| Nor  | 12    |\n| th   |       |\n+------+-------+\n",
        "====== =====\nPier   Boats\n====== =====\nNor th 12\n====== =====\n",
        ".. list-table::\n   :header-rows: 1\n\n   * - Pier\n     - Boats\n   * - Nor th\n     - 12\n",
        ".. csv-table::\n\n   Pier, Boats\n   Nor th, 12\n",
    ],
)
def test_every_table_of_restructured_text_is_rows(written: str) -> None:
    assert making.rows_of(read_text(written, "a.rst")) == ["| Pier | Boats |", "| Nor th | 12 |"]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("= Boats\n\n== Oars\n\nTwo *long* `oars` of _ash_.\n", "Boats\n\nOars\n\nTwo long oars of ash."),
        ("[NOTE]\n====\nKeep off.\n====\n", "Keep off."),
        ("WARNING: Keep off.\n// a remark\n", "WARNING: Keep off."),
        ("----\nrow *fast*\n----\n", "row *fast*"),
        (":icons: font\n\nSee link:a.html[the list], https://x.example[x] and <<oars,Oars>>.\n",
         "See the list, x (https://x.example) and Oars."),
        ("include::b.adoc[]\n\n////\nnot shown\n////\n\nShown.\n", "Shown."),
        (".Rules\n* One\n* Two\n", "Rules\n* One\n* Two"),
    ],
)  # fmt: skip
def test_asciidoc_is_read_as_it_is_shown(written: str, text: str) -> None:
    assert read_text(written, "a.adoc").text == text


@pytest.mark.parametrize(
    "written",
    [
        "|===\n|Pier |Boats\n\n|North |12\n|South |9\n|===\n",
        '[cols="1,2",options="header"]\n|===\n|Pier\n|Boats\n\n|North\n|12\n\n|South\n|9\n|===\n',
        "[cols=2*]\n|===\n|Pier |Boats |North\n|12 |South |9\n|===\n",
    ],
)
def test_every_table_of_asciidoc_is_rows(written: str) -> None:
    assert making.rows_of(read_text(written, "a.adoc")) == ["| Pier | Boats |", "| North | 12 |", "| South | 9 |"]


def test_a_citation_names_the_line_and_asciidoc_its_author_and_day() -> None:
    document = read_text("= Boats\nMaria Keller <m@x.example>\nv1.2, 2026-02-10\n\n== Oars\nTwo.\n", "a.adoc")
    assert (document.title, document.date, document.metadata["author"]) == ("Boats", "2026-02-10", "Maria Keller")
    assert [mark.name for mark in document.marks if mark.kind == "line"] == ["1", "2", "5", "6"]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("* TODO [#A] Oars :wood:\n  DEADLINE: <2026-12-04 Fri>\nTwo.\n",
         "TODO Oars\n\n  DEADLINE: <2026-12-04 Fri>\nTwo."),
        ("Of *long* /ash/, =row -f= and ~x~; see [[https://x.example][the list]], [[oars]].\n",
         "Of long ash, row -f and x; see the list (https://x.example), oars."),
        ("In /usr/lib, 3*4*5 and a_b_c.\n", "In /usr/lib, 3*4*5 and a_b_c."),
        ("- [X] scraped\n- [ ] primed\n- +red+ blue\n", "- ☑ scraped\n- ☐ primed\n- ~~red~~ blue"),
        (":PROPERTIES:\n:ID: 7\n:END:\n# a remark\nShown.\n", "Shown."),
        ("#+BEGIN_SRC sh\nrow *fast*\n  now\n#+END_SRC\n", "row *fast*\n  now"),
        ("#+begin_quote\nKeep *off*.\n#+end_quote\n#+begin_comment\nno\n#+end_comment\n", "Keep off."),
    ],
)  # fmt: skip
def test_org_is_read_as_it_is_exported(written: str, text: str) -> None:
    assert read_text(written, "a.org").text == text


def test_a_table_of_org_is_rows_and_its_keys_are_metadata() -> None:
    document = read_text(
        "#+TITLE: Boats\n#+AUTHOR: Ida Sol\n#+DATE: <2026-05-04 Mon>\n\n"
        "| Pier | Boats |\n|------+-------|\n| North | 12 |\n",
        "a.org",
    )
    assert making.rows_of(document) == ["| Pier | Boats |", "| North | 12 |"]
    assert (document.title, document.date, document.metadata["author"]) == ("Boats", "2026-05-04", "Ida Sol")
