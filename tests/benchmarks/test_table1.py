"""The published table with a chat model: one command from question files to a report, here with a scripted model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.recipes.scripting import Judge, stage
from thresher_evals.judges.llm import FACT_SYSTEM, FACTS_SYSTEM
from thresher_testing.llm_server import ScriptedServer

ROOT = Path(__file__).parents[2]
KEEPER = "Ada Berg was the keeper of Vik lighthouse from 1871 to 1890."
POOL = [
    {"_id": "p1", "title": "Ada Berg", "text": KEEPER},
    {"_id": "p2", "title": "Vik lighthouse", "text": "Vik lighthouse is 21 metres high and burns oil."},
]


def replies(asked: Mapping[str, Any]) -> str:
    """What the model says: claims are true, every sentence is one fact, every fact is true."""
    system = asked["messages"][0]["content"]
    if system == FACTS_SYSTEM:
        return json.dumps({"facts": ["Ada Berg was a keeper."]})
    if system == FACT_SYSTEM:
        return "True"
    if stage(asked) == "answer" and "laim" in asked["messages"][1]["content"]:
        return "true [1]."
    return Judge()(asked)


def lines(path: Path, records: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.mark.slow
def test_one_command_answers_judges_and_reports_with_the_model(tmp_path: Path) -> None:
    popqa = {"id": "0", "question": "What was Ada Berg's occupation?", "answers": ["keeper"], "subject": "Ada Berg"}
    contexts = {"property": "occupation", "title": "Ada Berg", "internal": KEEPER, "web": KEEPER, "combined": KEEPER}
    claim = {"id": "1", "claim_id": "1", "claim": "Vik lighthouse is 21 metres high.", "label": "true"}
    evidence = {"explanation": "It was measured: 21 metres.", "evidence_summary": "It is 21 metres high."}
    entity = {"id": "Ada Berg", "question": "Who is Ada Berg?", "entity": "Ada Berg", "retrieved_ids": ["p1", "p2"]}
    lines(tmp_path / "data" / "wikipedia" / "corpus.jsonl", POOL)
    files = {
        "popqa-longtail": lines(tmp_path / "popqa.jsonl", [{**popqa, **contexts}]),
        "pubhealth": lines(tmp_path / "claims.jsonl", [{**claim, **evidence}]),
        "biography": lines(tmp_path / "biography.jsonl", [entity]),
    }
    out = tmp_path / "table"
    with ScriptedServer(replies) as server:
        given = [part for kind, file in files.items() for part in (f"--{kind}", str(file))]
        chosen = [part for recipe in ("no-retrieval", "rag", "corrective") for part in ("--recipe", recipe)]
        models = [*chosen, "--base-url", server.base_url, "--model", "scripted", "--judge-model", "another"]
        environment = {**os.environ, "THRESHER_DATA": str(tmp_path / "data")}
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.table1", *models, *given, "--out", str(out)],
            env=environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    written = (out / "report" / "report.md").read_text(encoding="utf-8")
    assert all(word in written for word in ("no-retrieval", "factscore", "label_accuracy"))
    rows = [json.loads(line) for line in (out / "pubhealth" / "rows" / "rag.jsonl").read_text("utf-8").splitlines()]
    assert [(row["answer"]["text"], row["generator"].startswith("scripted")) for row in rows] == [("true. [1]", True)]
    assert (out / "report" / "report.html").is_file()
