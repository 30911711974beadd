"""Calibration over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.servers.own import Running, copied, running
from tests.servers.own_api import DEFAULT, ended


def test_too_few_questions_fail_the_job_with_a_reason(one: Running) -> None:
    asked = {"questions": [["When was it built?", True]]}
    job = ended(one, one.client.post(f"{DEFAULT}/calibrate", json=asked).json()["job"])
    assert (job["kind"], job["state"]) == ("calibrate", "failed")
    assert "too few" in job["error"]["message"]


@pytest.mark.slow
def test_a_collection_is_calibrated_by_a_job(indexed_home: Path, tmp_path: Path) -> None:
    right = [(f"When was the lighthouse of Fernby built, {number}?", True) for number in range(20)]
    wrong = [(f"Who won the chess match of {1900 + number}?", False) for number in range(20)]
    with running(copied(indexed_home, tmp_path)) as one:
        reply = one.client.post(f"{DEFAULT}/calibrate", json={"questions": [*right, *wrong]})
        job = ended(one, reply.json()["job"])
        assert job["state"] == "done", job
        assert job["result"]["n_positive"] == 20
        assert one.client.get(DEFAULT).json()["calibrated"]["corrective"]["n_negative"] == 20
