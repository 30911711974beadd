"""XML of any vocabulary: texts are headings, paragraphs and tables, data its records, words of drawings words."""

from __future__ import annotations

import pytest

from tests.documents import making
from tests.documents.making import read_text
from thresher.errors import DocumentError

LONG = "Keep off the boats at night, whatever the tide may be."


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("<book><title>Boats</title><para>Of <b>long</b> ash.</para><para>Two.</para></book>",
         "Boats\n\nOf long ash.\n\nTwo."),
        (f"<doc><id>7</id><owner>Ida</owner><note>{LONG}</note><!-- no --></doc>", f"id: 7\nowner: Ida\n\n{LONG}"),
        (f"<doc><p>{LONG}</p><programlisting>row -f\n  now</programlisting></doc>", f"{LONG}\n\nrow -f\n  now"),
        (f"<rss><item><title>Ferry</title><description>&lt;p&gt;{LONG}&lt;/p&gt;</description></item></rss>",
         f"Ferry\n\n{LONG}"),
        ("<svg><style>a{}</style><text>Pier <tspan>4</tspan></text></svg>", "Pier 4"),
        ("<pump><bar>1.8</bar><service month='May'>Ida</service></pump>",
         "bar: 1.8\nservice: Ida\nservice month: May"),
        ("<a><b>Ida</a>", "<a><b>Ida</a>"),
    ],
)  # fmt: skip
def test_an_xml_file_is_read_without_its_tags_unless_it_is_broken(written: str, text: str) -> None:
    assert read_text(written, "a.xml").text == text


@pytest.mark.parametrize(
    "written",
    [
        "<piers><pier name='North'><boats>12</boats></pier><pier name='South'><boats>9</boats></pier></piers>",
        f"<d><p>{LONG}</p><table><row><entry>name</entry><entry>boats</entry></row>"
        "<row><entry>North</entry><entry>12</entry></row><row><entry>South</entry><entry>9</entry></row></table></d>",
    ],
)
def test_records_of_one_shape_and_tables_are_rows(written: str) -> None:
    assert making.rows_of(read_text(written, "a.xml")) == ["| name | boats |", "| North | 12 |", "| South | 9 |"]


def test_an_unknown_name_does_not_hide_that_a_file_is_xml() -> None:
    assert read_text('<?xml version="1.0"?><a><b>Ida</b></a>', "a.conf").text == "b: Ida"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("<svg><path d='M0'/></svg>", "no text"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "declares entities"),
        ("<a>" * 5000, "nested too deeply"),
    ],
)
def test_what_cannot_be_read_of_xml_is_said(written: str, said: str) -> None:
    with pytest.raises(DocumentError, match=said):
        read_text(written, "a.xml")
