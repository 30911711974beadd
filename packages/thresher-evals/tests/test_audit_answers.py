"""Answers held against the documents: quotes, markers and numbers, of a run and of those that were stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from thresher.cli.app import main
from thresher.types import Document
from thresher_evals.audit_answers import audited, summary

TEXT = "The Semmering railway was opened in 1854."
DOCUMENT = Document("d1", "/notes/railway.txt", "Railway", TEXT, "text")


def answer(text: str, *, start: int = 0, quote: str = TEXT, source: str = DOCUMENT.source, **more: Any) -> Any:
    """An answer with one citation."""
    place = {"marker": 1, "source": source, "start": start, "end": start + len(quote), "quote": quote}
    citation = {**place, "origin": "inside", **more.pop("citation", {})}
    return {"question": "When?", "recipe": "rag", "text": text, "abstained": False, "citations": [citation], **more}


@pytest.mark.parametrize(
    ("given", "problems"),
    [
        (answer("It was opened in 1854. [1]"), ()),
        (answer("It was opened in 1855. [1]"), ("1855 stands in no quote",)),
        (answer("1854 + 2 = 1856 [1]"), ()),
        (answer("1854 [2]"), ("[2] stands in it and leads nowhere", "[1] is listed and stands nowhere in it")),
        (answer("1854 [1]", start=4), ("[1] quotes what does not stand at its place in railway.txt (any more)",)),
        (answer("1854 [1]", source="/notes/gone.txt"), ("[1] cites gone.txt, which is not in the collection",)),
        (answer("1854 [1]", source="http://there", citation={"origin": "outside"}), ()),
        (answer("1854", citations=[]), ("cites nothing",)),
        (answer("Not stated.", citations=[], abstained=True), ()),
    ],
)
def test_what_is_wrong_with_an_answer_is_said(given: Any, problems: tuple[str, ...]) -> None:
    found = audited(given, lambda source: DOCUMENT if source == DOCUMENT.source else None)
    assert found.problems == problems
    assert summary([found])["with_problems"] == bool(problems)


def command(*arguments: object) -> None:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    assert not ended.value.code


def test_a_run_is_audited_against_the_collection_it_was_asked_of(
    notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = ("--home", tmp_path / "home")
    questions = tmp_path / "mine.csv"
    questions.write_text("question,answer\nWhen was the Kõpu lighthouse built?,1531\n", encoding="utf-8")
    command("index", notes, *home, "--collection", "towers")
    given = ("--questions", questions, "--recipe", "hybrid", "--out", tmp_path / "run")
    command("eval", "compare", *given, *home, "--collection", "towers")
    command("eval", "audit", tmp_path / "run", *home)
    assert "held against towers: 2 without a problem, 0 with one" in capsys.readouterr().out


def test_stored_answers_are_audited_and_one_that_was_changed_is_found(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for trace in (home / "collections" / "default" / "traces").glob("*.json"):
        trace.unlink()
    command("ask", "--home", home, "When was the Kõpu lighthouse built?")
    command("eval", "audit", "--stored", "--home", home)
    assert "1 without a problem, 0 with one" in capsys.readouterr().out
    (trace,) = (home / "collections" / "default" / "traces").glob("*.json")
    stored = json.loads(trace.read_text(encoding="utf-8"))
    stored["answer"]["text"] = "1532 [1]"
    trace.write_text(json.dumps(stored), encoding="utf-8")
    command("eval", "audit", "--stored", "--home", home, "--json")
    told = json.loads(capsys.readouterr().out)
    assert told["summary"]["with_problems"] == 1
    assert told["answers"][0]["problems"] == ["1532 stands in no quote"]
