"""Asking a collection with a chat model behind a scripted server: everything from the question to the citations."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import thresher
from thresher.answer import Answer
from thresher.collection import Collection
from thresher.errors import Degraded
from thresher.question.intent import courtesy
from thresher_testing.llm_server import Reply, ScriptedServer

Serve = Callable[..., ScriptedServer]
QUESTION = "When was the Kõpu lighthouse built?"
RIGHT = "The Kõpu lighthouse was built in 1531 [1]."


@pytest.fixture
def ask(collection: Collection) -> Callable[..., Answer]:
    """Asks `rag` with a server's model; settings beside it as keywords, dots as double underscores."""

    def put(server: ScriptedServer | str, *, question: str = QUESTION, **more: object) -> Answer:
        url = server if isinstance(server, str) else server.base_url
        given = {key.replace("__", "."): more.pop(key) for key in list(more) if "__" in key}
        settings = {"llm.base_url": url, "llm.model": "scripted", **given}
        return collection.ask(question, **{"recipe": "rag", "settings": settings, **more})  # type: ignore[arg-type]

    return put


def test_an_answer_is_the_models_with_a_checked_citation(
    ask: Callable[..., Answer], collection: Collection, serve: Serve
) -> None:
    server = serve(RIGHT)
    answer = ask(server)
    (citation,) = answer.citations
    assert answer.text == "The Kõpu lighthouse was built in 1531. [1]"
    assert (answer.abstained, answer.degraded) == (False, ())
    document = collection.document(citation.document_id)
    assert document.text[citation.start : citation.end] == citation.quote == "The Kõpu lighthouse was built in 1531."
    usage = answer.usage
    assert (usage.llm_calls, usage.hosts) == (1, (server.host,))
    assert usage.prompt_tokens > 20
    assert usage.completion_tokens == len(RIGHT.split())


def test_a_model_that_finds_nothing_refuses_and_nothing_is_quoted(ask: Callable[..., Answer], serve: Serve) -> None:
    answer = ask(serve("NOT IN THE EVIDENCE"))
    assert (answer.abstained, answer.answered_by, answer.usage.llm_calls) == (True, "model", 1)
    assert answer.reason == "The model found no answer in the evidence."


def test_a_server_that_stumbles_is_asked_again(ask: Callable[..., Answer], serve: Serve) -> None:
    server = serve(Reply(status=429), RIGHT)
    answer = ask(server)
    assert len(server.requests) == 2
    assert (answer.degraded, answer.usage.llm_calls) == ((), 2)  # what was sent counts, whatever came back
    assert answer.usage.retries == ("answered with status 429: scripted status 429",)
    assert "again     answered with status 429: scripted status 429: 1 call sent again" in answer.explain()


def test_what_the_tokens_cost_is_told_where_their_prices_are_given(ask: Callable[..., Answer], serve: Serve) -> None:
    answer = ask(serve(RIGHT), llm__price_prompt=2.0, llm__price_completion=8.0)
    spent = answer.usage
    assert spent.cost == pytest.approx((2 * spent.prompt_tokens + 8 * spent.completion_tokens) / 1e6)
    assert " in money, sent to " in answer.explain()


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Reply(status=401), "answered with status 401"),
        (Reply("late", seconds=60), "no reply within 0.3 s"),
        (Reply(""), "answered with no text"),
    ],
    ids=str,
)
def test_a_model_that_fails_leaves_an_answer_by_quoting_and_says_so(
    ask: Callable[..., Answer], serve: Serve, reply: Reply, told: str
) -> None:
    server = serve(reply)
    answer = ask(server, llm__timeout_seconds=0.3)
    assert "1531" in answer.text
    assert answer.text.startswith("Without the chat model (")
    assert told in answer.text
    assert "The Kõpu lighthouse was built in 1531." in answer.citations[0].quote
    (lack,) = answer.degraded
    assert lack.startswith("generate: scripted at http://127.0.0.1")
    assert told in lack
    assert lack.endswith("answered by quoting")
    assert answer.usage.hosts == (server.host,)


def test_nobody_listening_leaves_an_answer_by_quoting_and_strict_refuses_it(ask: Callable[..., Answer]) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        assert "cannot be reached" in ask(url).degraded[0]
        with pytest.raises(Degraded, match="cannot be reached"):
            ask(url, strict=True)


def test_strict_refuses_to_do_without_a_model(collection: Collection) -> None:
    with pytest.raises(Degraded, match="no chat model is configured"):
        collection.ask(QUESTION, recipe="rag", strict=True)


@pytest.mark.parametrize("budget", [{"budget_calls": 0}, {"budget_tokens": 0}, {"budget_seconds": 0}])
def test_a_budget_of_nothing_asks_no_model(ask: Callable[..., Answer], serve: Serve, budget: dict[str, int]) -> None:
    server = serve(RIGHT)
    answer = ask(server, **budget)
    assert server.requests == []
    assert "the budget of 0" in answer.degraded[0]
    assert (answer.usage.llm_calls, answer.usage.hosts) == (0, ())
    assert answer.abstained == (
        "budget_seconds" in budget
    )  # without calls or tokens it is quoted, without time nothing


def test_the_model_alone_answers_without_documents(collection: Collection, serve: Serve) -> None:
    server = serve("In 1531.")
    settings = {"llm.base_url": server.base_url, "llm.model": "scripted"}
    answer = collection.ask(QUESTION, recipe="no-retrieval", settings=settings)
    assert (answer.text, answer.citations, answer.chunks, answer.degraded) == ("In 1531.", (), (), ())
    assert server.requests[0].body["messages"][1]["content"] == QUESTION


