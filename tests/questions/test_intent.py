from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as some

from thresher.questions.intent import read_intent
from thresher.questions.kinds import Asked, Kind, asked_for
from thresher.questions.parts import parts_of
from thresher.types import Query

OF_EACH_KIND = {
    Kind.FACT: """
        How many layers does BERT-base have?
        What is the learning rate?
        What is the capital of France?
        How long is the warranty?
        How much does the premium plan cost?
        When is invoice 4711 due?
        Who is the supplier on invoice 12?
        Who is Acme's CFO?
        Who is CEO of Acme?
        Which court has jurisdiction?
        What is George Rankin's occupation?
        What is the total of invoice 4711?
        When was the company founded?
        Please tell me when the office opens
        Is Adam better or worse than SGD?
        Are refunds paid in cash or by card?
        Wie viele Schichten hat BERT?
        """,
    Kind.YES_NO: """
        Does ELMo use a transformer?
        Can I return an opened item after 30 days?
        According to the policy, may employees work from abroad?
        If the goods are damaged, must the seller pay for the return?
        I bought a lamp. Can I send it back?
        Is the invoice paid?
        """,
    Kind.EXPLANATION: """
        What is dropout?
        Who is Anna Weber?
        Who was David Galloway (writer)?
        Who are Carl von Ghega and Ada Lovelace?
        What is a force majeure clause?
        What is a transformer in deep learning?
        What is speculative decoding?
        What is the purpose of layer normalization?
        What does "force majeure" mean?
        What happens if payment is late?
        Why does dropout help?
        How do I reset my password?
        Could you please explain the refund process?
        """,
    Kind.LIST: """
        List the steps to install the pump
        What are the steps for filing a claim?
        What are the requirements for a visa?
        Which plans are there?
        """,
    Kind.KEYWORD: """
        dropout
        refund policy
        Refunds?
        """,
    Kind.NUMBER_OF_DOCUMENTS: """
        How many documents are there?
        How many papers do you have?
        """,
}


