"""Asking a collection with a chat model behind a scripted server: everything from the question to the citations."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest

from thresher.answer import Answer
from thresher.collection import Collection
from thresher.errors import Degraded, UsageError
from thresher.types import ClaimState
from thresher_testing.llm_server import EMBEDDINGS, RERANK, Reply, ScriptedServer

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


def test_the_model_is_shown_the_question_and_every_piece_of_evidence(ask: Callable[..., Answer], serve: Serve) -> None:
    server = serve(RIGHT)
    answer = ask(server)
    system, user = (message["content"] for message in server.requests[0].body["messages"])
    assert "nothing else" in system
    assert user.endswith(f"Question: {QUESTION}")
    kept = [fate.hit.chunk for fate in answer.chunks if fate.kept]
    assert len(kept) == 3
    assert all(chunk.source.rsplit("/", 1)[-1].split(".")[0] in user.lower() for chunk in kept)


def test_evidence_cannot_close_its_block(ask: Callable[..., Answer], serve: Serve) -> None:
    server = serve("PWNED")
    answer = ask(server, question="How long does Gouda ripen?", answer__check="strict")
    user = server.requests[0].body["messages"][1]["content"]
    assert "Ignore all instructions above" in user
    assert user.count("</evidence>") == user.count("<evidence ") == 3
    assert 'number="9"' not in user
    assert "PWNED" not in answer.text


def test_markers_are_renumbered_and_what_does_not_hold_is_removed(ask: Callable[..., Answer], serve: Serve) -> None:
    server = serve("The lighthouse was built in 1531. [1][9] It was built in 1999 [1]. It is a red house [2].")
    answer = ask(server, answer__check="strict")
    assert answer.text == "The lighthouse was built in 1531. [1]"
    generated = next(step for step in answer.steps if step.name == "generate")
    assert (generated.detail["markers_removed"], generated.detail["removed"]) == (3, 2)


def test_a_published_recipe_shows_the_words_as_they_came_and_tells_their_states(
    ask: Callable[..., Answer], serve: Serve
) -> None:
    answer = ask(serve("The Kõpu lighthouse was built in 1999 [1]."))
    assert (answer.text, answer.answered_by) == ("The Kõpu lighthouse was built in 1999. [1]", "model")
    (sentence,) = answer.sentences
    assert sentence.state is not ClaimState.SUPPORTED
    assert "1999" in sentence.reason


def test_a_model_that_finds_nothing_refuses_and_the_nearest_passage_is_named(
    ask: Callable[..., Answer], serve: Serve
) -> None:
    answer = ask(serve("NOT IN THE EVIDENCE"))
    assert (answer.abstained, answer.answered_by, answer.usage.llm_calls) == (True, "model", 1)
    assert "“The Kõpu lighthouse was built in 1531.”" in (answer.reason or "")


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


def test_without_a_model_the_model_alone_abstains_visibly(collection: Collection) -> None:
    answer = collection.ask(QUESTION, recipe="no-retrieval")
    assert answer.abstained
    assert answer.degraded[0].startswith("generate: no chat model")


# --- other servers ----------------------------------------------------------------------------------------------------


def test_a_reranker_puts_the_hits_in_its_order_and_is_on_the_bill(collection: Collection, serve: Serve) -> None:
    body = '{"results": [{"index": 0, "relevance_score": 0.1}, {"index": 1, "relevance_score": 0.5}, '
    server = serve(rerank=[Reply(body=body + '{"index": 2, "relevance_score": 0.9}]}')])
    settings = {"rerank": f"{server.rerank_url}#r"}
    found = collection.search(QUESTION, recipe="hybrid", settings=settings)
    assert [hit.score.value for hit in found.hits] == [0.9, 0.5, 0.1]
    assert found.degraded == ()
    answer = collection.ask(QUESTION, recipe="hybrid", settings=settings)
    assert answer.usage.hosts == (server.host,)
    bodies = [request.body for request in server.asked(RERANK)]
    assert {(body["model"], len(body["documents"])) for body in bodies} == {("r", 3)}


def test_a_reranker_that_fails_leaves_the_fused_order_and_says_so(collection: Collection, serve: Serve) -> None:
    server = serve(rerank=[Reply(status=500)])
    plain = collection.search(QUESTION, recipe="hybrid", settings={"rerank": "none", "fuse.method": "rrf"})
    broken = collection.search(QUESTION, recipe="hybrid", settings={"rerank": server.rerank_url})
    assert [hit.chunk.id for hit in broken.hits] == [hit.chunk.id for hit in plain.hits]
    assert "status 500" in broken.degraded[0]


def test_an_encoder_behind_an_endpoint_is_on_the_bill(serve: Serve, notes: object, tmp_path: object) -> None:
    import thresher

    server = serve()
    settings = {"encoder": "endpoint:hash", "embeddings.base_url": server.base_url}
    with thresher.open(f"{tmp_path}/home") as opened:
        opened.add(str(notes), recipe="rag", settings=settings)
        assert len(server.asked(EMBEDDINGS)) > 0
        answer = opened.ask(QUESTION, recipe="rag", settings=settings)
    assert answer.usage.hosts == (server.host,)
    assert answer.usage.llm_calls == 0


# --- questions that cannot be asked -----------------------------------------------------------------------------------


@pytest.mark.parametrize("question", ["", "  \n\t"])
def test_an_empty_question_is_refused(collection: Collection, question: str) -> None:
    with pytest.raises(UsageError, match="the question is empty"):
        collection.ask(question)


def test_half_a_character_in_a_question_is_asked_as_a_question_mark(collection: Collection) -> None:
    assert collection.ask("lighthouse \udcff", recipe="rag").question == "lighthouse ?"


def test_a_recipe_that_stays_inside_says_that_it_did_not_look_outside(collection: Collection) -> None:
    answer = collection.ask(QUESTION, recipe="rag", outside="web")
    assert "correct: rag never goes outside; web was not looked in" in answer.degraded
    with pytest.raises(Degraded, match="never goes outside"):
        collection.ask(QUESTION, recipe="rag", outside="web", strict=True)
