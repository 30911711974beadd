"""The files of a report: right numbers, safe and self-contained, the same every time."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from thresher.cli.app import main
from thresher.errors import UnknownSetting, UsageError
from thresher_evals.report.blocks import Measured
from thresher_evals.report.data import read_measured
from thresher_evals.report.plots import render
from thresher_evals.report.run import warnings
from thresher_evals.report.write import Report, sections, slug, unique, write_report
from thresher_evals.rows import Row
from thresher_evals.score import score

Write = Callable[..., Path]


def titles(directory: Path) -> list[str]:
    """Of the sections of a run, without drawing anything."""
    return [one.title for one in sections(read_measured(directory, "run"))]


def test_every_number_in_the_markdown_is_the_one_of_eval_score(report: Report, run: Path) -> None:
    text = report.markdown.read_text(encoding="utf-8")
    for recipe, told in score(run)["recipes"].items():
        for name in ("match", "em", "f1", "words_median", "abstained", "verdict_accuracy", "auroc"):
            if name in told and told[name]["value"] is not None:
                lines = [line for line in text.splitlines() if line.startswith(f"| {recipe} |")]
                shown = str(Measured.of(told[name]))
                assert any(shown in line for line in lines), f"{recipe} {name} {shown}"


def test_differences_are_those_of_eval_score(report: Report, run: Path) -> None:
    text = report.markdown.read_text(encoding="utf-8")
    told = score(run)["against"]["recipes"]["crag[upper=0.9]"]["f1"]
    line = next(line for line in text.splitlines() if line.startswith("| crag[upper=0.9] | f1 |"))
    assert str(Measured(told["difference"], told["low"], told["high"])) in line
    assert f"| {told['better']} | {told['worse']} | {told['n']} |" in line


def test_the_page_fetches_nothing_and_shows_answers_as_text(report: Report) -> None:
    html = report.html.read_text(encoding="utf-8")
    names = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert set(re.findall(r"https?://[^\s\"'<>]+", html)) <= names
    assert not re.findall(r"\bsrc=", html)
    assert all(link.startswith(("#", "data:")) for link in re.findall(r'href="([^"]*)"', html))
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<title>Numbers &amp; &lt;names&gt;</title>" in html


def test_markdown_shows_answers_as_text_too(report: Report) -> None:
    text = report.markdown.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "Ben Hill \\| \\*chef\\* &lt;script>" in text


def test_the_same_folder_gives_the_same_bytes(report: Report, run: Path, tmp_path: Path) -> None:
    write_report([run], tmp_path, title="Numbers & <names>", full_changes=True)
    files = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    assert len(files) == len(report.figures) + 3
    for file in files:
        assert (tmp_path / file).read_bytes() == (report.html.parent / file).read_bytes(), file


def test_a_sample_is_announced_at_the_top(report: Report) -> None:
    for path in (report.html, report.markdown):
        text = path.read_text(encoding="utf-8")
        assert "--sample 5: a smoke run, not evidence. n = 5." in text[: text.index("What was run")]


def test_a_sample_as_large_as_the_dataset_is_all_of_it(run: Path, tmp_path: Path) -> None:
    whole = shutil.copytree(run, tmp_path / "whole")
    described = json.loads((whole / "run.json").read_text(encoding="utf-8"))
    described["dataset"]["available"] = described["dataset"]["sample"]
    (whole / "run.json").write_text(json.dumps(described), encoding="utf-8")
    said = warnings(read_measured(whole, "whole"))
    assert not any("sample" in one for one in said)
    assert any("all the questions of the dataset, and few" in one for one in said)


def test_every_figure_of_few_questions_says_how_few(report: Report) -> None:
    assert report.figures
    for path in report.figures:
        drawn = path.read_text(encoding="utf-8")
        claimed_only = "claimed-ablations" in path.name
        assert claimed_only or re.search(r"n = \d+: too few to conclude from", drawn), path.name


def test_ids_in_the_page_occur_once(report: Report) -> None:
    found = re.findall(r'\bid="([^"]+)"', report.html.read_text(encoding="utf-8"))
    assert len(found) == len(set(found))


def test_refusals_failures_and_late_questions_are_in_the_outcomes(report: Report) -> None:
    text = report.markdown.read_text(encoding="utf-8")
    heading = next(line for line in text.splitlines() if line.startswith("| recipe | n | right"))
    line = next(line for line in text.splitlines()[text.splitlines().index(heading) :] if line.startswith("| crag |"))
    counts = dict(zip(heading.strip("| ").split(" | "), line.strip("| ").split(" | "), strict=True))
    expected = {"right": "2", "refused rightly": "1", "refused wrongly": "1", "failed": "1"}
    assert {name: counts[name] for name in expected} == expected
    assert (counts["n"], counts["late"], counts["degraded"]) == ("5", "1", "4")


def test_gains_and_losses_have_their_traces_and_are_all_in_the_file(report: Report) -> None:
    html = report.html.read_text(encoding="utf-8")
    assert "<code>thresher explain trace-crag-1</code>" in html
    lines = [
        json.loads(line) for line in (report.html.parent / "changes/run.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    told = {(line["recipe"], line["id"]): line["gained"] for line in lines}
    assert told == {
        ("crag", "q2"): True,
        ("crag", "q4"): True,
        ("crag[upper=0.9]", "q1"): False,
        ("crag[upper=0.9]", "q2"): True,
        ("crag[upper=0.9]", "q3"): True,
        ("crag[upper=0.9]", "q4"): True,
    }


def test_recipes_of_different_generators_are_never_compared(write_run: Write) -> None:
    told = titles(write_run(generators={"rag": "model-a", "crag": "model-b", "crag[upper=0.9]": "model-b"}))
    assert not any("Differences from rag" in title for title in told)
    assert "Ablations of crag (model-b)" in told
    assert {"The recipes compared (model-a)", "The recipes compared (model-b)"} <= set(told)


def test_printed_numbers_are_drawn_hollow_where_the_dataset_is_theirs(write_run: Write) -> None:
    (section,) = [
        one for one in sections(read_measured(write_run(kind="popqa-longtail"), "run")) if "compared" in one.title
    ]
    assert "claimed, not measured here, other generator" in section.text[0]
    assert not any("ChunkRAG" in str(row) or "0.649" in str(row) for table in section.tables for row in table.rows)
    drawn = render(next(figure for figure in section.figures if figure.name == "run-answers"))
    assert "ChunkRAG (SelfRAG-LLaMA2-7b; claimed)" in drawn
    assert len(re.findall(r"fill: none; stroke-dasharray", drawn)) == 9
    assert "0.649 claimed" in drawn


def test_other_datasets_have_no_printed_numbers_beside_theirs(report: Report) -> None:
    drawn = next(path for path in report.figures if path.name == "run-answers.svg").read_text(encoding="utf-8")
    assert "claimed" not in drawn


def test_a_search_run_tells_what_moved(write_run: Write, ranked: Mapping[str, list[Row]]) -> None:
    run = read_measured(write_run("found", kind="beir", rows=ranked, task="search"), "run")
    folded = {one.title: one.folded for one in sections(run) if one.folded}
    assert list(folded) == [
        "What hybrid gained against rag: 1 (all shown)",
        "What hybrid lost against rag: 1 (all shown)",
    ]
    (lost,) = folded["What hybrid lost against rag: 1 (all shown)"]
    assert ("hybrid found", "x; y") in lost.facts


def test_what_an_answer_took_is_left_out_where_the_recipes_were_asked_in_turn(write_run: Write) -> None:
    alone, in_turn = (
        sections(read_measured(write_run(name, kind="popqa-longtail", together=together), "run"))
        for name, together in (("alone", False), ("in-turn", True))
    )
    of_each = [{one.title: one for one in told} for told in (alone, in_turn)]
    timed, told = (of["What it costs"] for of in of_each)
    assert {"seconds_p50", "seconds_p95", "cpu_seconds", "memory_mib"} <= set(timed.tables[0].columns)
    assert "run-claimed-seconds" in {figure.name for figure in timed.figures}
    assert "the recipes were asked in turn" in told.text[0]
    (table,) = told.tables
    assert {"llm_calls", "completion_tokens"} <= set(table.columns)
    assert "seconds" not in table.note
    cells = [str(column) for one in of_each[1].values() for shown in one.tables for column in shown.columns]
    assert not [cell for cell in cells if "seconds" in cell or "memory" in cell]
    assert not [figure.name for one in of_each[1].values() for figure in one.figures if "seconds" in figure.name]
    head = of_each[1]["What was run"]
    assert ["asked", "question by question, every recipe in turn"] in [list(row) for row in head.tables[0].rows]
    assert "--together" in head.text[-1]
    assert "--together" not in of_each[0]["What was run"].text[-1]


def test_the_scores_of_recipes_asked_in_turn_are_printed_without_what_they_took(
    write_run: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = []
    for name, together in (("alone", False), ("in-turn", True)):
        with pytest.raises(SystemExit):
            main(["eval", "score", str(write_run(name, together=together))])
        printed.append(capsys.readouterr().out)
    measures = [{line.split("\t")[0] for line in text.splitlines()} for text in printed]
    assert measures[0] - measures[1] == {"seconds_p50", "seconds_p95", "cpu_seconds", "memory_mib"}
    assert "the recipes were asked in turn" in printed[1]


def test_a_baseline_no_run_has_is_refused(write_run: Write, tmp_path: Path) -> None:
    with pytest.raises(UnknownSetting, match="grag"):
        write_report([write_run()], tmp_path / "out", baseline="grag")


def test_a_folder_of_neither_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"run\.json is missing"):
        write_report([tmp_path], tmp_path / "out")


def test_later_folders_of_one_name_have_a_number() -> None:
    assert unique([slug("a run"), slug("a-run"), slug("2")]) == ["a-run", "a-run-2", "run-2"]


def test_the_command_tells_what_it_wrote_as_json(
    write_run: Write, ranked: Mapping[str, list[Row]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = write_run("found", kind="beir", rows=ranked, task="search")
    with pytest.raises(SystemExit) as stopped:
        main(["eval", "report", str(directory), "--out", str(tmp_path / "out"), "--title", "Found", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert not stopped.value.code
    assert set(told) == {"html", "markdown", "sections", "figures"}
    assert Path(told["html"]).read_text(encoding="utf-8").count("<h1>Found</h1>") == 1
    assert all(Path(path).is_file() for path in told["figures"])
