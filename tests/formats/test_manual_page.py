"""Manual pages: what a terminal shows of them is their text."""

from __future__ import annotations

import pytest

from tests.documents import making
from tests.documents.making import parse_bytes
from thresher.types import Document

HEAD = '.\\" A remark\n.TH OAR 1 2024-05-03 "Oars 2" "User Commands"\n'


def read(body: str, name: str = "oar.1") -> Document:
    (document,) = parse_bytes((HEAD + body).encode(), name=name)
    assert isinstance(document, Document)
    making.spans_hold(document)
    return document


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (".SH NAME\noar \\- row a boat\n", "NAME\n\noar - row a boat"),
        (".SH \"SEE ALSO\"\n.BR sail (1),\n.BR pole (1)\n", "SEE ALSO\n\nsail(1), pole(1)"),
        (".SH OPTIONS\n.TP\n.BR \\-f \", \" \\-\\-fast\nRow \\fIfast\\fR.\n.TP\n.B \\-n\nRow not.\n",
         "OPTIONS\n\n-f, --fast\nRow fast.\n\n-n\nRow not."),
        (".IP \\(bu 2\nOne \\(lqboat\\(rq.\n.IP 2. 4\nTwo.\n", "- One “boat”.\n\n2.\nTwo."),
        (".nf\nrow  left\n  right\n.fi\nDone.\n", "row  left\n  right\n\nDone."),
        (".if n \\{\\\nnot shown\n.\\}\nShown.\n", "Shown."),
        (".ds br Berth\n.if t .ds br Quay\nAt \\*(br 4\\&.\n", "At Berth 4."),
        (".de IX\n.tm \\\\$1\n..\n.IX \"index\"\nText\\s-1S\\s0.\n", "TextS."),
        (".SY oar\n.OP \\-q\n.OP \\-c file\n.I boat\n.YS\n", "oar [-q] [-c file] boat"),
        ("a\\ b\\~c \\[u00E9]\\e\n", "a b c é\\"),
    ],
)  # fmt: skip
def test_the_text_is_what_a_terminal_shows(body: str, text: str) -> None:
    assert read(body).text == text


def test_a_table_is_rows_and_a_cell_may_have_lines() -> None:
    document = read(".TS\ntab(:);\nl l.\nSignal:Meaning\n_\nHUP:T{\nreads its\nsettings\nT}\nINT:stops\n.TE\n")
    assert making.rows_of(document) == ["| Signal | Meaning |", "| HUP | reads its settings |", "| INT | stops |"]


def test_a_page_is_called_by_its_name_and_section_whatever_its_ending() -> None:
    document = read(".SH NAME\noar\n", name="oar.1x")
    assert (document.kind, document.title, document.date) == ("man", "OAR(1)", "2024-05-03")
    assert [mark.name for mark in document.marks if mark.kind == "heading"] == ["NAME"]


def test_a_text_that_speaks_of_macros_is_a_text() -> None:
    (document,) = parse_bytes(b"Write\n.TH NAME\nfirst.\n", name="notes.1")
    assert isinstance(document, Document)
    assert document.kind == "text"
