from __future__ import annotations

from pathlib import Path

import pytest

from tests.documents import making
from tests.documents.making import parse_bytes, read_one, refusal, rows_of, save, within
from thresher.types import Document


def test_a_mail_has_its_head_and_body_and_names_its_attachments(tmp_path: Path) -> None:
    document = read_one(save(tmp_path, "a.eml", making.mail()))
    assert (document.kind, document.title, document.date) == ("email", "Threshing on Monday", "2020-03-02")
    assert document.text.startswith("From: Ann <ann@example.com>\nTo: bo@example.com\n")
    assert document.text.endswith("Hello Bo,\n\nshall we start at noon?")
    assert document.metadata["attachments"] == "plan.txt"
    assert document.metadata["from"] == "Ann <ann@example.com>"


def test_a_mail_in_html_is_read_like_a_page(tmp_path: Path) -> None:
    html = "<p>Hello <b>Bo</b></p><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
    document = read_one(save(tmp_path, "a.eml", making.mail(html)))
    assert "Hello Bo" in document.text
    assert rows_of(document) == ["| a | b |", "| 1 | 2 |"]


def test_text_named_eml_is_refused(tmp_path: Path) -> None:
    assert "not an e-mail" in refusal(tmp_path, "a.eml", "Just words.\n\nMore words.").what


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
