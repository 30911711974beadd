"""Jobs as they are worked on: left between two documents, handed back, taken up again after a kill."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest

import thresher
from tests.servers.own import BATCH_CHARACTERS, Running, Served, copied, notes, running
from tests.servers.own_api import DEFAULT, added, documents, ended, until, with_key
from thresher_server.jobs.store import Claim, Jobs
from thresher_server.jobs.worker import Outcome, done
from thresher_server.security.keys import Scope
from thresher_server.service import Service, make_service
from thresher_testing.llm_server import Reply, ScriptedServer


class Left:
    """Says that the work is to be left once it was asked so many times."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.asked = 0

    def __call__(self) -> bool:
        self.asked += 1
        return self.asked > self.after


def test_a_job_is_left_between_two_documents_and_what_was_read_stays(tmp_path: Path) -> None:
    home = tmp_path / "home"
    files = notes(tmp_path / "notes", 6)
    Jobs(home).make("add", "default", "ann", {"sources": files})
    service = make_service(home)
    with Jobs(home).claimed() as claim:
        assert claim is not None
        outcome = done(service, claim, Left(after=3))
    assert outcome.is_early
    assert outcome.result is not None
    assert outcome.result["added"] == 3
    assert outcome.claim.job.progress.files == 6
    with Jobs(home).claimed() as claim:  # taken up again, nothing is repeated
        assert claim is not None
        outcome = done(service, claim, lambda: False)
    assert outcome.result is not None
    assert (outcome.result["added"], outcome.result["unchanged"]) == (3, 3)
    service.close()


def test_a_job_that_is_cancelled_ends_as_cancelled(one: Running, tmp_path: Path) -> None:
    files = notes(tmp_path / "notes", 20)
    with ScriptedServer(pages={"/buoy.txt": Reply("The buoy.", seconds=60)}) as slow:  # until it is stopped
        job = Jobs(one.service.home).make("add", "default", "ann", {"sources": [f"{slow.address}/buoy.txt", *files]})
        assert slow.wait_for(1)
        assert one.client.post(f"/api/jobs/{job.id}/cancel").status_code == 200
    told = ended(one, job.id)
    assert told["state"] == "cancelled"
    assert told["progress"]["done"] < 21
    assert told["result"]["added"] > 0
    assert len(documents(one, words="buoy", limit=1000)) == told["result"]["added"]
    assert one.client.post(f"/api/jobs/{job.id}/cancel").json()["state"] == "cancelled"


def test_a_server_that_stops_hands_its_job_back(tmp_path: Path) -> None:
    home = tmp_path / "home"
    files = notes(tmp_path / "notes", 20)
    with ScriptedServer(
        pages={"/buoy.txt": Reply("The buoy.", seconds=2)}
    ) as slow:  # longer than a server is told to stop
        with running(home) as one:
            sources = [f"{slow.address}/buoy.txt", *files]
            job = Jobs(home).make("add", "default", "ann", {"sources": sources})
            assert slow.wait_for(1)
        handed = Jobs(home).get(job.id)
        assert handed.state == "queued"
        assert any("handed back" in line for line in Jobs(home).log(job.id))
        with running(home) as one:
            told = ended(one, job.id)
            assert (told["state"], told["result"]["added"] + told["result"]["unchanged"]) == ("done", 21)
            assert told["result"]["unchanged"] > 0


def test_an_unexpected_failure_ends_its_job_and_not_the_worker(one: Running) -> None:
    strange = Jobs(one.service.home).make("add", "default", "ann", {"no": "sources"})
    told = ended(one, strange.id)
    assert told["state"] == "failed"
    assert "KeyError" in told["error"]["message"]
    assert added(one, [("a.txt", b"The buoy is red.")])["state"] == "done"


def test_a_settings_file_that_is_not_trusted_ends_no_worker(one: Running, caplog: pytest.LogCaptureFixture) -> None:
    (one.service.home / "thresher.toml").write_text('judge = "http://127.0.0.1:9/rerank"\n')
    assert until(lambda: "jobs cannot be read" in caplog.text)
    (one.service.home / "thresher.toml").unlink()
    assert added(one, [("a.txt", b"The buoy is red.")])["state"] == "done"


