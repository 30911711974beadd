from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

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
