"""Entries under identifiers: which stretch of a document is about which one."""

from __future__ import annotations

import pytest

from thresher.documents.assembly import table_over
from thresher.structure.entries import entry_probability, named_in
from thresher.types import Document, Mark

SECTIONS = "# Codes\n\n## E-0401 Blocked\n\nClean the strainer.\n\nThen rinse it.\n\n## E-0410 Hot\n\nLet it cool.\n"
ROWS = "| No | Price |\n| --- | --- |\n| A17 | 18.90 |\n| A71 | 24.50 |"
LINES = "§ 1 Scope. All employees.\n\n§ 12 Meals. 36 euros.\n\n§ 21 Cars. 32 cents.\n"


def sections() -> Document:
    marks = [Mark(at, "heading", "") for at in range(len(SECTIONS)) if SECTIONS.startswith(("# ", "## "), at)
             and (at == 0 or SECTIONS[at - 1] == "\n")]  # fmt: skip
    return Document("d", "d.md", "Codes", SECTIONS, "markdown", marks=tuple(marks))


def rows() -> Document:
    return Document("d", "d.csv", "Parts", ROWS, "csv", tables=(table_over(ROWS.split("\n"), 0),))


def lines(text: str = LINES) -> Document:
    return Document("d", "d.md", "Policy", text, "markdown")


NUMBERS = "60000-64999:\n\nAllocated centrally.\n\n65534:\n\nUser nobody.\n\n65535:\n\nMust not be used.\n\nMore.\n"


@pytest.mark.parametrize(
    ("document", "question", "entry"),
    [
        (sections(), "What is E-0401?", "## E-0401 Blocked\n\nClean the strainer.\n\nThen rinse it."),
        (sections(), "What is E0410?", "## E-0410 Hot\n\nLet it cool."),
        (rows(), "What does A71 cost?", "| A71 | 24.50 |"),
        (lines(), "What does § 12 say?", "§ 12 Meals. 36 euros."),
        (lines(NUMBERS), "Why must user id 65535 not be used?", "65535:\n\nMust not be used."),
    ],
)
def test_the_entry_under_an_identifier_is_the_one_that_has_exactly_it(
    document: Document, question: str, entry: str
) -> None:
    (found,) = named_in(document, question, [(0, len(document.text))]).exact
    assert document.text[found.start : found.end].strip() == entry


def test_an_identifier_alone_asks_for_its_entry() -> None:
    assert (
        entry_probability("red e0401", -3.0)
        < entry_probability("e0401", -3.0)
        == entry_probability("What is E-0401?", -3.0)
    )


def test_what_stands_under_a_neighbour_alone_is_other() -> None:
    document = rows()
    named = named_in(document, "What does A71 cost?", [(0, len(document.text))])
    seventeen = document.text.index("A17")
    assert named.is_other(seventeen, seventeen + 3)
    assert not named.is_other(0, 4), "the header stands under no identifier"
    assert not named.is_other(0, len(document.text)), "the whole table has the row that is asked for"
    absent = named_in(document, "What does A18 cost?", [(0, len(document.text))])
    assert not absent.exact
    assert absent.is_other(0, len(document.text))


def test_one_head_is_no_list() -> None:
    invoice = lines("Invoice PW-24-1212\n\nOrder number: DT-31\n\nCustomer: Dovecote\n")
    named = named_in(invoice, "order number of PW-24-1212", [(0, len(invoice.text))])
    assert not named.exact
    assert not named.others


def test_neighbours_that_would_answer_under_its_name_take_the_question_from_an_entry() -> None:
    assert entry_probability("What does a box of PPR-1404 weigh?", 2.6) > 0.5
    assert entry_probability("What does a box of PPR-1404 weigh?", 2.6, [5.4]) == 0.0
    document = rows()
    named = named_in(document, "What does A71 cost?", [(0, len(document.text))])
    assert named.renamed(document, named.exact[0]) == ["| A71 | 18.90 |"]


def test_a_line_that_names_what_is_asked_is_no_other_entry_though_it_stands_under_one() -> None:
    text = "5.1 Naming. Short names.\n\n5.2 Rebuilds. Of 2.9-3 the rebuild is 2.9-3+b1.\nA new one has no suffix.\n"
    named = named_in(lines(text), "What version does a rebuild of 2.9-3 get?", [(0, len(text))])
    assert not named.exact
    for said, other in (("Short names", True), ("the rebuild is", False), ("A new one", True)):
        start = text.index(said)
        assert named.is_other(start, start + len(said)) is other
