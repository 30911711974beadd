from __future__ import annotations

from pathlib import Path

import pytest

from tests.documents.making import read_one, refusal, save
from thresher.documents.detect import decode

TEXTS = {
    "cp1252": (
        "Café;Preis\nMünchen;12\nKöln;15\n",
        "Le café est ouvert à neuf heures, sauf l’été où il est fermé.",
        "The café owner is Señor Núñez. He charges £5 – or €6 – a head.",
        "“Quoted” text with a dash – nothing else.",
        "Temperature: 20 °C ± 2",
        "El año próximo la compañía abrirá más oficinas en España.",
        "Perché no?",
        "São João;12",
        "Åsa kör över ån på tisdag.",
    ),
    "mac_roman": ("Café;Preis\nMünchen;12\n", "Le café est ouvert à neuf heures."),
    "cp850": ("Mädchen;Größe\nÄrzte;4\n", "Åsa kör över ån på tisdag."),
    "cp1250": ("Zażółć gęślą jaźń. Pompa musi być zalana.",),
    "iso8859_2": ("Zażółć gęślą jaźń. Pompa musi być zalana.",),
    "cp1251": ("Насос нужно заливать перед каждым запуском.", "Город;Цена\nМосква;12\n"),
    "koi8_r": ("Насос нужно заливать перед каждым запуском.", "Город;Цена\nМосква;12\n"),
    "cp866": ("Насос нужно заливать перед каждым запуском.",),
    "cp1253": ("Η αντλία πρέπει να γεμίζει πριν από κάθε εκκίνηση.",),
}


@pytest.mark.parametrize(("encoding", "text"), [(name, text) for name, texts in TEXTS.items() for text in texts])
def test_an_old_encoding_is_found_by_its_words(encoding: str, text: str) -> None:
    found, notes = decode(text.encode(encoding))
    assert found == text
    assert notes["encoding"]


def test_utf_8_and_what_a_mark_or_a_declaration_says_is_certain() -> None:
    assert decode("naïve".encode()) == ("naïve", {})
    assert decode("naïve".encode("utf-16")) == ("naïve", {})
    assert decode("naïve".encode("cp850"), encoding="cp850") == ("naïve", {})


def test_what_is_not_in_the_declared_encoding_is_replaced_and_counted() -> None:
    assert decode(b"caf\xe9 and tea", encoding="utf-8") == ("caf\ufffd and tea", {"characters_replaced": 1})
    assert decode(b"caf\xe9 and tea", encoding="x-nobody-knows") == ("café and tea", {"encoding": "windows-1252"})


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.csv", "a.html"])
def test_a_file_in_an_old_encoding_is_read_and_says_so(name: str, tmp_path: Path) -> None:
    document = read_one(save(tmp_path, name, "Café,Señor\nNúñez,12\n".encode("cp1252")))
    assert "Núñez" in document.text
    assert document.metadata["encoding"] == "windows-1252"
    assert "windows" not in document.text


def test_bytes_that_are_words_in_no_encoding_are_refused(tmp_path: Path) -> None:
    noise = "ポンプは毎回起動する前に".encode("euc_jp")
    assert "not valid UTF-8 at byte 0" in refusal(tmp_path, "a.txt", noise).what
