from __future__ import annotations

import shutil
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import lancedb
import pytest

import thresher
from thresher.errors import Degraded, StoreError, UsageError
from thresher_ci.comparison import Kind
from thresher_ci.report import Report
from thresher_ci.run import Job, watched

Make = Callable[..., Job]
LEAVE, HOTEL, ALARM, GALLIUM = range(4)


def kinds(report: Report) -> list[Kind]:
    return [one.kind for one in report.differences]


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_nothing_breaks_where_nothing_changed(job: Make) -> None:
    report = job().run("HEAD")
    assert kinds(report) == ["unchanged"] * 4
    assert not report.failed
    assert report.again == 0


def test_a_deleted_sentence_breaks_its_question(job: Make, handbook: Path) -> None:
    edit(handbook / "travel.md", "A hotel may cost 140 euros a night. ", "")
    report = job().run("HEAD")
    assert kinds(report)[HOTEL] == "broken"
    assert report.differences[HOTEL].old is not None
    assert report.differences[HOTEL].old.sentence == "A hotel may cost 140 euros a night."


def test_a_changed_value_is_contradicted_with_both_sentences(job: Make, handbook: Path) -> None:
    edit(handbook / "leave.md", "25 days", "28 days")
    changed = job().run("HEAD").differences[LEAVE]
    assert changed.kind == "contradicted"
    assert changed.old is not None
    assert changed.new is not None
    assert ("25 days" in changed.old.sentence, "28 days" in changed.new.sentence) == (True, True)
    assert changed.new.source == "leave.md"


def test_a_renamed_file_moves_its_answers_and_breaks_none(job: Make, handbook: Path) -> None:
    (handbook / "office.md").rename(handbook / "rooms.md")
    report = job().run("HEAD")
    assert kinds(report)[ALARM] == "moved"
    assert not report.failed
    new = report.differences[ALARM].new
    assert new is not None
    assert new.source == "rooms.md"


def test_a_line_above_moves_nothing(job: Make, handbook: Path) -> None:
    edit(handbook / "office.md", "# Office\n", "# Office\n\nPlease read this page once.\n")
    assert kinds(job().run("HEAD")) == ["unchanged"] * 4


def test_what_was_not_answered_and_is_now_is_newly_answered(job: Make, handbook: Path) -> None:
    file = handbook.parent / "knowledge.yaml"
    edit(
        file,
        "boiling point of gallium?\n    expect: refused",
        "phone number of the reception?\n    expect: {value: 4711}",
    )
    edit(handbook / "office.md", "Visitors", "The phone number of the reception is 4711. Visitors")
    assert kinds(job().run("HEAD"))[GALLIUM] == "newly answered"


def test_a_question_that_was_never_right_does_not_break(job: Make, handbook: Path) -> None:
    edit(handbook.parent / "knowledge.yaml", "{value: 140 euros}", "{value: 150 euros}")
    report = job().run("HEAD")
    assert kinds(report)[HOTEL] == "unchanged"
    assert not report.failed
    assert "1 of them not as expected before either" in report.summary
    assert kinds(job().run())[HOTEL] == "broken"


def test_a_source_that_is_gone_and_a_quote_that_stands_nowhere_are_named(job: Make, handbook: Path) -> None:
    (handbook / "office.md").unlink()
    edit(handbook.parent / "knowledge.yaml", "25 days of leave a year.", "fifty free afternoons.")
    report = job().run()
    assert "fifty free afternoons" in report.differences[LEAVE].why
    assert report.differences[ALARM].kind == "broken"
    assert "office.md is gone" in report.differences[ALARM].why
    assert report.differences[LEAVE].question.line == 2


def test_a_run_is_compared_with_the_last_one(job: Make, handbook: Path) -> None:
    with pytest.raises(UsageError, match="no run was recorded yet"):
        job().run("last")
    job().run()
    (handbook / "travel.md").unlink()
    assert kinds(job().run("last"))[HOTEL] == "broken"


def test_a_run_is_compared_with_another_home(job: Make, handbook: Path, tmp_path: Path) -> None:
    with thresher.open(tmp_path / "older") as older:
        older.add(handbook)
    edit(handbook / "leave.md", "25 days", "28 days")
    assert kinds(job().run(str(tmp_path / "older"))) == ["contradicted", "unchanged", "unchanged", "unchanged"]


