"""A home in a bucket, from the command line and from Python, and what there is to be done with one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import thresher
from tests.conftest import Run
from tests.servers.bucket import KEY, SECRET, Weed
from thresher.errors import StoreAway, StoreError, UsageError
from thresher.home.places import home_of, working_folder
from thresher_bucket.files import error_of
from thresher_bucket.folder import BucketFolder
from thresher_bucket.tables import BucketLanceStore
from thresher_server.security.access import Askers
from thresher_server.security.keys import Scope
from thresher_server.service import make_service
from thresher_server.uploads import Uploads

QUESTION = "Who built the lighthouse of Kõpu?"


@pytest.fixture
def lighthouse(tmp_path: Path) -> Path:
    file = tmp_path / "lighthouse.txt"
    file.write_text("The lighthouse of Kõpu was built by the Hanseatic League in 1531. It is red.", encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("given", "address"),
    [("s3://b/p", "s3://b/p"), ("s3://b", "s3://b"), ("gs://b//p/q/", "gs://b/p/q"), ("az://c/p", "az://c/p")],
)
def test_an_address_is_a_home(given: str, address: str) -> None:
    home = home_of(given)
    assert home == BucketFolder(address)
    assert str(home / "collections") == f"{address}/collections"


@pytest.mark.parametrize("given", ["ftp://b/p", "s3://", "s3:///p", "s3://b/../p", "s3://b/p?x=1", "https://b/p"])
def test_another_address_is_none(given: str) -> None:
    with pytest.raises(UsageError, match="is not a home"):
        thresher.open(given)


def test_keys_in_an_address_are_refused_and_not_repeated() -> None:
    with pytest.raises(UsageError, match="AWS_ACCESS_KEY_ID") as caught:
        thresher.open("s3://AKIA:s3cret@bucket/p")
    assert "s3cret" not in str(caught.value)


def test_documents_traces_and_labels_are_in_the_bucket_and_nothing_on_this_machine(
    folder: BucketFolder, lighthouse: Path
) -> None:
    with thresher.open(str(folder)) as collection:
        assert collection.add(lighthouse, recipe="rag").added == 1
        answer = collection.ask(QUESTION, recipe="rag")
        assert "Hanseatic" in answer.text
        collection.feedback(answer, right=True)
        assert collection.doctor() == []
        assert collection.storage()["bytes"] > 10_000
    with thresher.open(folder) as again:
        assert [document.source for document in again.documents()] == [str(lighthouse)]
        assert again.traces.load()["text"] == answer.text
        assert len(again.labels.labels()) == 1
        assert again.replay(answer.trace)[1] == []
        assert again.delete(lighthouse, purge=True) == [str(lighthouse)]
        assert again.labels.labels() == []
        with pytest.raises(UsageError):
            again.traces.load(answer.trace)
    assert not working_folder(folder).exists()


def test_collections_are_listed_and_dropped_and_not_moved(
    folder: BucketFolder, lighthouse: Path, tmp_path: Path
) -> None:
    for name in ("one", "two words"):
        with thresher.open(folder, name) as collection:
            collection.add(lighthouse, recipe="rag")
    homes = thresher.collections(str(folder))
    assert [(one.name, one.documents) for one in homes] == [("one", 1), ("two words", 1)]
    for change in (
        lambda: homes.rename("one", "three"),
        lambda: homes.copy("one", "three"),
        lambda: homes.write("one", tmp_path / "packed"),
        lambda: homes.read(tmp_path / "packed"),
    ):
        with pytest.raises(UsageError, match="is in a bucket"):
            change()
    homes.drop("one")
    assert homes.names == ["two words"]
    with thresher.open(folder, "one") as gone, pytest.raises(StoreError, match="holds no documents yet"):
        gone.ask(QUESTION, recipe="rag")
    with pytest.raises(StoreError, match="there are: two words"):
        homes.drop("one")


def test_another_store_is_refused_there(folder: BucketFolder, lighthouse: Path) -> None:
    with thresher.open(folder) as collection, pytest.raises(UsageError, match="keeps its tables in that bucket"):
        collection.add(lighthouse, recipe="rag", settings={"store": "postgres"})


def test_the_command_takes_an_address(folder: BucketFolder, lighthouse: Path, run: Run) -> None:
    assert run("index", lighthouse, "--home", folder, "--recipe", "rag").code == 0
    asked = run("ask", QUESTION, "--home", folder, "--recipe", "rag", "--json")
    assert "Hanseatic" in json.loads(asked.out)["text"]


def test_what_was_sent_to_one_server_is_read_by_another_over_the_same_bucket(
    folder: BucketFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    one, other = make_service(folder), make_service(folder)
    caller = other.keys.caller(one.keys.make("ann", [Scope.ASK], None))
    assert caller is not None
    Askers(folder).note(caller, "default", "ab12")
    assert Askers(folder).may_see(caller, "default", "ab12")
    uploads = Uploads(folder, one.collection())
    sent = uploads.place("deep/report.txt")
    sent.parent.mkdir(parents=True)
    sent.write_text("The buoy is red.", encoding="utf-8")
    uploads.share([str(sent)])
    shutil.rmtree(tmp_path)  # the other machine has none of it
    Uploads(folder, other.collection()).fetch([str(sent)])
    assert sent.read_text(encoding="utf-8") == "The buoy is red."
    Uploads(folder, other.collection()).forget([str(sent)])
    sent.unlink(missing_ok=True)
    uploads.fetch([str(sent)])
    assert not sent.exists()
    for service in (one, other):
        service.close()


def test_no_key_is_told_where_a_bucket_refuses_it(
    reached: Weed, folder: BucketFolder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong-s3cret")
    with thresher.open(folder) as collection, pytest.raises(StoreError, match="does not let these keys in") as caught:
        collection.ask(QUESTION, recipe="rag")
    assert not any(secret in f"{caught.value!r} {caplog.text}" for secret in (KEY, SECRET, "wrong-s3cret"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "status code: 403 Forbidden: <Error><AWSAccessKeyId>AKIA123</AWSAccessKeyId></Error>",
            "does not let these keys in",
        ),
        ("Error performing PUT http://h:1/b - status code: 404 Not Found: <Code>NoSuchBucket</Code>", "no such bucket"),
        ("status code: 503 Slow Down: x", "answers 503"),
        ("operation timed out", "does not answer in time"),
        ("", "cannot be reached"),
        ("error sending request for url (http://h:40317/away/home/401/a): tcp connect error", "cannot be reached"),
    ],
)
def test_what_a_bucket_answers_is_told_without_what_it_quotes(text: str, expected: str) -> None:
    error = error_of("s3://b", text)
    assert isinstance(error, StoreAway) is ("403 Forbidden" not in text and "NoSuchBucket" not in text)
    assert expected in str(error)
    assert "AKIA123" not in str(error)
    lance = str(BucketLanceStore.in_our_words("documents", RuntimeError(f"lance error: Generic S3 error: {text}")))
    assert expected in lance
    assert "AKIA123" not in lance