@pytest.mark.parametrize(
    ("kind", "question"),
    [(kind, line.strip()) for kind, lines in OF_EACH_KIND.items() for line in lines.strip().splitlines()],
)
def test_the_kind_of_answer_is_told_by_the_words(kind: Kind, question: str) -> None:
    assert asked_for(question).kind is kind


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What is the difference between BERT and GPT?", Asked(Kind.COMPARISON, ("BERT", "GPT"))),
        ("How does Longformer differ from BERT?", Asked(Kind.COMPARISON, ("Longformer", "BERT"))),
        ("Compare the basic plan and the premium plan", Asked(Kind.COMPARISON, ("the basic plan", "the premium plan"))),
        (
            "Compare the deposits of Fernby and those of Dunhollow",
            Asked(Kind.COMPARISON, ("Fernby", "Dunhollow"), "deposits"),
        ),
        ("What's new in Lantern 5.1?", Asked(Kind.LIST)),
        ("Who does what in project Heron?", Asked(Kind.LIST)),
        ("Which articles are on invoice PW-24-0926?", Asked(Kind.FACT)),
        ("Who voted against the plan and why?", Asked(Kind.EXPLANATION)),
        ("BERT vs. ELMo", Asked(Kind.COMPARISON, ("BERT", "ELMo"))),
        ("Which is larger, BERT-base or BERT-large?", Asked(Kind.COMPARISON, ("BERT-base", "BERT-large"))),
        ("Who wrote the GaLore paper?", Asked(Kind.AUTHORS, ("the GaLore paper",))),
        ("Who are the authors of BERT?", Asked(Kind.AUTHORS, ("BERT",))),
        ("When was the lease written?", Asked(Kind.PUBLISHED, ("the lease",))),
        ("Which documents are about retrieval?", Asked(Kind.DOCUMENTS, ("retrieval",))),
        ("How many documents mention dropout?", Asked(Kind.DOCUMENTS, ("dropout",))),
        ("Can you summarize BERT.pdf?", Asked(Kind.SUMMARY, ("BERT.pdf",))),
        ("Give me a short summary of the contract", Asked(Kind.SUMMARY, ("the contract",))),
        ("What is the paper about?", Asked(Kind.SUMMARY, ("the paper",))),
        ("What are the main findings of the report?", Asked(Kind.SUMMARY, ("the report",))),
    ],
)
def test_what_is_compared_and_which_document_is_meant_are_named(question: str, asked: Asked) -> None:
    assert asked_for(question) == asked


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "How many layers and heads has BERT-base?",
            ("How many layers has BERT-base?", "How many heads has BERT-base?"),
        ),
        (
            "How many employees, branches and customers does the bank have?",
            (
                "How many employees does the bank have?",
                "How many branches does the bank have?",
                "How many customers does the bank have?",
            ),
        ),
        (
            "Who wrote Attention Is All You Need and when?",
            ("Who wrote Attention Is All You Need?", "When was Attention Is All You Need written?"),
        ),
        ("When and where was Ada Lovelace born?", ("When was Ada Lovelace born?", "Where was Ada Lovelace born?")),
        ("When was the lease signed and by whom?", ("When was the lease signed?", "By whom was the lease signed?")),
        (
            "What are the batch size and learning rate of BERT?",
            ("What is the batch size of BERT?", "What is the learning rate of BERT?"),
        ),
        ("What is RAG and why is it used?", ("What is RAG?", "Why is RAG used?")),
        ("What is LoRA? Who invented it?", ("What is LoRA?", "Who invented LoRA?")),
        (
            "Who is the manager of Stonebridge and how many people work there?",
            ("Who is the manager of Stonebridge?", "How many people work at Stonebridge?"),
        ),
        (
            "Why was the shipment late and when will it arrive?",
            ("Why was the shipment late?", "When will the shipment arrive?"),
        ),
        (
            "What is the total amount of invoice 2024-17 and when is it due?",
            ("What is the total amount of invoice 2024-17?", "When is invoice 2024-17 due?"),
        ),
        (
            "Is the library open on Sundays, and is it free?",
            ("Is the library open on Sundays?", "Is the library free?"),
        ),
        (
            "How many parameters does DeepSeek-V2 have and how many are activated?",
            ("How many parameters does DeepSeek-V2 have?", "How many parameters of DeepSeek-V2 are activated?"),
        ),
        (
            "Coldmere: number of employees and deposits?",
            ("What is the number of employees of Coldmere?", "What are the deposits of Coldmere?"),
        ),
        (
            "How long is the probation and what is the notice period after it?",
            ("How long is the probation?", "What is the notice period after the probation?"),
        ),
        ("Who signed the lease and when does it end?", ("Who signed the lease?", "When does the lease end?")),
    ],
)
def test_a_question_of_several_is_taken_apart_into_ones_that_stand_alone(question: str, parts: tuple[str, ...]) -> None:
    assert parts_of(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "What are the terms and conditions of the contract?",
        "What are the pros and cons of distillation?",
        "What is the difference between BERT and GPT?",
        "Does the tenant pay for heating and water?",
        "How is research and development funded?",
        "Who decides what is paid and when refunds are due?",
        "What hardware did they use to train and evaluate the model?",
        "How are strips selected and recombined?",
        "I bought a lamp. Can I send it back?",
        "What optimizer did they use, and why did it help?",
        "Who voted against the shift plan and why?",
        "dropout",
    ],
)
def test_what_is_one_question_or_cannot_stand_alone_is_left_whole(question: str) -> None:
    assert parts_of(question) == (question,)


