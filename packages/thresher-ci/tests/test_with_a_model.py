from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from thresher_ci.run import Job
from thresher_testing.llm_server import ScriptedServer

Make = Callable[..., Job]
Serve = Callable[..., ScriptedServer]

SENTENCES = {
    "days of leave": r"A new employee has \d+ days of leave a year\.",
    "a hotel cost": r"A hotel may cost \d+ euros a night\.",
    "alarm code?": r"The alarm code is kept by [A-Z]\w+ [A-Z]\w+\.",
}


def reply(body: Mapping[str, Any]) -> str:
    """The sentence of the evidence that answers, as a model that reads would give it."""
    asked = json.dumps(body["messages"], ensure_ascii=False)
    for words, sentence in SENTENCES.items():
        if words in asked and (found := re.search(sentence, asked)):
            return f"{found[0].removesuffix('.')} [1]."
    return "NOT IN THE EVIDENCE"


def with_model(job: Make, server: ScriptedServer) -> Job:
    """Without other search words, which a model is asked for before it is known whether an answer can be taken."""
    return job(settings={"llm.base_url": server.base_url, "llm.model": "scripted", "rewrite": False})


def test_a_changed_value_is_reported_of_a_model_too(job: Make, handbook: Path, serve: Serve) -> None:
    server = serve(reply)
    file = handbook / "leave.md"
    file.write_text(file.read_text(encoding="utf-8").replace("25 days", "28 days"), encoding="utf-8")
    report = with_model(job, server).run("HEAD")
    assert [one.kind for one in report.differences] == ["contradicted", "unchanged", "unchanged", "unchanged"]


def test_a_skipped_question_costs_no_call(job: Make, serve: Serve) -> None:
    server = serve(reply)
    with_model(job, server).run()
    asked = len(server.requests)
    assert asked >= len(SENTENCES)
    assert with_model(job, server).run().again == 0
    assert len(server.requests) == asked


def test_ctrl_c_in_the_middle_records_nothing_and_the_next_run_goes_on(
    job: Make, handbook: Path, serve: Serve, tmp_path: Path
) -> None:
    job().run()
    ours = [*(tmp_path / "home" / "ci" / "runs").iterdir(), tmp_path / "home" / "ci" / "report.json"]
    before = {file: file.read_bytes() for file in ours}

    def interrupts(body: Mapping[str, Any]) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        return reply(body)

    (handbook / "office.md").unlink()
    with pytest.raises(KeyboardInterrupt):
        with_model(job, serve(interrupts)).run()
    assert {file: file.read_bytes() for file in ours} == before
    assert {file.name for file in (tmp_path / "home" / "ci" / "runs").iterdir()} == {
        file.name for file in ours if file.parent.name == "runs"
    }
    report = with_model(job, serve(reply)).run("HEAD")
    assert [one.kind for one in report.differences] == ["unchanged", "unchanged", "broken", "unchanged"]
    assert report.differences[2].why == "is refused; its words stand nowhere"
