from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

import pytest

from tests.documents import making
from tests.documents.making import parse_bytes, read_all, read_one, refusal, save, within
from thresher.types import Document

PAGE = "<p>The boiler is serviced on 14 March by Tarn Heating, and the valve is changed for 44 euros.</p>"


def message(plain: str = "See the page.") -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "a@x.org", "Boiler"
    mail.set_content(plain)
    return mail


def test_a_mail_has_its_head_and_body_and_names_its_attachments(tmp_path: Path) -> None:
    document, attached = read_all(save(tmp_path, "a.eml", making.mail()))
    assert isinstance(document, Document)
    assert isinstance(attached, Document)
    assert (document.kind, document.title, document.date) == ("email", "Threshing on Monday", "2020-03-02")
    assert document.text.startswith("From: Ann <ann@example.com>\nTo: bo@example.com\n")
    assert document.text.endswith("Hello Bo,\n\nshall we start at noon?")
    assert document.metadata["attachments"] == "plan.txt"
    assert (attached.text, attached.kind, attached.container) == ("x", "text", document.source)
    assert attached.source == f"{document.source}/plan.txt"


def test_a_mail_to_hundreds_names_them_all(tmp_path: Path) -> None:
    everybody = ", ".join(f"=?utf-8?q?J=C3=BCrgen_{n}?= <j{n}@example.com>" for n in range(500))
    document = read_one(save(tmp_path, "a.eml", f"To: {everybody}\nSubject: Oats\n\nWords."))
    assert "Jürgen 499 <j499@example.com>" in str(document.metadata["to"])


@pytest.mark.parametrize("head", ["To: ", "Subject: ", "Content-Type: text/plain; ", "Content-Disposition: inline; "])
@pytest.mark.parametrize("unit", ['"', "a ", "a:", "a@b.c, ", "a=b; ", "=?utf-8?q?a?= "])
def test_a_header_of_any_length_is_no_trap(head: str, unit: str) -> None:
    with within():
        (found,) = parse_bytes(f"From: x@y.z\n{head}{unit * (40_000 // len(unit))}\n\nWords.".encode(), name="a.eml")
    assert isinstance(found, Document)


@pytest.mark.parametrize(
    ("plain", "page", "read"),
    [
        ("This message needs an HTML mail reader.", PAGE, "serviced on 14 March by Tarn Heating, and the valve"),
        ("The boiler is serviced on 14 March by Tarn Heating,\nand the valve is changed for 44 euros.", PAGE, ",\nand"),
    ],
)
def test_the_plain_part_is_read_unless_it_lacks_the_words_of_the_page(
    plain: str, page: str, read: str, tmp_path: Path
) -> None:
    mail = message(plain)
    mail.add_alternative(page, subtype="html")
    text = read_one(save(tmp_path, "a.eml", bytes(mail))).text
    assert read in text
    assert "mail reader" not in text
    assert text.count("14 March") == 1


def test_attachments_are_documents_and_what_is_none_is_named(tmp_path: Path) -> None:
    mail = message()
    for name, data, kind in (
        ("stock.csv", b"Item,Qty\nLamp,12\n", "csv"),
        ("stock.csv", b"Item,Qty\nRope,7\n", "csv"),
        ("report.docx", making.word(), "octet-stream"),
        ("../photo.png", b"\x89PNG....", "png"),
    ):
        mail.add_attachment(data, maintype="application", subtype=kind, filename=name)
    inner = message("The old tank holds 950 litres.")
    inner.add_attachment("Drawer 9.", filename="keys.txt")
    mail.add_attachment(inner)
    item = save(tmp_path, "a.eml", bytes(mail))
    first, *others = (one for one in read_all(item) if isinstance(one, Document))
    assert first.metadata["attachments"] == "stock.csv, 2-stock.csv, report.docx, Boiler.eml"
    assert first.metadata["parts_not_read"] == "photo.png: is a picture, which is not read"
    names = ["stock.csv", "2-stock.csv", "report.docx", "Boiler.eml", "Boiler.eml/keys.txt"]
    assert [one.source for one in others] == [f"{item.source}/{name}" for name in names]
    assert {one.container for one in others} == {item.source}
    assert "950 litres" in others[3].text


def test_a_charset_that_nobody_knows_is_no_reason_to_refuse_a_mail(tmp_path: Path) -> None:
    head = b"From: a@x.org\nSubject: Odd\nContent-Type: text/plain; charset=x-unknown-9\n\n"
    document = read_one(save(tmp_path, "a.eml", head + b"The caf\xe9 opens at 9:15.\n"))
    assert document.text.endswith("The café opens at 9:15.")
    assert document.metadata["encoding"] == "windows-1252"


def test_text_below_the_body_is_text_of_the_mail(tmp_path: Path) -> None:
    mail, footer = message("The body."), EmailMessage()
    mail.make_mixed()
    footer.set_content("You get this as a member.")
    mail.attach(footer)
    document = read_one(save(tmp_path, "a.eml", bytes(mail)))
    assert document.text.endswith("The body.\n\nYou get this as a member.")


def test_a_saved_page_is_read_as_a_page(tmp_path: Path) -> None:
    page = "<html><head><title>Kilns</title></head><body><h1>Kiln</h1><p>Fired at 1180 °C.</p></body></html>"
    related = EmailMessage()
    related["From"] = "<Saved by a browser>"
    related.set_content(page, subtype="html", charset="utf-8")
    related.add_related(b"\x89PNG....", maintype="image", subtype="png")
    document = read_one(save(tmp_path, "a.mht", bytes(related)))
    assert (document.kind, document.title, document.text) == ("mht", "Kilns", "Kiln\n\nFired at 1180 °C.")


def test_each_mail_of_a_mailbox_is_a_document(tmp_path: Path) -> None:
    mail = "From a@x.org Mon Jan  1 00:00:00 2024\nFrom: a@x.org\nSubject: {}\n\nDrawer {}.\n>From there on.\n\n"
    box = save(tmp_path, "m.mbox", mail.format("Keys", 8) + mail.format("Van", 9))
    first, second = (one for one in read_all(box) if isinstance(one, Document))
    assert (first.title, second.title) == ("Keys", "Van")
    assert "Drawer 9.\nFrom there on." in second.text
    assert second.source.endswith("m.mbox/2.eml")


@pytest.mark.parametrize(("name", "what"), [("a.eml", "not an e-mail"), ("a.mbox", "not a mailbox")])
def test_text_named_as_mail_is_refused(name: str, what: str, tmp_path: Path) -> None:
    assert what in refusal(tmp_path, name, "From here to there.\n\nMore words.").what
