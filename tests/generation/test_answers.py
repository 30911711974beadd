from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from thresher.generation.answers import (
    ComparingReader,
    KindReader,
    PartsReader,
    PassageReader,
    YesNoReader,
    of_one_piece,
)
from thresher.generation.certainty import Sureness
from thresher.generation.citations import abstention, cite, in_turn, quoted
from thresher.generation.passages import PassageChooser
from thresher.generation.sentence_support import SUPPORT, Sentence, SupportJudge, rarity_from
from thresher.protocols import Generator
from thresher.testing.fakes import HashEncoder, OverlapCrossEncoder
from thresher.text.questions import Kind
from thresher.text.terms import index_terms
from thresher.types import COSINE, Chunk, Evidence, Generation, Hit, Query, Reading, Score

PUMP = (
    "Maintenance\n\n"
    "The pump is a device that moves water through the heating. It is driven by a small motor. "
    "Figure 2: The pump and its motor. See Section 4 for details. "
    "The pump must be serviced every 500 hours because sand wears its seals. "
    "Lunch is served at noon in the hall."
)


def rarity(question: str) -> Mapping[str, float]:
    return rarity_from(dict.fromkeys(index_terms(question), 1), 10)


class Overlapping:
    """As relevant as the texts share words with the question."""

    name = "overlapping"

    def read(self, question: str, texts: Sequence[str], titles: Sequence[str] | None = None) -> list[Reading]:
        scores = OverlapCrossEncoder()(question, texts)
        return [Reading(10 * score.value - 2, 0.0, 0, 1, 1.0) for score in scores]


SUPPORTS = SupportJudge(HashEncoder(256), rarity)
CHOOSE = PassageChooser(Overlapping(), SUPPORTS, 0.3)
ALL = Sureness(0.0, 0.0)
"""Withholds nothing and doubts nothing."""


def piece(text: str, *, title: str = "Notes", document: str = "d1") -> Evidence:
    chunk = Chunk(f"c-{document}", document, f"{document}.txt", title, 0, len(text), text)
    return Evidence(Hit(chunk, Score(0.5, COSINE), 1), 0, len(text), text)


def ask(read: Generator, question: str, *evidence: Evidence) -> Generation:
    return read(Query(question, question), evidence)


def first(query: Query, evidence: Sequence[Evidence]) -> Generation:
    """Quotes the first piece whose words the question shares; abstains where there is none."""
    for each in evidence:
        if set(index_terms(query.question)) & set(index_terms(each.text)):
            citation = cite(1, Sentence.whole(each, Score(0.5, SUPPORT)))
            return Generation(quoted(citation), (citation,))
    return abstention("nothing")


def test_one_number_is_not_how_many_of_two_things() -> None:
    text = "It has 236 parameters, of which 21 are used."

    def number(query: Query, evidence: Sequence[Evidence]) -> Generation:
        sure = 0.9 if "used" in query.question else 0.5
        citation = cite(1, Sentence.whole(evidence[0], Score(sure, SUPPORT)))
        return Generation("21 [1]", (citation,), certainty=sure, exact=True)

    question = "How many parameters does it have and how many parameters are used?"
    answer = ask(PartsReader(number), question, piece(text))
    assert [line.rpartition("? ")[2] for line in answer.text.splitlines()] == ["Not stated.", "21 [1]"]


def test_each_part_is_answered_and_its_citations_are_numbered_through() -> None:
    answer = ask(PartsReader(first), "How many layers and heads has BERT?", piece("BERT has 12 layers and 12 heads."))
    quote = "“BERT has 12 layers and 12 heads.”"
    assert answer.text == f"How many layers has BERT? {quote} [1]\nHow many heads has BERT? {quote} [2]"
    assert [citation.marker for citation in answer.citations] == [1, 2]


def test_a_part_that_nothing_answers_is_said_to_be_and_none_is_an_abstention() -> None:
    question = "Who signed the lease and when does the war end?"
    answer = ask(PartsReader(first), question, piece("Miller signed the lease."))
    assert answer.text == "Who signed the lease? “Miller signed the lease.” [1]\nWhen does the war end? Not stated."
    assert ask(PartsReader(first), question, piece("Nothing here.")).abstained


