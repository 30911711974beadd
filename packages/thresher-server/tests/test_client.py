"""The typed client against a real server, sync and async."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import thresher
from tests.servers.own import DOCUMENTS, Running, copied, running
from tests.servers.own_api import QUESTION, with_key
from thresher.answer import Answer
from thresher.errors import ProviderError, StoreError, UsageError
from thresher.links import file_name, renamed
from thresher.types import Citation, ClaimState, Step, Verdict
from thresher_server.client import AsyncClient, Client, Progress
from thresher_server.security.keys import Scope
from thresher_testing.llm_server import Reply, ScriptedServer

WORDS = QUESTION["question"]
UNDERSTOOD = "And who rebuilt its lamp? (When was the lighthouse of Fernby built?)"


@pytest.fixture
def client(served: Running) -> Iterator[Client]:
    with Client(served.url) as one:
        yield one


@pytest.fixture
def own(one: Running) -> Iterator[Client]:
    """The client of a server whose home may be changed."""
    with Client(one.url) as client:
        yield client


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


def test_files_folders_bytes_and_addresses_are_added(own: Client, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "mill.txt").write_text("The mill has four sails.")
    (folder / ".hidden").write_text("hidden")
    (tmp_path / "well.txt").write_text("The well is 30 metres deep.")
    page = Reply(body=b"The bridge is 212 metres long.", headers={"Content-Type": "text/plain"})
    seen: list[Progress] = []
    with ScriptedServer(pages={"/bridge.txt": page}) as web:
        sources = (folder, tmp_path / "well.txt", ("buoy.txt", b"The buoy is red."), f"{web.address}/bridge.txt")
        report = own.add(*sources, progress=seen.append)
    assert (report.added, report.failed) == (4, [])
    assert seen[-1].files == 1
    names = {Path(one.source).name for one in own.documents()}
    assert names == {*DOCUMENTS, "mill.txt", "well.txt", "buoy.txt", "bridge.txt"}
    (mill,) = own.documents(words="mill")
    assert own.text(mill.id) == "The mill has four sails."
    assert own.file(mill.id) == b"The mill has four sails."
    assert own.reindex(mill.id).unchanged == 1
    assert [Path(source).name for source in own.delete(mill.id)] == ["mill.txt"]
    assert own.documents(words="mill") == []
    assert {job.state for job in own.jobs()} == {"done"}


def test_past_questions_are_listed_explained_made_again_and_labelled(own: Client) -> None:
    answer = own.ask(WORDS)
    (past,) = own.traces()
    assert (past.trace, past.question, past.feedback) == (answer.trace, WORDS, None)
    own.feedback(answer.trace, False, "In 1850.")
    explained = own.explain(answer.trace)
    assert explained.feedback is not None
    assert explained.feedback.answer == "In 1850."
    assert len(explained.answer.chunks) == 4
    assert "Doc" in explained.answer.explain(dropped=True)
    again, differences = own.replay(answer.trace)
    assert (again.text, differences) == (answer.text, [])
    assert own.traces(before=past.asked) == []


def test_conversations_and_history(own: Client) -> None:
    talk = own.begin()
    first = own.ask(WORDS, conversation=talk)
    assert own.ask("And who rebuilt its lamp?", conversation=talk).standalone == UNDERSTOOD
    assert own.ask("And who rebuilt its lamp?", history=[first]).standalone == UNDERSTOOD
    assert [turn.question for turn in own.conversation(talk)] == [WORDS, "And who rebuilt its lamp?"]


def test_collections_are_made_and_dropped(own: Client) -> None:
    papers = own.at("papers")
    papers.make()
    assert sorted(one.name for one in own.collections()) == ["default", "papers"]
    more = papers.rename("more")
    assert more.status()["documents"] == 0
    more.copy("third").drop()
    more.drop()
    assert [one.name for one in own.collections()] == ["default"]
    assert own.session()["caller"] == "loopback"
    assert "corrective" in {one["name"] for one in own.recipes()}


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


def test_a_key_is_sent(keyed: Running) -> None:
    key = with_key(keyed.service.home, "asker", Scope.ASK)["Authorization"].removeprefix("Bearer ")
    with Client(keyed.url, key=key) as client:
        assert "1849" in client.ask(WORDS).text
        with pytest.raises(UsageError, match="scope write"):
            client.add(("a.txt", b"x"))
    with Client(keyed.url) as stranger, pytest.raises(UsageError, match="a key is needed"):
        stranger.ask(WORDS)


BUSY = Reply(status=429, headers={"Retry-After": "0"}, body='{"error": {"what": "too many", "status": 429}}')


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
            assert (await client.add(("buoy.txt", b"The buoy is red."))).added == 1
            told = [one async for one in client.stream(WORDS)]
            assert isinstance(told[-1], Answer)
            found, checked = await asyncio.gather(
                client.search(WORDS), client.check("The lighthouse was built in 1849.")
            )
            assert found.hits
            assert checked.claims
            with pytest.raises(StoreError):
                await client.at("nothing").ask(WORDS)

    with running(copied(indexed_home, tmp_path)) as one:
        asyncio.run(main(one.url))


def test_both_clients_have_the_same_calls() -> None:
    def calls(client: type) -> dict[str, list[str]]:
        public = {name: one for name, one in vars(client).items() if not name.startswith("_") and callable(one)}
        return {name: list(inspect.signature(one).parameters) for name, one in public.items()}

    assert calls(Client) == calls(AsyncClient)
