from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from tests.generation.answering import certain, panel
from thresher.generation.answerers.mails import MailAnswerer
from thresher.generation.select import AnswerThresholds
from thresher.retrieval.mails import MailFinder
from thresher.types import Document, Generation, Query


def mail(number: int, sender: str, date: str, subject: str, body: str) -> Document:
    text = f"From: {sender}\nTo: Lena Ruiz <lena@example.org>\nDate: {date}\nSubject: {subject}\n\n{body}"
    metadata = {"from": sender, "to": "Lena Ruiz <lena@example.org>", "subject": subject}
    return Document(f"d{number}", f"{number}.eml", subject, text, "email", date=date, metadata=metadata)


MAILS = (
    mail(1, "Tomas Berg <tomas@example.org>", "2025-03-03", "Kick-off of the harbour project", "It is on Thursday."),
    mail(2, "Maria Novak <maria@example.org>", "2025-03-11", "Lunch menu", "There is soup on Friday."),
    mail(3, "Maria Novak <maria@example.org>", "2025-03-12", "Re: Lunch menu", "And pasta."),
    Document("d4", "soup.txt", "Kick-off", "How soup is made.", "txt"),
)


def ask(question: str) -> Generation:
    def known(ids: Sequence[str]) -> Mapping[str, Document]:
        return {one.id: one for one in MAILS if one.id in ids}

    find = MailFinder(lambda: MAILS, known)
    rows = {"mails": certain(0.12, {"name": 5.0})}
    select = panel([MailAnswerer(find, known)], rows, thresholds=AnswerThresholds(0.3, 0.6))
    answer = select(Query(question, question), ())
    for citation in answer.citations:
        (document,) = known([citation.document_id]).values()
        assert document.text[citation.start : citation.end] == citation.quote
    return answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who sent the mail about the kick-off?", "Tomas Berg <tomas@example.org> [1] [2]"),
        ("When was the mail about the kick-off sent?", "2025-03-03 [1] [2]"),
        ("What is the subject of the mail from Tomas?", "Kick-off of the harbour project [1]"),
        ("Who received the mail from Tomas?", "Lena Ruiz <lena@example.org> [1] [2]"),
        ("Who sent the mail about soup?", "Perhaps: Maria Novak <maria@example.org> [1] [2]"),
        (
            "When was the mail about the menu sent?",
            "Lunch menu: 2025-03-11 [1] [2]\nRe: Lunch menu: 2025-03-12 [3] [4]",
        ),
    ],
)
def test_a_line_of_the_head_of_the_mail_that_is_meant_is_the_answer(question: str, answer: str) -> None:
    assert ask(question).text == answer


@pytest.mark.parametrize(
    "question",
    ["Who sent the mail about the budget?", "What is the subject of the mail from Anna?", "Who sent the parcel?"],
)
def test_without_such_a_mail_there_is_no_answer(question: str) -> None:
    assert ask(question).abstained


def test_who_and_when_of_a_mail_are_answered_in_turn() -> None:
    assert ask("Who sent the mail about the kick-off and when?").text.endswith("2025-03-03 [3] [4]")