def test_brackets_that_are_no_marker_of_the_answer_are_left_alone() -> None:
    citation = cite(1, Sentence.whole(piece("As [7] says, it is 5."), Score(0.5, SUPPORT)))
    answer = Generation(quoted(citation), (citation,))
    assert in_turn([("A:", answer), ("B:", answer)]).text.endswith("B: “As [7] says, it is 5.” [2]")


def test_an_explanation_quotes_sentences_in_order_and_neither_captions_nor_signposts() -> None:
    answer = ask(PassageReader(CHOOSE, 3, ALL, first), "What is the pump?", piece(PUMP))
    quotes = [citation.quote for citation in answer.citations]
    assert quotes[0] == "The pump is a device that moves water through the heating."
    assert [citation.start for citation in answer.citations] == sorted(citation.start for citation in answer.citations)
    assert not any("Figure" in quote or "Section" in quote or "Lunch" in quote for quote in quotes)


def test_who_somebody_is_is_told_by_what_is_said_of_them() -> None:
    text = "Anna Weber met the board. David Galloway was a Canadian writer of travel books. She is in the hall today."
    read = PassageReader(CHOOSE, 1, Sureness(0.0, 1.0), lambda query, evidence: abstention("no name fits"))
    answer = ask(read, "Who is David Galloway (writer)?", piece(text))
    assert answer.text == "Perhaps: “David Galloway was a Canadian writer of travel books.” [1]"


def test_a_sentence_that_leans_is_quoted_behind_the_one_it_leans_on() -> None:
    text = "The boiler heats the water. It is driven by gas from a tank."
    answer = ask(PassageReader(CHOOSE, 2, ALL, first), "How is it driven by gas?", piece(text))
    assert [c.quote for c in answer.citations] == ["The boiler heats the water.", "It is driven by gas from a tank."]


def test_an_explanation_says_how_sure_it_is_and_is_withheld_where_it_is_not() -> None:
    question = "What is the pump?"
    told = ask(PassageReader(CHOOSE, 3, ALL, first), question, piece(PUMP))
    assert told.certainty is not None
    unsure = Sureness(0.0, 1.0)
    doubted = ask(PassageReader(CHOOSE, 3, unsure, first), question, piece(PUMP))
    assert doubted.text == f"Perhaps: {told.text}"
    assert ask(
        PassageReader(CHOOSE, 3, unsure, lambda query, evidence: abstention("No.")), question, piece(PUMP)
    ).abstained
    withheld = ask(PassageReader(CHOOSE, 3, Sureness(1.0, 1.0), first), question, piece(PUMP))
    assert withheld.abstained
    assert f"probability of {told.certainty:.2f}" in withheld.reason


def test_the_branch_that_is_asked_about_is_quoted_and_no_other() -> None:
    other = piece("The branch was closed because a pipe burst.", title="Alderton", document="d1")
    own = piece("The branch was closed because it was renovated.", title="Fernby", document="d2")
    answer = ask(PassageReader(CHOOSE, 3, ALL, first), "Why was the Fernby branch closed?", other, own)
    assert [citation.title for citation in answer.citations] == ["Fernby"]
    alone = ask(PassageReader(CHOOSE, 3, ALL, first), "Why was the Fernby branch closed?", other)
    assert alone.certainty is not None
    assert answer.certainty is not None
    assert alone.certainty < answer.certainty


def test_where_no_sentence_is_good_enough_the_other_reader_answers() -> None:
    answer = ask(PassageReader(CHOOSE, 3, ALL, first), "Why does dropout help networks?", piece(PUMP))
    assert answer.abstained


def test_a_thing_with_a_number_is_not_another_with_another_number() -> None:
    evidence = piece("The model GPT-3 has more parameters than any other [1]. The model GPT-2 has fewer of them.")
    answer = ask(ComparingReader(CHOOSE, ALL, first), "Compare the model GPT-1 and the model GPT-2", evidence)
    assert "GPT-3" not in answer.text
    assert "the model GPT-1: Not stated." in answer.text


def test_a_comparison_has_a_passage_for_each_side() -> None:
    basic = piece("The basic plan costs 5 euros each month.", document="d1")
    premium = piece("The premium plan costs 9 euros each month.", document="d2")
    answer = ask(ComparingReader(CHOOSE, ALL, first), "Compare the basic plan and the premium plan", basic, premium)
    assert answer.text == (
        "the basic plan: “The basic plan costs 5 euros each month.” [1]\n"
        "the premium plan: “The premium plan costs 9 euros each month.” [2]"
    )
    alone = ask(ComparingReader(CHOOSE, ALL, first), "Compare the basic plan and the premium plan", basic)
    assert alone.text.endswith("the premium plan: Not stated.")


