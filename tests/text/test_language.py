from __future__ import annotations

import pytest

from thresher.text.language import language_of, other_language, question_language
from thresher.text.sentences import sentence_spans
from thresher.text.terms import chunk_terms, query_terms

TEXTS = {
    "de": "Die Anlage wurde z. B. am 3. Mai von Dr. Müller geprüft. Sie ist seit 1998 nicht erneuert.",
    "fr": "La machine a été vérifiée par M. Dupont le 3 mai. Elle est en service depuis 1998 et ne sera pas remplacée.",
    "es": "La máquina fue revisada por el Sr. García en mayo. Está en servicio desde 1998 y no se cambia por otra.",
    "it": "La macchina è stata controllata dal sig. Rossi il 3 maggio. È in funzione dal 1998 e non si cambia.",
    "nl": "De machine werd door dhr. De Vries in mei gekeurd. Zij is in bedrijf en wordt niet vervangen.",
    "pt": "A máquina foi verificada pelo Sr. Silva no dia 3 de maio. Está em serviço e não foi trocada por uma nova.",
    "": "The machine was checked by Dr. Miller on 3 May. It has been in use since 1998 and is not to be replaced.",
}


UNKNOWN = (
    "",
    "Devlin et al., 2019; Vaswani et al., 2017; de la Cruz et al., 2020; Liu et al., 2019",
    "El Niño de la Esperanza was a song that Rosa de los Santos wrote in the summer of 1998 for La Scala.",
    "| Umsatz | 12,4 | Kosten | 9,1 |",
    "def de(le, la): return le + la",
)


def test_the_language_of_a_text_is_told_by_its_small_words_which_names_references_and_tables_lack() -> None:
    assert {code: language_of(text) for code, text in TEXTS.items()} == {code: code for code in TEXTS}
    assert not any(map(language_of, UNKNOWN))


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("Wie hoch war der Umsatz im Jahr 2023?", "de"),
        ("Qui a vérifié la machine?", "fr"),
        ("Cuando fue revisada la máquina?", "es"),
        ("Umsatz 2023", ""),
        ("Is As Time Goes By a jazz song?", ""),
        ("Quais são as capitais e qual a maior?", "pt"),
        ("Who is Maria de la Cruz?", ""),
        ("Is a problem instance typically characterized as abstract or concrete?", ""),
    ],
)
def test_the_language_of_a_question_is_told_by_fewer_words(question: str, code: str) -> None:
    assert question_language(question) == code


def test_sentences_end_where_they_end_in_their_language() -> None:
    text = TEXTS["de"]
    assert [text[start:end] for start, end in sentence_spans(text)] == [
        "Die Anlage wurde z. B. am 3. Mai von Dr. Müller geprüft.",
        "Sie ist seit 1998 nicht erneuert.",
    ]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Die Häuser auf dem Berg sind nicht mit dem Auto zu erreichen.", "Was ist mit dem Haus auf dem Berg?"),
        ("Les chevaux nationaux sont dans les écuries et ne sont pas à vendre.", "Où est le cheval national?"),
    ],
)
def test_a_word_is_found_in_another_form_of_its_language(text: str, question: str) -> None:
    known = set(chunk_terms("", text))
    found = [term for term in query_terms(question) if term in known]
    assert {"haus"} <= set(found) or {"national"} <= set(found)


@pytest.mark.parametrize(
    ("claim", "language"),
    [
        ("Von Debian 9 werden insgesamt zehn Architekturen getragen.", "German"),
        ("In RAG sind insgesamt 626M trainierbare Parameter.", "German"),
        ("Their first hit was called “No, No, No”.", ""),
        ("Boats come every hour, 3 per day.", ""),
        ("Guests come early, e.g. before noon.", ""),
    ],
)
def test_a_short_statement_is_told_to_be_in_another_language_by_its_small_words(claim: str, language: str) -> None:
    evidence = "The group released an album in the following year. It was the first of the ten that were made."
    assert other_language(claim, evidence) == language
