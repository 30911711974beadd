"""The files of a report: right numbers, safe and self-contained, the same every time."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from thresher.errors import UsageError
from thresher_evals.report.blocks import Number
from thresher_evals.report.data import read_measured
from thresher_evals.report.pages import small_print
from thresher_evals.report.questions import question_lines
from thresher_evals.report.write import Report, write_report
from thresher_evals.rows import Row
from thresher_evals.score import score

Write = Callable[..., Path]
Tables = Mapping[str, list[dict[str, str]]]
Read = Callable[[Path], Tables]


def lines_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def close(text: str, value: float | None) -> bool:
    return text == "" if value is None else float(text) == pytest.approx(value, rel=1e-5)


# --- the numbers ------------------------------------------------------------------------------------------------------


def test_every_number_on_the_page_is_the_one_of_eval_score(report: Report, run: Path, tables_in: Read) -> None:
    counts = "What became of the questions"
    tables = [table for title, table in tables_in(report.pages[0]).items() if "minus" not in title and title != counts]
    shown = 0
    for recipe, told in score(run)["recipes"].items():
        rows = [row for table in tables for row in table if row.get("recipe") == recipe]
        for name, one in told.items():
            cell = next(
                (row[head] for row in rows for head in row if re.fullmatch(rf"{name}(, n = {one['n']})?", head)), None
            )
            if cell is not None and one["value"] is not None:
                assert cell.startswith(Number(one["value"], one["low"], one["high"]).shown), f"{recipe} {name}"
                assert all(part in cell for part in Number(one["value"], one["low"], one["high"]).details)
                shown += 1
    assert shown > 40


def test_every_number_and_its_p_stand_in_the_csv_as_eval_score_has_them(report: Report, run: Path) -> None:
    scored = score(run)
    lines = {(line["recipe"], line["measure"], line["category"]): line for line in lines_of(report.tables[0])}
    for recipe, told in scored["recipes"].items():
        for name, one in told.items():
            if one["value"] is None:
                assert (recipe, name, "") not in lines
                continue
            line = lines[recipe, name, ""]
            assert line["n"] == str(one["n"])
            assert all(close(line[end], one[end]) for end in ("value", "low", "high"))
            against = scored["against"]["recipes"].get(recipe, {}).get(name)
            if against is not None and against["n"] and line["p"]:
                assert close(line["p"], against["p_holm"])
    assert close(lines["crag", "match", "inside"]["value"], scored["categories"]["inside"]["crag"]["match"]["value"])
    assert lines["crag[upper=0.9]", "match", ""]["p"]
    assert not lines["rag", "match", ""]["p"], "the baseline is compared with nothing"


def test_refusals_failures_and_late_questions_are_in_the_outcomes(report: Report, tables_in: Read) -> None:
    table = tables_in(report.pages[0])["What became of the questions"]
    crag = next(row for row in table if row["recipe"] == "crag")
    expected = {"right": "2", "refused rightly": "1", "refused wrongly": "1", "timed out": "1", "failed": "0"}
    assert {name: crag[name] for name in expected} == expected
    assert {name: crag[name] for name in ("n", "wrong", "unreadable", "something late", "degraded")} == {
        "n": "5", "wrong": "0", "unreadable": "0", "something late": "1", "degraded": "4",
    }  # fmt: skip


def test_what_papers_print_stands_apart_and_in_italics(write_run: Write, tmp_path: Path, tables_in: Read) -> None:
    told = write_report([write_run(kind="popqa-longtail")], tmp_path / "out")
    tables = tables_in(told.pages[0])
    claimed = tables["What papers print for this dataset"]
    assert ("ChunkRAG", "*0.649*") in {(row["system"], row["claimed"]) for row in claimed}
    assert not any("*" in cell for row in tables["Answers"] for cell in row.values())
    assert "claimed" not in (told.tables[0]).read_text(encoding="utf-8")
    assert "<i>0.649</i>" in told.html.read_text(encoding="utf-8")


# --- the files --------------------------------------------------------------------------------------------------------


def test_the_page_fetches_nothing_and_shows_answers_as_text(report: Report) -> None:
    html = report.html.read_text(encoding="utf-8")
    names = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert set(re.findall(r"https?://[^\s\"'<>]+", html)) <= names
    assert not re.findall(r"\bsrc=|@import|url\(h", html)
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<title>Numbers &amp; &lt;names&gt;</title>" in html


def test_what_the_page_links_to_is_there(report: Report) -> None:
    for link in re.findall(r'href="([^"#]+)"', report.html.read_text(encoding="utf-8")):
        assert link.startswith("data:") or (report.html.parent / link).is_file(), link
    for link in re.findall(r"\]\(([^)]+)\)", report.markdown.read_text(encoding="utf-8")):
        assert (report.markdown.parent / link).is_file(), link


def test_the_same_folder_gives_the_same_bytes(report: Report, run: Path) -> None:
    again = write_report([run], run.parent / "again", title="Numbers & <names>")
    files = [report.html, report.markdown, *report.pages, *report.tables]
    others = [again.html, again.markdown, *again.pages, *again.tables]
    assert len(files) == 7
    for file, other in zip(files, others, strict=True):
        assert file.read_bytes() == other.read_bytes(), file.name


def test_what_an_earlier_report_left_is_removed(
    write_run: Write, tmp_path: Path, answered: Callable[..., list[Row]]
) -> None:
    out = tmp_path / "out"
    write_report([write_run("one")], out)
    told = write_report([write_run("two", kind="squad", rows={"rag": answered("rag", 3)})], out)
    assert [path.name for path in (out / "datasets").iterdir()] == ["squad-popqa.md"]
    assert {path.name for path in out.glob("*.csv")} == {path.name for path in told.tables}


# --- runs of every kind -----------------------------------------------------------------------------------------------


def test_a_run_of_one_recipe_is_compared_with_nothing(
    write_run: Write, tmp_path: Path, answered: Callable[..., list[Row]], tables_in: Read
) -> None:
    told = write_report([write_run(rows={"rag": answered("rag", 5)})], tmp_path / "out")
    assert [path.name for path in told.tables] == ["measures.csv", "questions.csv"]
    assert not any("minus" in title for title in tables_in(told.pages[0]))


def test_what_an_answer_took_is_left_out_where_the_recipes_were_asked_in_turn(
    write_run: Write, tables_of: Callable[..., Tables]
) -> None:
    alone, in_turn = (write_run(f"{together}", together=together) for together in (False, True))
    costs = [[head.split(",")[0] for head in tables_of(run)["Cost of a question"][0]] for run in (alone, in_turn)]
    assert {"seconds_p50", "seconds_p95", "seconds_mean", "cpu_seconds", "memory_mib", "llm_calls"} <= set(costs[0])
    assert costs[1] == ["recipe", "llm_calls", "prompt_tokens", "completion_tokens"]
    first, second = (read_measured(run, "run") for run in (alone, in_turn))
    assert {"seconds_p50", "seconds_mean"} <= set(first.blocks[0].measures)
    assert not [name for name in second.blocks[0].measures if "seconds" in name]
    assert {line["seconds"] for line in question_lines(second)} == {None}
    assert any("the recipes were asked in turn" in line for line in small_print(second))


def test_a_study_stands_on_a_page_of_its_own(tmp_path: Path, tables_in: Read) -> None:
    study = tmp_path / "growth"
    study.mkdir()
    about = {"title": "How latency grows", "text": ["Each size is a fresh collection."], "note": "n = 20.",
             "plot": {"x": "documents", "y": "ms", "by": "recipe"}}  # fmt: skip
    (study / "about.json").write_text(json.dumps(about), encoding="utf-8")
    (study / "table.csv").write_text("recipe,documents,ms\nrag,10,3.51234\nrag,25,5.2\n", encoding="utf-8")
    told = write_report([study], tmp_path / "out")
    assert [path.name for path in told.pages] == ["How-latency-grows.md"]
    assert tables_in(told.pages[0])["How latency grows"][0] == {"recipe": "rag", "documents": "10", "ms": "3.51"}
    assert "Each size is a fresh collection." in told.pages[0].read_text(encoding="utf-8")
    assert told.html.read_text(encoding="utf-8").count("<svg") == 1


@pytest.mark.parametrize(
    ("about", "table"),
    [("{", "a\n1\n"), ('{"text": []}', "a\n1\n"), ('{"title": "T"}', None),
     ('{"title": "T", "plot": {"x": "a", "y": "b"}}', "a\n1\n"), ('{"title": "T"}', "")],
)  # fmt: skip
def test_a_damaged_study_is_refused(tmp_path: Path, about: str, table: str | None) -> None:
    (tmp_path / "about.json").write_text(about, encoding="utf-8")
    if table is not None:
        (tmp_path / "table.csv").write_text(table, encoding="utf-8")
    with pytest.raises(UsageError, match="holds no study that can be read"):
        write_report([tmp_path], tmp_path / "out")


def test_damaged_ratings_are_told_of(run: Path, tmp_path: Path) -> None:
    damaged = shutil.copytree(run, tmp_path / "damaged")
    (damaged / "ratings").mkdir()
    (damaged / "ratings" / "ratings.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UsageError, match="damaged"):
        write_report([damaged], tmp_path / "out")
