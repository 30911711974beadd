"""Every study, from the command to what its folder says, over three small files."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable, Iterator, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import thresher
from benchmarks.studies.command import HELP, studies
from benchmarks.studies.crag_actions import evidence
from benchmarks.studies.study import (
    Findings,
    Materials,
    Row,
    Study,
    conduct,
    read_study,
    split_names,
    split_numbers,
)
from thresher.cli.app import main
from thresher.errors import UsageError
from thresher_evals.cli import Study as StudyCommand
from thresher_evals.datasets.registry import load

QUESTIONS = (
    ("q1", "When was the Kõpu lighthouse built?", "1531", "lighthouse.md"),
    ("q2", "Who designed the Semmering railway?", "Carl von Ghega", "railway.txt"),
)


@pytest.fixture(scope="module")
def cut(notes: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose collection is cut for the recipes that studies use."""
    home = tmp_path_factory.mktemp("cut")
    with thresher.open(home) as collection:
        collection.add(notes, recipe=["rag", "chunkrag", "ecrag", "corrective"])
    return home


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Two questions with CRAG's kind of contexts."""
    path = tmp_path / "questions.jsonl"
    lines = [
        {
            "id": id_,
            "question": question,
            "answers": [answer],
            "gold_ids": [gold],
            "internal": f"{answer} is the answer to it. It is in {gold}.",
            "web": "Nothing to be found.",
            "combined": f"Knowledge1: {answer} is the answer to it. Knowledge2: Nothing to be found.",
        }
        for id_, question, answer, gold in QUESTIONS
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def study(kind: str, out: Path, capsys: pytest.CaptureFixture[str], *options: object) -> tuple[int, Any]:
    """Run the command with --json; its exit code and document (or the error line)."""
    with pytest.raises(SystemExit) as ended:
        main(["eval", "study", kind, "--out", str(out), "--json", *map(str, options)])
    told = capsys.readouterr()
    code = int(ended.value.code or 0)
    return code, json.loads(told.out) if told.out else told.err


def tables(directory: Path) -> dict[str, list[dict[str, str]]]:
    """The tables that about.json names, by their files without endings."""
    found = {}
    for one in json.loads((directory / "about.json").read_text(encoding="utf-8"))["tables"]:
        with (directory / one["file"]).open(encoding="utf-8", newline="") as stream:
            found[Path(one["file"]).stem] = list(csv.DictReader(stream))
    return found


def rows_of(directory: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (directory / "rows.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_help_lists_every_kind() -> None:
    assert [line.split()[0] for line in HELP.splitlines() if line.startswith("  ")] == list(studies())


def test_redundancy_counts_what_each_threshold_removes(
    cut: Path, questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, done = study("redundancy", tmp_path / "out", capsys, "--home", cut, "--questions", questions)
    assert (code, done["measured"], done["skipped"]) == (0, 2, 0)
    for row in rows_of(tmp_path / "out"):
        embedding = [one for one in row["sweep"] if one["vectors"] == "embedding"]
        removed = [one["removed"] for one in embedding]
        assert removed == sorted(removed, reverse=True)
        assert all(0 <= one["removed"] < one["total"] for one in row["sweep"])
    assert done["section"]["tables"][0]["title"] == "Redundancy removed, n = 2"
    first, *_ = tables(tmp_path / "out")["removed"]
    assert (first["vectors"], first["threshold"]) == ("embedding", "0.5")
    assert float(first["percent a question low"]) <= float(first["percent a question"])


def test_relevance_grades_every_side_by_the_same_judge(
    cut: Path, questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    code, done = study("relevance", out, capsys, "--home", cut, "--questions", questions, "--set", "judges=local")
    assert code == 0
    sides = {"rag", "chunkrag", "chunkrag, unfiltered", "corrective", "corrective, unfiltered"}
    for row in rows_of(out):
        assert set(row["grades"]) == {"local"}
        assert set(row["grades"]["local"]) == sides
    assert len(done["section"]["tables"][1]["rows"]) == len(tables(out)["differences"]) == 6


def labels_and_distances(row: dict[str, Any]) -> bool:
    """Whether a row of `retrieved` has subchunks labelled after their chunk, and distances that are in order."""
    distances = [chunk["distance"] for chunk in row["chunks"]]
    below = [(chunk["label"], one) for chunk in row["chunks"] for one in chunk["subchunks"]]
    named = all(one["label"].startswith(f"{label}-Sub") for label, one in below)
    return named and distances == sorted(distances) and all(0 <= one["distance"] <= 2 for _, one in below)


def one_gold_title_and_every_score(row: dict[str, Any]) -> bool:
    """Whether a row of `evaluator` has one passage of the gold page, and every judge's scores."""
    scores = {"cosine", "BM25 share", "KDM confidence", "local", "trained"}
    passages = row["passages"]
    return [one["gold"] for one in passages].count(True) == 1 and all(set(one["scores"]) == scores for one in passages)


@pytest.mark.parametrize(
    ("kind", "holds", "told"),
    [
        ("retrieved", labels_and_distances, ["ranks", "question-1", "question-2"]),
        ("evaluator", one_gold_title_and_every_score, ["judges", "published"]),
    ],
)
def test_every_row_of_a_study_of_a_collection_holds_what_is_told_of_it(
    kind: str,
    holds: Callable[[dict[str, Any]], bool],
    told: list[str],
    cut: Path,
    questions: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    assert study(kind, out, capsys, "--home", cut, "--questions", questions)[0] == 0
    assert [holds(row) for row in rows_of(out)] == [True, True]
    assert list(tables(out)) == told


def test_actions_reads_each_context_and_pastes_it_beside(
    questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    code, done = study("actions", out, capsys, "--questions", questions)
    assert code == 0
    for row in rows_of(out):
        assert row["actions"]["internal"]["context_match"] is True
        assert row["actions"]["web"]["context_match"] is False
        assert row["actions"]["web"]["abstained"] is True
    pasted = {row[""]: row["match"] for row in tables(out)["ceiling"]}
    assert pasted["paste combined"] == "1"
    assert done["section"]["tables"][1]["rows"][2][1].startswith("1 [")


def test_growth_counts_distinct_documents_only(
    questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = tmp_path / "corpus.jsonl"
    texts = ["One text.", "Another text.", "One text."]
    lines = [json.dumps({"_id": str(number), "title": "", "text": text}) for number, text in enumerate(texts)]
    corpus.write_text("\n".join(lines) + "\n", encoding="utf-8")
    settings = [f"documents={corpus}", "sizes=2,50", "rounds=1", "compared=rag"]
    options = [word for setting in settings for word in ("--set", setting)]
    out = tmp_path / "out"
    code, done = study("growth", out, capsys, "--questions", questions, *options)
    assert code == 0
    (row,) = rows_of(out)
    assert row["index"]["documents"] == 2
    assert len(row["ask"]["retrieved"]) == 2
    assert all(0 < one <= other for one, other in zip(row["ask"]["retrieved"], row["ask"]["judged"], strict=True))
    assert any("too few to tell curves apart" in paragraph for paragraph in done["section"]["text"])
    assert [row["documents"] for row in tables(out)["costs"]] == ["2"]


# --- the folder -------------------------------------------------------------------------------------------------------


def test_a_killed_study_goes_on_where_it_was(
    cut: Path, questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    options = ("--home", cut, "--questions", questions)
    study("retrieved", out, capsys, *options)
    rows = out / "rows.jsonl"
    whole = rows.read_bytes()
    rows.write_bytes(whole[: whole.index(b"\n") + 20])
    assert study("retrieved", out, capsys, *options)[0] == 2
    code, done = study("retrieved", out, capsys, *options, "--resume")
    assert (code, done["measured"], done["skipped"]) == (0, 1, 1)
    assert rows.read_bytes().startswith(whole[: whole.index(b"\n") + 1])
    again, before = rows_of(out), [json.loads(line) for line in whole.splitlines()]
    assert [row["id"] for row in again] == [row["id"] for row in before]
    assert [row["verdict"] for row in again] == [row["verdict"] for row in before]


def test_a_study_that_fails_before_its_first_row_is_not_in_the_way_of_the_next_try(
    cut: Path, questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    options = ("--home", cut, "--questions", questions)
    code, error = study("relevance", out, capsys, *options, "--set", "judges=llm")
    assert (code, "no chat model is configured" in error) == (2, True)
    assert not out.exists()
    code, done = study("relevance", out, capsys, *options, "--set", "judges=local")
    assert (code, done["measured"]) == (0, 2)


def made_up(measure: Callable[[Materials, Set[str]], Iterator[Row]]) -> Study:
    """A study without settings and without a collection, which says how many rows it has."""
    return replace(
        studies()["actions"], measure=measure, tell=lambda rows, settings, seed: Findings((f"{len(rows)} rows",), ())
    )


@pytest.mark.parametrize("rows", [0, 1])
def test_a_study_that_fails_leaves_its_rows_or_nothing(questions: Path, tmp_path: Path, rows: int) -> None:
    def measure(materials: Materials, done: Set[str]) -> Iterator[Row]:
        yield from [row for row in [{"id": "q1"}][:rows] if row["id"] not in done]
        raise UsageError("the model is gone")

    made, out = made_up(measure), tmp_path / "out"
    materials = made.prepare(load(f"qa:{questions}"), {}, home=tmp_path, collection=None, seed=0)
    for resume in (False, True):
        with pytest.raises(UsageError, match="the model is gone"):
            conduct(made, materials, out, resume=resume)
        assert out.exists() == bool(rows)
    assert not rows or [row["id"] for row in rows_of(out)] == ["q1"]
    assert not rows or "1 rows" in (out / "about.json").read_text(encoding="utf-8")


def test_another_study_is_not_mixed_in(
    cut: Path, questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    options = ("--home", cut, "--questions", questions, "--resume")
    study("retrieved", out, capsys, *options)
    code, error = study("retrieved", out, capsys, *options, "--set", "fine=3")
    assert code == 2
    assert "ecrag: fine (was 10, now 3)" in error
    assert study("evaluator", out, capsys, *options)[0] == 2


def test_a_study_says_what_it_was_and_hides_keys(
    cut: Path, questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    options = ("--home", cut, "--questions", questions, "--set", "llm.api_key=hush", "--seed", 3)
    assert study("retrieved", out, capsys, *options)[0] == 0
    text = (out / "study.json").read_text(encoding="utf-8")
    told = json.loads(text)
    assert (told["kind"], told["seed"], told["data"]["documents"]) == ("retrieved", 3, 3)
    assert set(told) == {
        "kind", "title", "version", "settings", "data", "seed", "machine", "started", "command",
    }  # fmt: skip
    assert "hush" not in text


def test_a_folder_is_a_study_when_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no study in it"):
        read_study(tmp_path)
    shutil.copy(__file__, tmp_path / "study.json")
    with pytest.raises(UsageError, match=r"study\.json is missing or damaged"):
        read_study(tmp_path)


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("redundancies", [], "did you mean 'redundancy'?"),
        ("retrieved", [], "give --questions or --dataset"),
        ("retrieved", ["--questions", "FILE", "--set", "limit=none"], "setting limit"),
        ("retrieved", ["--questions", "FILE", "--set", "depht=3"], "unknown setting"),
        ("actions", ["--questions", "FILE", "--collection", "notes"], "makes its own collections"),
        ("growth", ["--questions", "FILE"], "documents=PATH"),
    ],
)
def test_a_wrong_order_says_what_to_do(
    kind: str, options: list[str], words: str, questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [str(questions) if option == "FILE" else option for option in options]
    code, error = study(kind, tmp_path / "out", capsys, *given)
    assert code == 2
    assert words in error
    assert not (tmp_path / "out").exists()


def test_without_the_benchmarks_the_command_says_how_to_get_them() -> None:
    with pytest.raises(UsageError, match="make dev"):
        StudyCommand(name="a study that nobody brings").make_context("study", [])


# --- words of the settings --------------------------------------------------------------------------------------------


def test_a_comma_in_brackets_belongs_to_the_recipe() -> None:
    assert split_names("rag, rag[chunk.size=300,chunk.overlap=50],rag") == (
        "rag",
        "rag[chunk.size=300,chunk.overlap=50]",
    )


def test_sizes_are_sorted_and_unique() -> None:
    assert split_numbers("50,10, 50", subject="sizes") == (10, 50)


@pytest.mark.parametrize("text", ["", "ten", "0", "-5", "1.5"])
def test_what_is_no_list_of_numbers_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a list of numbers"):
        split_numbers(text, subject="sizes")


def test_the_labels_of_a_combined_context_are_not_evidence() -> None:
    pieces = evidence("combined", "Knowledge1: Ada was a painter.  Knowledge2: She was a Dane.")
    assert [piece.text for piece in pieces] == ["Ada was a painter.", "She was a Dane."]
    assert len({piece.hit.chunk.document_id for piece in pieces}) == 2
    assert evidence("web", "  ") == []
