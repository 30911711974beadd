"""Address books: what a card says of a person is said in sentences."""

from __future__ import annotations

import pytest

from tests.documents.making import parse_bytes
from thresher.errors import DocumentError
from thresher.types import Document


def told(*lines: str) -> str:
    card = "\r\n".join(("BEGIN:VCARD", *lines, "END:VCARD", ""))
    (document,) = parse_bytes(card.encode(), name="a.vcf")
    assert isinstance(document, Document)
    return document.text


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (("VERSION:3.0", "FN:Ingrid Sol", "ORG:Harbour;Berths", "TITLE:Planner"),
         "Ingrid Sol: Planner, Harbour, Berths."),
        (("VERSION:4.0", "FN:Ida", "TEL;TYPE=work;TYPE=voice;VALUE=uri:tel:+47-22", "BDAY:19810412"),
         "Ida. Ida, phone (work): +47-22. Ida, birthday: 12 April 1981."),
        (("VERSION:2.1", "N;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;Eva;;Dr.;", "TEL;CELL;PREF:0171 33"),
         "Dr. Eva Müller. Dr. Eva Müller, phone (cell): 0171 33."),
        (("FN:Ida", "item1.EMAIL;TYPE=INTERNET:ida@x.example", "ADR;HOME:;;Weg 3;Kiel;;24103;Germany"),
         "Ida. Ida, e-mail: ida@x.example. Ida, address (home): Weg 3, 24103 Kiel, Germany."),
        (("FN:Ida", "NOTE:Ask for keys\\, then", " \\ncall."), "Ida. Ida, note: Ask for keys, then call."),
        (("FN:Ida", "BDAY:--0412"), "Ida. Ida, birthday: --0412."),
    ],
)  # fmt: skip
def test_a_card_says_who_what_and_where(lines: tuple[str, ...], text: str) -> None:
    assert told(*lines) == text


def test_each_card_is_cited_by_itself_and_a_file_without_one_is_refused() -> None:
    cards = b"BEGIN:VCARD\nFN:Ida\nEND:VCARD\nBEGIN:VCARD\nFN:Ole\nEND:VCARD\n"
    (document,) = parse_bytes(cards, name="a.vcf")
    assert isinstance(document, Document)
    assert [mark.name for mark in document.marks if mark.kind == "part"] == ["card 1", "card 2"]
    with pytest.raises(DocumentError, match="has no cards"):
        parse_bytes(b"Ida and Ole", name="a.vcf")
