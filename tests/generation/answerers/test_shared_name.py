from __future__ import annotations

from collections.abc import Sequence

from tests.generation.answering import proposed
from thresher.generation.answerers.shared_name import SharedNameAnswerer
from thresher.generation.candidates import Candidate
from thresher.generation.sentence_support import SupportJudge
from thresher.testing.fakes import HashEncoder
from thresher.text.terms import term_set
from thresher.types import COSINE, Chunk, Evidence, Hit, Score

QUESTION = (
    "Who is the founder that sold lighting towers to northern airports, was sued over late deliveries in Rotterdam, "
    "and plans a second assembly hall near the harbour?"
)
TEXTS = (
    "Northern airports bought lighting towers from Petra Voss, the founder of a small workshop.",
    "Henk Smit, a haulier, sued Voss over late deliveries in Rotterdam.",
    "A second assembly hall near the harbour is planned by Voss next year.",
)


def piece(number: int, text: str) -> Evidence:
    chunk = Chunk(f"c{number}", f"d{number}", f"{number}.txt", "", 0, len(text), text)
    return Evidence(Hit(chunk, Score(0.5, COSINE), number), 0, len(text), text)


def ask(question: str, texts: Sequence[str]) -> Sequence[Candidate]:
    support = SupportJudge(HashEncoder(256), lambda question: dict.fromkeys(term_set(question), 1.0))
    pieces = [piece(number, text) for number, text in enumerate(texts)]
    return proposed(SharedNameAnswerer(support), question, *pieces)


def test_the_name_that_the_descriptions_share_is_the_answer_in_full_and_each_is_cited() -> None:
    (candidate,) = ask(QUESTION, TEXTS)
    assert candidate.answer.text == "Petra Voss [1][2][3]"
    assert {citation.quote for citation in candidate.answer.citations} == set(TEXTS)
    assert 0 < (candidate.signs.ahead or 0) <= (candidate.signs.support or 0) <= 1


def test_names_of_the_question_are_no_answer() -> None:
    texts = ["Northern airports in Rotterdam bought lighting towers.", "Late deliveries led to a case in Rotterdam."]
    assert ask(QUESTION, texts) == ()


def test_a_name_of_one_sentence_alone_is_not_proposed() -> None:
    assert ask(QUESTION, [TEXTS[0], "Ships are built there."]) == ()


def test_a_question_of_one_clause_describes_nothing_several_times() -> None:
    assert ask("Who sold lighting towers?", TEXTS) == ()