# --- other servers ----------------------------------------------------------------------------------------------------


# --- questions that cannot be asked -----------------------------------------------------------------------------------


def test_half_a_character_in_a_question_is_asked_as_a_question_mark(collection: Collection) -> None:
    assert collection.ask("lighthouse \udcff", recipe="rag").question == "lighthouse ?"


# --- what is said to be polite ----------------------------------------------------------------------------------------

POLITE = "thanks; Thank you very much!; Great, thanks a lot.; hello; Hi there!; hi, who are you?; What can you do?; bye"
ASKED = (
    "What is thanks for?; Who are you allowed to invite?; ok; help; ?; Hello Kitty; Thank you for 5512; and you?; 42"
)


@pytest.mark.parametrize("said", POLITE.split("; "))
def test_what_is_said_to_be_polite_gets_a_line(said: str) -> None:
    assert courtesy(said)


@pytest.mark.parametrize("question", ["", *ASKED.split("; ")])
def test_whatever_else_is_said_is_a_question(question: str) -> None:
    assert courtesy(question) == ""


@pytest.mark.parametrize("recipe", ["corrective", "rag"])
def test_a_line_searches_for_nothing_and_has_a_trace(home: Path, recipe: str) -> None:
    with thresher.open(home) as collection:
        told = list[str]()
        answer = collection.ask("thanks", recipe=recipe, on_sentence=told.append)
        assert (told, answer.text, answer.recipe) == (["You are welcome."], "You are welcome.", recipe)
        assert (answer.chunks, answer.sentences, answer.usage.llm_calls, answer.abstained) == ((), (), 0, False)
        assert collection.traces.load("last")["question"] == "thanks"
        assert collection.replay()[1] == []


# --- versions of a document -------------------------------------------------------------------------------------------

FARES = "# Ferry fares\n\n{}\n\nA ticket for the ferry to Gull Island costs {} euros. Bicycles travel free of charge.\n"
FARE = "How much does a ticket for the ferry to Gull Island cost?"


@pytest.fixture(scope="module")
def fares(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    folder = tmp_path_factory.mktemp("fares")
    since = "Valid from 1 May 2024, replaces the list of 1 May 2020."
    (folder / "old.md").write_text(FARES.format("Valid from 1 May 2020.", 14), encoding="utf-8")
    (folder / "new.md").write_text(FARES.format(since, 17), encoding="utf-8")
    with thresher.open(folder / "home") as opened:
        opened.add(folder)
        yield opened


SINCE = "superseded since 1 May 2024"


@pytest.mark.parametrize(
    ("question", "reply", "mark"),
    [
        (FARE, "A ticket for the ferry to Gull Island costs 14 euros [1].", SINCE),
        (FARE, "A ticket for the ferry to Gull Island costs 14 euros [2].", SINCE),
        (FARE, "A ticket for the ferry to Gull Island costs 14 euros, and bicycles travel free of charge [1].", SINCE),
        (FARE, "A ticket for the ferry to Gull Island costs 17 euros [1].", ""),
        (FARE, "A ticket for the ferry to Gull Island costs 17 euros [2].", ""),
        (FARE, "Bicycles travel free of charge [1].", ""),
        (FARE, "Bicycles travel free of charge [2].", ""),
        (FARE.replace("cost?", "cost in 2022?"), "A ticket for the ferry to Gull Island costs 14 euros [1].", ""),
        (FARE.replace("cost?", "cost in 2022?"), "A ticket for the ferry to Gull Island costs 17 euros [1].",
         "in force from 1 May 2024"),
    ],
)  # fmt: skip
def test_a_model_reads_the_days_of_versions_and_what_it_says_of_another_time_is_marked(
    fares: Collection, serve: Serve, question: str, reply: str, mark: str
) -> None:
    server = serve(reply)
    answer = fares.ask(question, settings={"llm.base_url": server.base_url, "llm.model": "scripted"})
    sent = server.requests[-1].body["messages"][-1]["content"]
    assert 'version="in force from 1 May 2020 until 30 April 2024, superseded since 1 May 2024">' in sent
    assert 'version="in force from 1 May 2024">' in sent
    (sentence,) = answer.sentences
    assert (sentence.state.holds, sentence.reason) == (True, mark)
    assert answer.text.endswith(f"] ({mark})" if mark else "]")


def test_documents_that_are_no_versions_bear_no_days(ask: Callable[..., Answer], serve: Serve) -> None:
    server = serve(RIGHT)
    ask(server)
    assert " version=" not in server.requests[-1].body["messages"][-1]["content"]


INSUFFICIENT = {"lower": 0.99, "upper": 0.995}
"""Bounds with which every evidence is insufficient."""


def test_where_evidence_is_insufficient_the_nearest_or_what_a_model_says_is_shown_in_doubt(
    collection: Collection, serve: Serve
) -> None:
    alone = collection.ask(QUESTION, settings=INSUFFICIENT)
    assert (alone.verdict, alone.state) == ("incorrect", "doubtful")
    assert "built in 1531" in alone.text
    assert alone.reason
    server = serve(RIGHT)
    settings = {"llm.base_url": server.base_url, "llm.model": "scripted", "rewrite": False, **INSUFFICIENT}
    told = collection.ask(QUESTION, settings=settings)
    assert (told.text, told.state) == ("Perhaps: The Kõpu lighthouse was built in 1531. [1]", "doubtful")


def test_in_strict_mode_insufficient_evidence_is_refused(collection: Collection) -> None:
    strict = collection.ask(QUESTION, settings={**INSUFFICIENT, "answer.mode": "strict"})
    assert strict.state == "refused"
