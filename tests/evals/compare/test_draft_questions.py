"""Drafted questions are checked against the text they are of, and read back as a dataset."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from thresher.cli.app import main
from thresher.collection import Collection
from thresher.errors import UnknownSetting
from thresher.testing.llm_server import ScriptedServer
from thresher.types import Chunk, Document
from thresher_evals.compare.draft_questions import draft_questions, drafting_model
from thresher_evals.compare.drafters import Draft, cloze, passages, sentences, title_questions
from thresher_evals.datasets.registry import load

BRIDGE = """# The Stone Bridge

## Building costs

The building costs of the bridge were paid by the town of Arnstadt and never returned by anybody.
The old bridge over the river was opened to carts and walkers in 1731, after a long quarrel.
It was opened again in 1905. The bridge stands on exactly 14 arches that were cut from red sandstone.
"""


def document(text: str = BRIDGE, title: str = "The Stone Bridge") -> Document:
    return Document("d1", "bridge.md", title, text, "markdown")


def command(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


def test_a_sentence_is_asked_for_its_year_its_number_and_its_name() -> None:
    made = {}
    for sentence in sentences(document()):
        draft = cloze(sentence, random.Random(0))
        if draft is not None:
            made[draft.answers[0]] = draft
    assert made["1731"].question == (
        "In “The Stone Bridge”: the old bridge over the river was opened to carts and walkers in which year, "
        "after a long quarrel?"
    )
    assert made["14"].question == (
        "In “The Stone Bridge”: the bridge stands on exactly how many arches that were cut from red sandstone?"
    )
    assert "paid by the town of who or what and never" in made["Arnstadt"].question
    for draft in made.values():
        (place,) = draft.gold
        assert BRIDGE[place.start : place.end] == draft.stands_in
        assert draft.answers[0] in draft.stands_in
        assert not draft.tells_its_answer


@pytest.mark.parametrize(
    "sentence",
    [
        "It was opened again to carts and all walkers in 1905, after repairs.",
        "The results of the whole experiment are shown again in Table 12 and nowhere else.",
        "The proof follows from the earlier work of Smith et al. published in 1905, as said.",
        "In 1731 the bridge was opened to carts and walkers, and again repaired in 1731, they say.",
    ],
)
def test_a_sentence_that_leans_on_others_or_tells_its_answer_is_not_asked(
    sentence: str, make_chunk: Callable[..., Chunk]
) -> None:
    assert cloze(make_chunk(text=sentence), random.Random(0)) is None


def test_a_title_question_needs_a_sentence_that_names_its_subject() -> None:
    (draft,) = title_questions(document(), sentences(document()), random.Random(0))
    assert draft.question == "What does “The Stone Bridge” say about Building costs?"
    assert draft.stands_in.startswith("The building costs of the bridge were paid")
    assert draft.answers == ()
    elsewhere = document(BRIDGE.replace("The building costs of the bridge", "All that was needed for it"))
    assert list(title_questions(elsewhere, sentences(elsewhere), random.Random(0))) == []


def test_passages_are_spans_of_the_document_and_hold_every_sentence() -> None:
    long = document(BRIDGE * 12)
    found = sentences(long)
    cut = list(passages(long, found))
    assert len(cut) > 1
    for passage in cut:
        assert long.text[passage.start : passage.end] == passage.text
        assert len(passage.text) <= 1500
    assert all(any(passage.start <= one.start and one.end <= passage.end for passage in cut) for one in found)


def test_an_answer_in_the_question_is_noticed_whatever_its_case() -> None:
    assert Draft("Who built the Long Bridge?", "cloze", "cloze", ("the long bridge",)).tells_its_answer
    assert not Draft("Who built the Long Bridge?", "cloze", "cloze", ("Longest",)).tells_its_answer


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
    assert told["made"]["off-topic"] == 3
    assert told["questions"] == len(records)
    questions = load(f"qa:{first}").questions
    assert [question.id for question in questions] == [record["id"] for record in records]
    assert len({question.question for question in questions}) == len(questions)
    assert {question.answerable for question in questions} == {True, False}
    assert {record["made"] for record in records} <= {"cloze", "title", "off-topic"}
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


def test_an_unknown_setting_is_refused_before_anything_is_drafted(tmp_path: Path) -> None:
    with pytest.raises(UnknownSetting, match="lllm"):
        drafting_model(Collection(tmp_path, "default"), {"lllm.model": "m"})