def test_a_slow_job_of_one_caller_holds_up_nobody_else(
    indexed_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, slow = copied(indexed_home, tmp_path), Event()
    order: list[str] = []

    def working(service: Service, claim: Claim, stopping: Any) -> Outcome:
        if claim.job.caller == "slow":
            assert slow.wait(30)
        order.append(claim.job.id)
        return Outcome(claim, {})

    monkeypatch.setattr("thresher_server.jobs.worker.done", working)
    with running(home) as one:
        held = [Jobs(home).make("add", "default", "slow", {"sources": []}) for _ in range(2)]
        others = [Jobs(home).make("add", "default", name, {"sources": []}) for name in ("ann", "bob", "ann")]
        for job in others:
            assert ended(one, job.id)["state"] == "done"
        slow.set()
        assert [ended(one, job.id)["state"] for job in held] == ["done", "done"]
    assert sorted(order[:3]) == sorted(job.id for job in others)


def test_jobs_are_seen_by_those_who_see_their_collection(keyed: Running) -> None:
    mine, other = (
        with_key(keyed.service.home, name, Scope.READ, Scope.WRITE, collections=[name])
        for name in ("default", "papers")
    )
    reader = with_key(keyed.service.home, "reader", Scope.READ)
    files = {"files": ("a.txt", b"The buoy is red.")}
    job = keyed.client.post(f"{DEFAULT}/documents", files=files, headers=mine).json()["job"]
    assert keyed.client.get(f"/api/jobs/{job}", headers=mine).status_code == 200
    assert keyed.client.get(f"/api/jobs/{job}", headers=other).status_code == 404
    assert keyed.client.get(f"/api/jobs/{job}/events", headers=other).status_code == 404
    assert keyed.client.post(f"/api/jobs/{job}/cancel", headers=other).status_code == 404
    assert keyed.client.post(f"/api/jobs/{job}/cancel", headers=reader).status_code == 403
    assert keyed.client.get("/api/jobs", headers=other).json() == {"jobs": []}
    listed = keyed.client.get("/api/jobs", params={"collection": "default"}, headers=mine).json()["jobs"]
    assert [line["id"] for line in listed] == [job]


# --- killed -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_job_survives_the_kill_of_its_process_and_repeats_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    padding = " The rest is sand." * (2 * BATCH_CHARACTERS // 40 // 18)  # two batches in forty files
    files = notes(tmp_path / "notes", 40, padding)
    pages: dict[str, str | Reply] = {"/buoy.txt": Reply("The buoy.", seconds=60)}
    with ScriptedServer(pages=pages) as slow:
        first = Served(home)
        job = Jobs(home).make("add", "default", "ann", {"sources": [*files, f"{slow.address}/buoy.txt"]})
        with first.client.stream("GET", f"/api/jobs/{job.id}/events") as reply:
            for _ in reply.iter_lines():  # a few a second, until a batch is committed
                if httpx.get(f"{first.client.base_url}{DEFAULT}").json()["documents"]:
                    break
        first.kill()
        assert Jobs(home).get(job.id).state == "running"
        with thresher.open(home) as collection:
            committed = len(collection.documents())
        assert 0 < committed < 41
        pages["/buoy.txt"] = "The buoy."
        second = Served(home)
        try:
            told = ended(second, job.id)
            assert told["state"] == "done", told
            assert told["result"]["unchanged"] >= committed
            assert told["result"]["added"] == 41 - told["result"]["unchanged"]
            assert any("taken up again" in line for line in told["log"])
            assert second.client.get(f"{DEFAULT}").json()["documents"] == 41
        finally:
            second.stop()


@pytest.mark.slow
def test_two_processes_over_one_home_do_each_job_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    both = [Served(home), Served(home)]
    try:
        jobs = []
        for number in range(12):
            files = {"files": (f"n{number}.txt", f"The buoy number {number} lies off Fernby.".encode())}
            jobs.append(both[number % 2].client.post(f"{DEFAULT}/documents", files=files).json()["job"])
        ends = [ended(both[number % 2], job) for number, job in enumerate(jobs)]
        assert [told["state"] for told in ends] == ["done"] * 12
        assert [told["result"]["added"] for told in ends] == [1] * 12
        assert all(sum(line.endswith("begun") for line in told["log"]) == 1 for told in ends)
        assert both[0].client.get(DEFAULT).json()["documents"] == 12
    finally:
        for one in both:
            one.stop()
