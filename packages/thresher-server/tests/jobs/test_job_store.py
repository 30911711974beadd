"""Jobs as files: made, claimed by one at a time, cancelled, and forgotten after a week."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from thresher_server.jobs.store import Jobs
from thresher_server.problems import Problem


def test_the_oldest_job_is_claimed_and_nobody_else_has_it(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path)
    made = {jobs.make("add", "default", "ann", {"sources": [str(number)]}).id for number in range(2)}
    with jobs.claimed() as first, Jobs(tmp_path).claimed() as second, Jobs(tmp_path).claimed() as third:
        assert first is not None
        assert second is not None
        assert {first.job.id, second.job.id} == made
        assert third is None
    with jobs.claimed() as again:  # let go of, and not ended
        assert again is not None


def test_a_job_is_there_before_its_files_are_and_waits_for_them(tmp_path: Path) -> None:
    """A process that is killed while it keeps the files leaves their job, which another one then does."""
    seen = []

    def kept() -> None:
        seen.append([job.state for job in Jobs(tmp_path).all()])
        with Jobs(tmp_path).claimed() as claim:
            assert claim is None

    job = Jobs(tmp_path).make("add", "default", "ann", {"sources": [str(tmp_path / "gone.txt")]}, kept)
    with Jobs(tmp_path).claimed() as claim:
        assert claim is not None
        assert (claim.job.id, seen) == (job.id, [["queued"]])


def test_no_job_is_left_of_files_that_cannot_be_kept(tmp_path: Path) -> None:
    def fails() -> None:
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        Jobs(tmp_path).make("add", "default", "ann", {}, fails)
    assert Jobs(tmp_path).all() == []
    Jobs(tmp_path).check_idle("default")


def test_a_job_that_nobody_works_on_is_cancelled_at_once(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path)
    job = jobs.make("add", "default", "ann", {"sources": []})
    assert jobs.cancel(job.id).state == "cancelled"
    assert jobs.cancel(job.id).state == "cancelled"  # and once more does nothing
    with jobs.claimed() as claim:
        assert claim is None


def test_a_line_of_a_log_is_one_line_and_the_last_ones_are_told(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path)
    job = jobs.make("add", "default", "ann", {"sources": []})
    with jobs.claimed() as claim:
        assert claim is not None
        claim.log("a name\nwith a break, and half a pair \udce9")
        claim.log(*map(str, range(1098)))
        claim.log("1098")
        claim.log("1099")
    told = jobs.log(job.id)
    assert len(told) == 1000
    assert told[-1].endswith(" 1099")


@pytest.mark.parametrize("id_", ["", "..", "x", "20260105T101500-zzzzzzzz", "../../keys", "20260105T101500-00000000"])
def test_what_is_no_job_is_told(tmp_path: Path, id_: str) -> None:
    with pytest.raises(Problem) as refused:
        Jobs(tmp_path).get(id_)
    assert refused.value.status == 404


def test_a_job_is_forgotten_a_week_after_its_end(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path)
    old, young = (jobs.make("add", "default", "ann", {"sources": []}) for _ in range(2))
    for job, days in ((old, 8), (young, 6)):
        ended = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")
        stored = json.loads(jobs.files.read(f"{job.id}.json") or b"")
        jobs.files.write(f"{job.id}.json", json.dumps({**stored, "state": "done", "ended": ended}).encode())
    made = jobs.make("add", "default", "ann", {"sources": []})
    assert {job.id for job in jobs.all()} == {young.id, made.id}


def test_a_damaged_job_stops_nobody(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path)
    job = jobs.make("add", "default", "ann", {"sources": []})
    jobs.files.write(f"{job.id}.json", b"{")
    other = jobs.make("add", "default", "ann", {"sources": []})
    with jobs.claimed() as claim:
        assert claim is not None
        assert claim.job.id == other.id
