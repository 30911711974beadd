"""The sentences of an answer that was put together from quotes."""

from __future__ import annotations

from thresher.types import UNIT, Citation, ClaimState, Score
from thresher.verification.claims import CitedText, ClaimReader, sentences_of

QUOTE = """Every employee has 30 days of leave a year. Unused leave may be carried over until the end of March.

It is not paid out. See the office."""
CITATION = Citation(1, "d", "leave.md", "Leave", None, 0, len(QUOTE), QUOTE, Score(1.0, UNIT))


def test_every_sentence_of_a_verbatim_quote_is_quoted_from_what_it_is_copied_from() -> None:
    marked = QUOTE.replace("It is not paid out.", "**It is not paid out.**")
    sentences = sentences_of(f"Here: “{marked}” [1]", [CITATION])
    assert [(one.state, one.citations) for one in sentences] == [(ClaimState.QUOTED, (1,))] * 4


def test_a_sentence_that_no_quote_holds_is_unverified() -> None:
    made_up, *copied = sentences_of(f"Leave is paid out. “{QUOTE}” [1]", [CITATION])
    assert made_up.state is ClaimState.UNVERIFIED
    assert {one.state for one in copied} == {ClaimState.QUOTED}
    copied_without_quoting, *_ = sentences_of("It is not paid out. That is all. [1]", [CITATION])
    assert copied_without_quoting.state is ClaimState.UNVERIFIED


def test_a_question_in_an_answer_is_no_claim() -> None:
    sentences = sentences_of(f"How long may leave be carried over?\nHere: “{QUOTE}” [1]", [CITATION])
    assert [one.state for one in sentences] == [ClaimState.QUOTED] * 4


def test_the_head_of_a_table_is_no_claim_and_markers_stand_inside_its_rows() -> None:
    head = "| Days | Needed |\n|---|---|\n"
    reply = f"It depends.\n\n{head}| 1 to 7 | a form [1] |\n| from day 8 | a note of a doctor [2] |\n\nAsk us."
    reader = ClaimReader()
    claims = [*reader.feed(reply[:40]), *reader.feed(reply[40:]), *reader.end()]
    assert [(claim.text, claim.numbers) for claim in claims] == [
        ("It depends.", []), ("| 1 to 7 | a form", [1]), ("| from day 8 | a note of a doctor", [2]), ("Ask us.", [])
    ]  # fmt: skip
    text = CitedText()
    for claim in claims:
        text.add(claim, [CITATION] if claim.numbers else [], "" if claim.numbers else "unverified")
    assert text.text == (
        f"It depends. (unverified)\n\n{head}| 1 to 7 | a form [1] |\n"
        "| from day 8 | a note of a doctor [1] |\n\nAsk us. (unverified)"
    )