def test_a_home_of_another_version_is_refused_and_nothing_is_recorded(
    job: Make, handbook: Path, tmp_path: Path
) -> None:
    with thresher.open(tmp_path / "older") as older:
        older.add(handbook)
    database = lancedb.connect(tmp_path / "older" / "collections" / "default" / "lance")
    for name in database.list_tables().tables:
        table = database.open_table(name)
        if "packed" in table.schema.names:
            table.drop_columns(["packed"])
    with pytest.raises(StoreError, match="another version of Thresher"):
        job().run(str(tmp_path / "older"))
    assert list((tmp_path / "home" / "ci" / "runs").iterdir()) == []


def test_a_document_that_cannot_be_read_is_named(job: Make, handbook: Path) -> None:
    (handbook / "broken.pdf").write_bytes(b"%PDF-1.7 cut short")
    lines: list[str] = []
    job(tell=lines.append).run()
    assert [line.startswith("not read: ") and "broken.pdf" in line for line in lines] == [True]


def test_a_collection_is_asked_as_it_is(job: Make, handbook: Path, tmp_path: Path) -> None:
    with thresher.open(tmp_path / "home") as collection:
        collection.add(handbook)
    assert kinds(job(documents=None).run()) == ["unchanged"] * 4


def test_a_ref_that_does_not_exist_is_refused_and_nothing_is_recorded(job: Make, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="against` nowhere: is no git ref here, no home and no recorded run"):
        job().run("nowhere")
    assert list((tmp_path / "home" / "ci" / "runs").iterdir()) == []


def test_a_run_of_another_version_is_refused_by_name(job: Make, tmp_path: Path) -> None:
    runs = tmp_path / "home" / "ci" / "runs"
    runs.mkdir(parents=True)
    (runs / "last.json").write_text('{"format": 99}', encoding="utf-8")
    with pytest.raises(StoreError, match="recorded by another version"):
        job().run("last")


def test_a_run_that_ends_in_the_middle_records_nothing(job: Make, handbook: Path, tmp_path: Path) -> None:
    job().run()
    runs = tmp_path / "home" / "ci" / "runs"
    before = {file.name: file.read_bytes() for file in runs.iterdir()}
    edit(handbook / "leave.md", "25 days", "28 days")
    with pytest.raises(Degraded):  # at the first question, since no chat model is configured
        job(strict=True).run()
    assert {file.name: file.read_bytes() for file in runs.iterdir()} == before


def test_an_unknown_recipe_is_refused_with_its_line(job: Make, handbook: Path) -> None:
    edit(handbook.parent / "knowledge.yaml", "asked_by: Mara", "recipe: corective")
    with pytest.raises(UsageError, match=r"knowledge.yaml, line 2: .*did you mean 'corrective'"):
        job().run()


def test_it_runs_again_when_a_document_changes(job: Make, handbook: Path) -> None:
    def change() -> None:
        shutil.rmtree(handbook)
        handbook.mkdir()
        (handbook / "leave.md").write_text("Nothing is known.\n", encoding="utf-8")

    first, second = islice(watched(job(), "", wait=change), 2)
    assert (first.failed, second.failed) == (False, True)


def test_watching_goes_on_after_a_file_was_wrong_for_a_moment(job: Make, handbook: Path) -> None:
    file, told = handbook.parent / "knowledge.yaml", list[str]()
    right = file.read_text(encoding="utf-8")
    states = iter([f"{right}  - question:\n", f"{right}\n"])

    def change() -> None:
        file.write_text(next(states), encoding="utf-8")

    first, second = islice(watched(job(tell=told.append), "", wait=change), 2)
    assert (first.failed, second.failed) == (False, False)
    assert len(told) == 1
    assert '"question" must be a text' in told[0] or '"expect" is missing' in told[0]
    file.write_text("questions: []", encoding="utf-8")
    with pytest.raises(UsageError, match="one question at least"):
        next(watched(job(), "", wait=change))


def test_a_source_that_is_gone_is_named_where_its_words_moved(job: Make, handbook: Path) -> None:
    (handbook / "travel.md").rename(handbook / "trips.md")
    edit(
        handbook.parent / "knowledge.yaml",
        "{value: 140 euros}",
        "{source: travel.md, quote: A hotel may cost 140 euros}",
    )
    assert job().run().of("moved")[0].why == "was expected in travel.md; travel.md is gone"
