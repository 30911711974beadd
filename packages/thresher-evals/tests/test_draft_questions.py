"""Drafted questions are checked against the text they are of, and read back as a dataset."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from thresher.cli.app import main
from thresher.collection import Collection
from thresher.types import Document
from thresher_evals.compare.draft_questions import draft_questions, drafting_model, without_references
from thresher_evals.compare.drafters import by_rules, passages, sentences
from thresher_evals.dataset import Question
from thresher_evals.datasets.registry import load
from thresher_evals.questions.question_maker import QuestionMaker
from thresher_testing.llm_server import ScriptedServer

BRIDGE = """# The Stone Bridge

## Building costs

The building costs of the bridge were paid by the town of Arnstadt and never returned by anybody.
The old bridge over the river was opened to carts and walkers in 1731, after a long quarrel.
It was opened again in 1905. The bridge has exactly 14 arches of red sandstone.
"""


def document(text: str = BRIDGE, title: str = "The Stone Bridge") -> Document:
    return Document("d1", "bridge.md", title, text, "markdown")


def command(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


def test_what_is_made_by_rules_names_its_place_its_answer_and_its_kind() -> None:
    made = {one.made.answer: by_rules(one) for one in QuestionMaker([document()], seed=0).made(20)}
    draft = made["1731"]
    assert draft.question == (
        "In “The Stone Bridge”, the old bridge over the river was opened to carts and walkers in what year, after a "
        "long quarrel?"
    )
    assert (draft.made, draft.category, draft.answerable) == ("text", "date", True)
    assert made["14"].category == "number"
    for one in made.values():
        (place,) = one.gold
        assert BRIDGE[place.start : place.end] == one.stands_in
        assert one.answers[0] in one.stands_in
        assert not one.tells_its_answer


def test_no_two_drafts_have_one_id(tmp_path: Path) -> None:
    stations = [
        {"station": name, "height_m": 8.5 + n} for n, name in enumerate(("North Beacon", "Old Mole", "Slipway"))
    ]
    (tmp_path / "stations.json").write_text(json.dumps(stations))
    (tmp_path / "bridge.md").write_text(BRIDGE)
    with Collection(tmp_path / "home", "default") as collection:
        collection.add(tmp_path / "stations.json", tmp_path / "bridge.md", recipe="hybrid")
        for seed in range(3):
            ids = [draft.id for draft in draft_questions(collection, number=12, seed=seed).drafts]
            assert len(ids) == len(set(ids)), seed


def test_references_are_asked_nothing_and_every_place_stays_where_it_was() -> None:
    text = f"{BRIDGE}\n# References\n\nThe Long Bridge was built by Karl Meyer in 1802.\n"
    blank = without_references(document(text))
    assert len(blank.text) == len(text)
    assert "1731" in blank.text
    assert "Meyer" not in blank.text


def test_passages_are_spans_of_the_document_and_hold_every_sentence() -> None:
    long = document(BRIDGE * 12)
    found = sentences(long)
    cut = list(passages(long, found))
    assert len(cut) > 1
    for passage in cut:
        assert long.text[passage.start : passage.end] == passage.text
        assert len(passage.text) <= 1500
    assert all(any(passage.start <= one.start and one.end <= passage.end for passage in cut) for one in found)


def asked(question: Question) -> tuple[object, ...]:
    """What a table holds of a question."""
    places = [(gold.source, gold.page) for gold in question.gold[:1]]
    return question.id, question.question, question.answers, question.answerable, question.category, places


def test_the_same_seed_drafts_the_same_and_the_file_reads_back(
    indexed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    given = ("eval", "make-questions", "--home", indexed, "--number", 12)
    assert command(*given, "--out", first) == 0
    assert "Read them before you believe numbers" in capsys.readouterr().out
    assert command(*given, "--out", second, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert first.read_bytes() == second.read_bytes()
    records = [json.loads(line) for line in first.read_text(encoding="utf-8").splitlines()]
    assert told["questions"] - told["answerable"] == round(told["answerable"] / 3)
    assert told["questions"] == len(records)
    questions = load(f"qa:{first}").questions
    assert command(*given, "--out", tmp_path / "c.csv") == 0
    assert [asked(one) for one in load(f"qa:{tmp_path / 'c.csv'}").questions] == [asked(one) for one in questions]
    assert command(*given, "--out", tmp_path / "c.xlsx") == 2
    capsys.readouterr()
    assert [question.id for question in questions] == [record["id"] for record in records]
    assert len({question.question for question in questions}) == len(questions)
    assert {question.answerable for question in questions} == {True, False}
    assert {record["made"] for record in records} <= {"text", "near miss", "off-topic"}
    assert command(*given, "--out", first) == 2
    assert "--force" in capsys.readouterr().err
    assert command(*given, "--out", first, "--force", "--seed", 3) == 0


def test_a_model_drafts_and_what_does_not_stand_in_the_passage_is_dropped_and_counted(
    collection: Collection, serve: Callable[..., ScriptedServer]
) -> None:
    def reply(body: Any) -> str:
        system, user = (message["content"] for message in body["messages"])
        if "Say whether any of the passages" in system:
            return json.dumps({"answered": "yes" if "Kõpu" in user.splitlines()[0] else "no"})
        if "does not answer" in system:
            about = "Kõpu" if "Kõpu" in user else "Semmering" if "Semmering" in user else "cheese"
            return json.dumps({"question": f"What colour is the {about} thing?"})
        if "1531" in user:
            return json.dumps({"question": "When was the lighthouse of Kõpu begun?", "answer": "1531"})
        if "Ghega" in user:
            return json.dumps({"question": "Who planned the line over the Semmering?", "answer": "Karl von Ghega"})
        return "no JSON at all"

    server = serve(reply)
    model = drafting_model(collection, {"llm.base_url": server.base_url, "llm.model": "scripted"})
    made = draft_questions(collection, number=8, model=model)
    by_kind = {kind: [draft for draft in made.drafts if draft.made == kind] for kind in ("model", "model, near miss")}
    (answered,) = by_kind["model"]
    assert answered.answers == ("1531",)
    (place,) = answered.gold
    text = next(
        collection.document(record.id).text for record in collection.documents() if record.source == place.source
    )
    assert text[place.start : place.end] == "1531"
    assert made.dropped["the answer does not stand in the passage letter by letter"] == 1
    assert made.dropped["the collection may answer a question that should have no answer"] == 1
    assert {draft.category for draft in by_kind["model, near miss"]} == {"drafted, unchecked"}
    assert not any(draft.answerable for draft in by_kind["model, near miss"])
    assert made.to_dict()["model"] == f"scripted at {server.base_url}"


def test_a_collection_without_sentences_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "short.txt").write_text("No sentence\n", encoding="utf-8")
    home = tmp_path / "home"
    assert command("index", tmp_path / "short.txt", "--home", home) == 0
    assert command("eval", "make-questions", "--home", home, "--out", tmp_path / "q.jsonl") == 2
    assert "no questions can be drafted" in capsys.readouterr().err
    assert not (tmp_path / "q.jsonl").exists()
