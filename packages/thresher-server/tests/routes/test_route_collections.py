"""Collections over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.servers.own import Running, copied, running
from tests.servers.own_api import DEFAULT, QUESTION, added, documents, with_key
from thresher_server.jobs.store import Jobs
from thresher_server.security.keys import Scope


def test_a_collection_says_what_it_holds(served: Running) -> None:
    told = served.client.get(DEFAULT).json()
    assert told["documents"] == 4
    assert told["chunks"] >= 4  # other recipes may have been asked
    assert told["fields"][0] == {"name": "kind", "values": {"markdown": 4}}
    assert told["calibrated"] == {}
    assert told["extractions"]["current"] == 4


def test_an_empty_home_has_a_default_collection_without_documents(tmp_path: Path) -> None:
    with running(tmp_path) as one:
        assert one.client.get("/api/collections").json() == {"collections": []}
        assert one.client.get(DEFAULT).json()["documents"] == 0
        assert one.client.get(f"{DEFAULT}/documents").json() == {"documents": [], "total": 0}
        assert one.client.get(f"{DEFAULT}/traces").json() == {"traces": []}
        told = one.client.post(f"{DEFAULT}/ask", json=QUESTION)
        assert told.status_code == 404
        assert "holds no documents yet" in told.json()["error"]["message"]
        assert one.client.get("/api/collections/other").status_code == 404


def test_a_collection_is_made_renamed_copied_and_dropped(one: Running) -> None:
    assert one.client.post("/api/collections", json={"name": "papers"}).status_code == 201
    assert one.client.get("/api/collections/papers").json()["documents"] == 0
    told = one.client.post("/api/collections/papers/ask", json=QUESTION).json()
    assert told["abstained"] is True
    assert one.client.post("/api/collections", json={"name": "papers"}).status_code == 409
    trace = one.client.post(f"{DEFAULT}/ask", json=QUESTION).json()["trace"]
    assert one.client.patch(DEFAULT, json={"name": "notes"}).json() == {"name": "notes"}
    assert one.client.get(f"/api/collections/notes/traces/{trace}").status_code == 200
    assert one.client.post("/api/collections/notes/copy", json={"name": "more"}).status_code == 201
    assert one.client.delete("/api/collections/notes").status_code == 200
    names = [line["name"] for line in one.client.get("/api/collections").json()["collections"]]
    assert names == ["more", "papers"]
    assert one.client.post("/api/collections/more/ask", json=QUESTION).json()["state"] == "answered"
    assert one.client.delete("/api/collections/notes").status_code == 404


def test_a_name_that_was_given_away_starts_with_no_files_of_another(one: Running) -> None:
    added(one, [("report.txt", b"The first report is about herons.")])
    one.client.patch(DEFAULT, json={"name": "old"})
    added(one, [("report.txt", b"The second report is about gulls.")])
    (first,) = documents(one, "/api/collections/old", words="report")
    told = one.client.get(f"/api/collections/old/documents/{first['id']}/file")
    assert told.text == "The first report is about herons."


def test_a_collection_that_is_worked_on_keeps_its_name(indexed_home: Path, tmp_path: Path) -> None:
    home = copied(indexed_home, tmp_path)
    jobs = Jobs(home)
    waiting = jobs.make("add", "default", "somebody", {"sources": []})
    with jobs.claimed() as claim, running(home) as one:  # held here, so that no worker has it
        assert claim is not None
        told = one.client.delete(DEFAULT)
        assert told.status_code == 409
        assert waiting.id in told.json()["error"]["message"]
        assert one.client.patch(DEFAULT, json={"name": "notes"}).status_code == 409


@pytest.mark.parametrize("name", [".hidden", "../up", "a/b", "", "x" * 101, "a\x00b", "ü" * 101, "🦉" * 60])
def test_a_name_that_cannot_be_a_folder_is_refused(served: Running, name: str) -> None:
    assert served.client.post("/api/collections", json={"name": name}).status_code == 422


def test_a_key_of_one_collection_sees_nothing_of_another(keyed: Running) -> None:
    key = with_key(keyed.service.home, "guest", Scope.READ, Scope.ASK, Scope.WRITE, collections=["papers"])
    keyed.client.headers.update(key)
    assert keyed.client.get("/api/collections").json() == {"collections": []}
    here, nowhere = keyed.client.get(DEFAULT), keyed.client.get("/api/collections/nothing")
    assert here.status_code == nowhere.status_code == 404
    assert here.text.replace("default", "") == nowhere.text.replace("nothing", "")
    assert "collections of this key" in here.json()["error"]["message"]
