from __future__ import annotations

from collections.abc import Sequence

from thresher.generation.certainty import Sureness
from thresher.generation.citations import abstention
from thresher.generation.descriptions import DescribedReader
from thresher.generation.sentence_support import SupportJudge
from thresher.testing.fakes import HashEncoder
from thresher.text.terms import term_set
from thresher.types import COSINE, Chunk, Evidence, Generation, Hit, Query, Score

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


def otherwise(query: Query, evidence: Sequence[Evidence]) -> Generation:
    return abstention("handed on")


def reader() -> DescribedReader:
    support = SupportJudge(HashEncoder(256), lambda question: dict.fromkeys(term_set(question), 1.0))
    return DescribedReader(support, Sureness(0.25, 0.5), otherwise)


def ask(question: str, texts: Sequence[str]) -> Generation:
    return reader()(Query(question, question), [piece(number, text) for number, text in enumerate(texts)])


def test_the_name_that_the_descriptions_share_is_the_answer_in_full_and_each_is_cited() -> None:
    answer = ask(QUESTION, TEXTS)
    assert answer.text == "Petra Voss [1][2][3]"
    assert {citation.quote for citation in answer.citations} == set(TEXTS)
    assert answer.certainty is not None
    assert answer.certainty > 0.5


def test_names_of_the_question_are_no_answer() -> None:
    texts = ["Northern airports in Rotterdam bought lighting towers.", "Late deliveries led to a case in Rotterdam."]
    assert ask(QUESTION, texts).reason == "handed on"


def test_a_name_of_one_sentence_alone_is_handed_on() -> None:
    assert ask(QUESTION, [TEXTS[0], "Ships are built there."]).reason == "handed on"


def test_a_question_of_one_clause_is_handed_on() -> None:
    assert ask("Who sold lighting towers?", TEXTS).reason == "handed on"
