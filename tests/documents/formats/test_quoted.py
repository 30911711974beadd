"""Mails that a mail quotes: documents of their own, which never outrank the mail's own words."""

from __future__ import annotations

from pathlib import Path

import pytest

import thresher
from tests.documents.making import read_all, save
from thresher.documents.formats.quoted import parted
from thresher.types import Document

HEAD = (
    "From: Dana Ilves <dana@x.org>\nTo: Omar Farid <omar@x.org>\nDate: Tue, 3 May 2022 09:12:00 +0200\nSubject: Pump\n"
)
OWN = "since the new seal was fitted the pump runs at 4.5 bar."
OLD = "at what pressure does the pump run now? The sheet says the pump runs at 3 bar. The oil was changed on 12 April."
REPLY = f"{HEAD}\n{OWN}\n\nOn Mon, 2 May 2022 at 16:40, Omar Farid\n<omar@x.org> wrote:\n> {OLD}\n"


def test_a_quoted_mail_is_a_document_of_its_own_with_its_sender_and_day(tmp_path: Path) -> None:
    mail, quoted = read_all(save(tmp_path, "pump.eml", REPLY))
    assert isinstance(mail, Document)
    assert isinstance(quoted, Document)
    assert "3 bar" not in mail.text
    assert "words_not_read" not in mail.metadata
    assert (quoted.kind, quoted.container, quoted.date) == ("quote", mail.source, "2022-05-02")
    assert quoted.source == f"{mail.source}/quoted 1"
    assert (quoted.metadata["author"], quoted.metadata["quoted_by"]) == ("Omar Farid", "Dana Ilves <dana@x.org>")
    assert quoted.text.startswith("Quoted by Dana Ilves:\nOn Mon, 2 May 2022")
    assert OLD in quoted.text


@pytest.mark.parametrize(
    ("text", "own", "senders"),
    [
        ("Yes.\n\nAm 03.05.2022 um 09:12 schrieb Ada Kask <a@x.org>:\n> Kommst du?", "Yes.", ["Ada Kask"]),
        (
            "It comes on 9 May.\n\n-----Original Message-----\nFrom: Piet Maas\n"
            "Sent: Tuesday, January 10, 2023 5:20 PM\nTo: Lena Voss\nSubject: Turbine\n\nWhen?",
            "It comes on 9 May.",
            ["Piet Maas"],
        ),
        (
            "FYI\n\n---------- Forwarded message ---------\nFrom: Ada Kask <a@x.org>\n"
            "Date: Mon, May 2, 2022 at 4:40 PM\nSubject: Key\nTo: <r@x.org>\n\n\n"
            "Under the stone.\n\nOn Sun, 1 May 2022 at 10:00, Omar Farid <o@x.org>\n"
            "wrote:\n\n> Where is the key?",
            "FYI",
            ["Ada Kask", "Omar Farid"],
        ),
        ("> The pump is new. When does it come?\n\nOn 9 May.", "> When does it come?\n\nOn 9 May.", [""]),
    ],
)
def test_own_words_are_told_from_quoted_ones_by_their_form(text: str, own: str, senders: list[str]) -> None:
    found, quotes = parted(text)
    assert (found, [one.sender for one in quotes]) == (own, senders)


@pytest.mark.parametrize(
    "text",
    [
        "Prices from 3 May 2022, 14:00:\nRooms: 12\nTime: 12:30\nBread: 3",
        "Take the 3 > 2 rule, and write to ada@x.org before 3 May 2022, 14:00.",
    ],
)
def test_lines_of_a_mail_that_only_look_like_a_head_stay_its_own(text: str) -> None:
    assert parted(text) == (text, [])


def test_a_quote_of_a_page_is_parted_as_that_of_a_plain_mail(tmp_path: Path) -> None:
    page = (
        "<p>The roof costs 12,400 euros.</p><div>On 16 March 2023 at 09:01 Ada Kask wrote:</div>"
        '<blockquote type="cite"><p>It was 11,900 euros last year.</p></blockquote>'
    )
    mail, quoted = read_all(save(tmp_path, "roof.eml", f"{HEAD}Content-Type: text/html; charset=utf-8\n\n{page}"))
    assert isinstance(mail, Document)
    assert isinstance(quoted, Document)
    assert "11,900" not in mail.text
    assert (quoted.date, "11,900 euros last year" in quoted.text) == ("2023-03-16", True)


def test_what_a_mail_quotes_answers_only_where_its_own_words_do_not(tmp_path: Path) -> None:
    (tmp_path / "mail").mkdir()
    save(tmp_path / "mail", "pump.eml", REPLY)
    with thresher.open(str(tmp_path / "home")) as collection:
        collection.add(str(tmp_path / "mail"))
        now, oil, when = (
            collection.ask(question)
            for question in (
                "At what pressure does the pump run now?",
                "When was the oil changed?",
                "When did Dana write about the pump?",
            )
        )
    assert now.citations[0].source.endswith("pump.eml")
    assert now.text.index("4.5 bar") < now.text.find("3 bar")
    assert oil.citations[0].locator == "quoted from Omar Farid"
    assert "12 April" in oil.text
    assert "Date: Tue, 03 May 2022" in when.text.split("[1]")[0]
