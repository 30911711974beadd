from __future__ import annotations

import pytest

from thresher.text.mails import AskedOfMail, asked_of_mail


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Who sent the mail about the kick-off?", AskedOfMail("From", "the kick-off")),
        ("Who wrote the e-mail to Lena about lunch?", AskedOfMail("From", "lunch", recipient="Lena")),
        ("Who is the email about the menu from?", AskedOfMail("From", "the menu")),
        ("When was the mail about the kick-off sent?", AskedOfMail("Date", "the kick-off")),
        ("When did Tomas send the mail about the kick-off?", AskedOfMail("Date", "the kick-off", "Tomas")),
        ("What is the subject of the mail from Tomas?", AskedOfMail("Subject", sender="Tomas")),
        ("What is the subject of Tomas's mail to Lena?", AskedOfMail("Subject", sender="Tomas", recipient="Lena")),
        ("Who received the message about the menu?", AskedOfMail("To", "the menu")),
        ("Who sent the parcel?", None),
        ("When was the mail server moved?", None),
        ("Who sent the mail that broke the printer?", None),
        ("When was the mail about lunch sent by post to Rome?", None),
    ],
)
def test_a_question_about_a_mail_names_a_line_of_its_head_and_what_is_known_of_it(
    question: str, asked: AskedOfMail | None
) -> None:
    assert asked_of_mail(question) == asked