@pytest.mark.parametrize(
    ("question", "searches"),
    [
        ("Who signed the lease?", ()),
        ("When was it signed and by whom?", ("When was it signed?", "By whom was it signed?")),
        ("What is the difference between the Wren and the Tern?", ("What is the Wren?", "What is the Tern?")),
        (
            "What's the difference in price between St Olan and Skerry Island?",
            ("What is the price of St Olan?", "What is the price of Skerry Island?"),
        ),
        ("Which is older, the Wren or the Tern?", ("What is the Wren?", "What is the Tern?")),
    ],
)
def test_the_parts_and_the_things_compared_are_searched_too(question: str, searches: tuple[str, ...]) -> None:
    assert read_intent(question).searches == (question, *searches)


@given(some.text(max_size=80))
def test_whatever_is_asked_has_a_kind_and_parts_that_are_not_empty(question: str) -> None:
    assert asked_for(question).kind in Kind
    assert all(part.strip() for part in parts_of(question)) or not question.strip()


def test_what_somebody_does_to_a_thing_is_about_the_thing() -> None:
    parts = parts_of("Can I take my dog on the ferry and what are the rules for it?")
    assert parts[1] == "What are the rules for my dog?"
    assert parts_of("Hotel Alder: opening year and address?")[1] == "What is the address of Hotel Alder?"


def test_articles_on_an_order_are_no_documents() -> None:
    assert asked_for("Which articles are on order K-12?").kind is not Kind.DOCUMENTS
    assert asked_for("Which articles are about wind?").kind is Kind.DOCUMENTS


# --- the intent -------------------------------------------------------------------------------------------------------


def test_a_query_reads_its_question_and_not_what_is_searched_for_it() -> None:
    query = Query("Who designed the Semmering railway?", "semmering")
    assert query.intent is read_intent(query.question)
    part = replace(query, question="When was it opened?")
    assert (query.intent.wants, part.intent.wants) == ("person", "time")


@pytest.mark.parametrize(
    ("question", "kind", "wants", "subject"),
    [
        ("Who designed the Semmering railway?", Kind.FACT, "person", "Semmering"),
        ("How many layers has BERT?", Kind.FACT, "number", "BERT"),
        ("When does the war end?", Kind.FACT, "time", ""),
        ("Who is Anna Weber?", Kind.EXPLANATION, "person", "Anna Weber"),
        ("What are the safety rules?", Kind.LIST, "", ""),
        ("lighthouse", Kind.KEYWORD, "", ""),
    ],
)
def test_a_question_has_a_kind_a_type_of_answer_and_a_subject(
    question: str, kind: Kind, wants: str, subject: str
) -> None:
    intent = read_intent(question)
    assert (intent.kind, intent.wants, intent.subject) == (kind, wants, subject)
    assert intent.parts == (question,)


@pytest.mark.parametrize("question", ["What are the safety rules?", "How do I reset the pump?", "List the rules."])
def test_more_questions_may_be_for_a_list_than_are_of_that_kind(question: str) -> None:
    assert read_intent(question).may_be_list


@pytest.mark.parametrize("question", ["What is the first step?", "How many steps are there?", "Who resets it?"])
def test_what_asks_for_one_thing_or_a_number_may_be_for_no_list(question: str) -> None:
    assert not read_intent(question).may_be_list


def test_the_things_of_a_question_are_the_two_compared_or_the_document_it_names() -> None:
    assert read_intent("Which is older, the Wren or the Tern?").things == ("the Wren", "the Tern")
    assert read_intent("Who wrote lights.pdf?").things == ("lights.pdf",)
    assert read_intent("Who designed the railway?").things == ()


def test_options_are_read_with_their_letters() -> None:
    choice = read_intent("Which city is the capital? (A) Lyon (B) Paris").choice
    assert choice is not None
    assert (choice.stem, choice.options) == ("Which city is the capital?", (("A", "Lyon"), ("B", "Paris")))
    assert read_intent("Which city is the capital?").choice is None


@given(some.text(max_size=80))
def test_any_text_has_an_intent_whose_first_search_is_itself(question: str) -> None:
    intent = read_intent(question)
    assert intent.searches[0] == question
    assert intent.kind is asked_for(question).kind
    assert intent.parts == parts_of(question)