@pytest.mark.parametrize(
    ("question", "sentence", "said"),
    [
        ("May employees work from abroad?", "Employees may work from abroad for 30 days a year.", "Yes."),
        ("May employees work from abroad?", "Employees may not work from abroad.", "No."),
        ("Is the fee refundable?", "The fee is not refundable under any circumstances.", "No."),
        ("Is DPO simpler than RLHF?", "DPO is much simpler to implement than RLHF.", "Yes."),
        ("Does Yarrow have grade A?", "The supplier Yarrow has grade C since May.", "No."),
        ("Was the bridge built in 1931?", "The bridge was built in 1931 by the city.", "Yes."),
        ("Was the bridge built in 1931?", "The bridge was built in 1940 by the city.", "No."),
        ("Can I use the van for private trips?", "The van may be used for work; private trips are not allowed.", "No."),
        ("Will Brackwell open on Saturdays?", "Brackwell will open on Saturdays from February 2025.", "Yes."),
    ],
)
def test_yes_or_no_is_said_where_a_sentence_decides(question: str, sentence: str, said: str) -> None:
    answer = ask(YesNoReader(SUPPORTS, first), question, piece(sentence))
    assert answer.text == f"{said} “{sentence}” [1]"


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("Is RLHF simpler than DPO?", "DPO is much simpler to implement than RLHF."),
        ("Can I return an opened item?", "An item can be returned within 30 days."),
        ("Do all employees get a car?", "Employees get a car after ten years."),
        ("Is the bridge safe?", "It is unclear whether the bridge is safe."),
        ("Does Yarrow have grade A?", "The supplier Yarrow had its last assessment in May."),
        ("Does Oakridge sell insurance?", "The branch of Stonebridge does sell insurance."),
    ],
)
def test_what_does_not_decide_is_quoted_alone(question: str, sentence: str) -> None:
    answer = ask(YesNoReader(SUPPORTS, first), question, piece(sentence))
    assert answer.text == f"“{sentence}” [1]"


def test_an_item_of_a_list_is_about_what_leads_in_to_it() -> None:
    text = "The following rules hold for company vans:\n\n- Fuel is paid by card.\n\n- Private trips are not allowed."
    answer = ask(YesNoReader(SUPPORTS, first), "Can I use the company van for private trips?", piece(text))
    assert answer.text == "No. “- Private trips are not allowed.” [1]"


def test_sentences_that_disagree_decide_nothing() -> None:
    text = "The fee is refundable in full. The fee is not refundable in full."
    assert not ask(YesNoReader(SUPPORTS, first), "Is the fee refundable?", piece(text)).text.startswith(("Yes", "No"))


def test_a_title_names_whom_a_sentence_is_about_and_not_what_is_said_of_it() -> None:
    evidence = piece("ELMo uses the concatenation of two LSTMs.", title="BERT: Deep Bidirectional Transformers")
    assert not ask(YesNoReader(SUPPORTS, first), "Does ELMo use a transformer?", evidence).text.startswith("Yes")


def test_each_kind_has_its_reader_and_the_rest_another() -> None:
    def explains(query: Query, evidence: Sequence[Evidence]) -> Generation:
        return Generation("explained")

    reader = KindReader({Kind.EXPLANATION: explains}, lambda query, evidence: Generation("found"))
    assert ask(reader, "Why?  Why is it so?").text == "explained"
    answer = ask(reader, "When was it built?")
    assert answer.text == "found"
    assert answer.notes.facts["kind"] == "fact"


def test_sentences_that_are_not_sure_are_told_of_one_piece_alone() -> None:
    pieces = [
        Evidence(Hit(Chunk(id_, id_, f"{id_}.txt", "", 0, len(text), text), Score(0.3, COSINE), 1), 0, len(text), text)
        for id_, text in (("c1", "The pump cools the motor."), ("c2", "The pump was bought in spring."))
    ]
    sentences = [Sentence.whole(piece, Score(0.3, SUPPORT)) for piece in (pieces[0], pieces[0], pieces[1])]
    assert [one.evidence.hit.chunk.id for one in of_one_piece(sentences)] == ["c1", "c1"]
