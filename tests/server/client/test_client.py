"""The typed client against a real server, sync and async."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import thresher
from tests.server.conftest import DOCUMENTS, Running, running
from tests.server.own_api import QUESTION, copied, with_key
from thresher.answer import Answer
from thresher.errors import ProviderError, StoreError, UsageError
from thresher.file_names import file_name, renamed
from thresher.types import Citation, ClaimState, Step, Verdict
from thresher_server.client import AsyncClient, Client, Progress
from thresher_server.security.keys import Scope
from thresher_testing.llm_server import Reply, ScriptedServer

WORDS = QUESTION["question"]
UNDERSTOOD = f"And who rebuilt its lamp? ({WORDS})"


@pytest.fixture
def client(served: Running) -> Iterator[Client]:
    with Client(served.url) as one:
        yield one


@pytest.fixture
def own(indexed_home: Path, tmp_path: Path) -> Iterator[tuple[Running, Client]]:
    """A server whose home may be changed, and its client."""
    with running(copied(indexed_home, tmp_path)) as one, Client(one.url) as client:
        yield one, client


def test_an_answer_is_the_librarys_own_value(client: Client, indexed_home: Path, tmp_path: Path) -> None:
    told = client.ask(WORDS)
    with thresher.open(copied(indexed_home, tmp_path)) as collection:
        ours = renamed(collection.ask(WORDS, settings={"public_url": client.url}), file_name)
    assert isinstance(told, Answer)
    assert told.verdict is Verdict.CORRECT
    assert isinstance(told.citations[0], Citation)
    assert told.citations == ours.citations  # the id of the document by its address
    mine, theirs = (json.loads(json.dumps(one.to_dict())) for one in (told, ours))
    for one in (*mine["steps"], *theirs["steps"]):
        del one["seconds"]
    assert mine == theirs
    assert str(told) == str(ours)


def test_a_stream_tells_steps_sentences_and_the_answer(client: Client) -> None:
    told = list(client.stream(WORDS))
    steps = [one for one in told if isinstance(one, Step)]
    assert [step.name for step in steps][2] == "judge"
    assert len(steps[2].detail["chunks"]) == 4
    assert "1849" in told[-2]
    assert isinstance(told[-1], Answer)


def test_a_search_and_a_check_are_read_back(client: Client) -> None:
    found = client.search(WORDS, limit=2)
    assert found.hits[0].rank == 1
    assert found.hits[0].score.scale.high == 1.0
    assert "1849" in found.hits[0].chunk.text
    spans = client.search(WORDS, max_tokens=40).spans
    assert spans is not None
    assert spans[0].tokens <= 40
    checked = client.check("The lighthouse of Fernby was built in 1850.")
    assert [claim.state for claim in checked.claims] == [ClaimState.CONTRADICTED]
    assert checked.claims[0].citations[0].quote == "The lighthouse of Fernby was built in 1849."


def test_files_folders_bytes_and_addresses_are_added(own: tuple[Running, Client], tmp_path: Path) -> None:
    _, client = own
    folder = tmp_path / "papers"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "mill.txt").write_text("The mill has four sails.")
    (folder / ".hidden").write_text("hidden")
    (tmp_path / "well.txt").write_text("The well is 30 metres deep.")
    page = Reply(body=b"The bridge is 212 metres long.", headers={"Content-Type": "text/plain"})
    seen: list[Progress] = []
    with ScriptedServer(pages={"/bridge.txt": page}) as web:
        sources = (folder, tmp_path / "well.txt", ("buoy.txt", b"The buoy is red."), f"{web.address}/bridge.txt")
        report = client.add(*sources, progress=seen.append)
    assert (report.added, report.failed) == (4, [])
    assert seen[-1].files == 1
    names = {Path(one.source).name for one in client.documents()}
    assert names == {*DOCUMENTS, "mill.txt", "well.txt", "buoy.txt", "bridge.txt"}
    (mill,) = client.documents(words="mill")
    assert client.text(mill.id) == "The mill has four sails."
    assert client.file(mill.id) == b"The mill has four sails."
    assert client.reindex(mill.id).unchanged == 1
    assert [Path(source).name for source in client.delete(mill.id)] == ["mill.txt"]
    assert client.documents(words="mill") == []
    assert {job.state for job in client.jobs()} == {"done"}


def test_a_file_that_cannot_be_read_is_in_the_report(own: tuple[Running, Client]) -> None:
    _, client = own
    report = client.add(("broken.pdf", b"%PDF-1.4 nonsense"), ("good.txt", b"The buoy is red."))
    assert report.added == 1
    assert Path(report.failed[0].subject).name == "broken.pdf"


def test_past_questions_are_listed_explained_made_again_and_labelled(own: tuple[Running, Client]) -> None:
    _, client = own
    answer = client.ask(WORDS)
    (past,) = client.traces()
    assert (past.trace, past.question, past.feedback) == (answer.trace, WORDS, None)
    client.feedback(answer.trace, False, "In 1850.")
    explained = client.explain(answer.trace)
    assert explained.feedback is not None
    assert explained.feedback.answer == "In 1850."
    assert len(explained.answer.chunks) == 4
    assert "Doc" in explained.answer.explain(dropped=True)
    again, differences = client.replay(answer.trace)
    assert (again.text, differences) == (answer.text, [])
    assert client.traces(before=past.asked) == []


def test_conversations_and_history(own: tuple[Running, Client]) -> None:
    _, client = own
    talk = client.begin()
    first = client.ask(WORDS, conversation=talk)
    assert client.ask("And who rebuilt its lamp?", conversation=talk).standalone == UNDERSTOOD
    assert client.ask("And who rebuilt its lamp?", history=[first]).standalone == UNDERSTOOD
    assert [turn.question for turn in client.conversation(talk)] == [WORDS, "And who rebuilt its lamp?"]


def test_collections_are_made_and_dropped(own: tuple[Running, Client]) -> None:
    _, client = own
    papers = client.at("papers")
    papers.make()
    assert sorted(one.name for one in client.collections()) == ["default", "papers"]
    more = papers.rename("more")
    assert more.status()["documents"] == 0
    more.copy("third").drop()
    more.drop()
    assert [one.name for one in client.collections()] == ["default"]
    assert client.session()["caller"] == "loopback"
    assert "corrective" in {one["name"] for one in client.recipes()}


def test_errors_are_the_librarys_in_the_servers_words(client: Client, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'corrective'"):
        client.ask(WORDS, recipe="corective")
    with pytest.raises(StoreError, match="is not there"):
        client.at("nothing").ask(WORDS)
    with pytest.raises(UsageError, match="no such file"):
        client.add(tmp_path / "nothing.txt")
    with pytest.raises(UsageError, match="titel"):
        list(client.stream(WORDS, where="titel = 'x'"))
    with Client("http://127.0.0.1:9") as nobody, pytest.raises(ProviderError, match="cannot be reached"):
        nobody.ask(WORDS)


def test_a_key_is_sent(indexed_home: Path, tmp_path: Path) -> None:
    home = copied(indexed_home, tmp_path)
    key = with_key(home, "asker", Scope.ASK)["Authorization"].removeprefix("Bearer ")
    with running(home, server__require_key=True) as one:
        with Client(one.url, key=key) as client:
            assert "1849" in client.ask(WORDS).text
            with pytest.raises(UsageError, match="scope write"):
                client.add(("a.txt", b"x"))
        with Client(one.url) as stranger, pytest.raises(UsageError, match="a key is needed"):
            stranger.ask(WORDS)


BUSY = Reply(status=429, headers={"Retry-After": "0"}, body='{"error": {"what": "too many", "status": 429}}')


def test_a_busy_server_is_asked_again_after_what_it_says() -> None:
    ready = Reply(body='{"question": "x", "recipe": "rag", "hits": [], "degraded": []}')
    replies = iter([BUSY, BUSY, ready])
    posts = {"/api/collections/default/search": lambda request: next(replies)}
    with ScriptedServer(posts=posts) as server, Client(server.address) as client:
        assert client.search("x").hits == ()
        assert len(server.requests) == 3


def test_a_server_that_stays_busy_is_given_up() -> None:
    posts = {"/api/collections/default/search": BUSY}
    with ScriptedServer(posts=posts) as server, Client(server.address) as client:
        with pytest.raises(ProviderError, match="too many") as refused:
            client.search("x")
        assert refused.value.retryable
        assert len(server.requests) == 7


def test_the_async_client_does_the_same(indexed_home: Path, tmp_path: Path) -> None:
    async def main(url: str) -> None:
        async with AsyncClient(url) as client:
            report = await client.add(("buoy.txt", b"The buoy is red."))
            assert report.added == 1
            answer = await client.ask(WORDS)
            assert "1849" in answer.text
            told = [one async for one in client.stream(WORDS)]
            assert isinstance(told[-1], Answer)
            both = await asyncio.gather(client.search(WORDS), client.check("The lighthouse was built in 1849."))
            assert both[0].hits
            assert both[1].claims
            assert (await client.replay(answer.trace))[1] == []
            with pytest.raises(StoreError):
                await client.at("nothing").ask(WORDS)

    with running(copied(indexed_home, tmp_path)) as one:
        asyncio.run(main(one.url))


def test_both_clients_have_the_same_calls() -> None:
    def calls(client: type) -> dict[str, list[str]]:
        public = {name: one for name, one in vars(client).items() if not name.startswith("_") and callable(one)}
        return {name: list(inspect.signature(one).parameters) for name, one in public.items()}

    assert calls(Client) == calls(AsyncClient)
