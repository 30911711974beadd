"""The sources' tables with ours beside them: the page is made from stored rows, and nothing in it is typed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks import machine
from benchmarks.seeds import items, page, rows, stored
from benchmarks.seeds.__main__ import MEASURING
from benchmarks.seeds.hallucinations import Inventing, asked_about, responses
from benchmarks.seeds.rows import Measured, Provenance
from benchmarks.seeds.sections import table
from benchmarks.seeds.sweeps import evaluated, passages

MADE = Provenance("abc1234", "2026-01-31", "a machine, 2 cores")


@pytest.fixture(scope="module")
def written() -> str:
    return page.markdown()


def test_the_page_is_what_the_command_writes_from_the_stored_rows(written: str) -> None:
    assert page.PAGE.read_text(encoding="utf-8") == written, "write it again: python -m benchmarks.seeds"


@pytest.mark.parametrize(
    "title",
    [
        *("Table 1: accuracy of methods", "Table 2, Figures 3 and 4", "Table 3: relevance"),
        *("Figure 1: standard RAG", "Figure 7", "Table 1 and Figure 8", "Figure 9", "Figure 10", "Figure 11"),
        *("The practical example of failure", "Section 2: RAG-Sequence against RAG-Token", "Section 3: Precision@5"),
        *("Figures 1 and 2, Algorithm 1", "Figures 2 to 6", "Table 1: methods", "Table 11", "Figure 3: accuracy"),
        *("Table 2: without one", "Table 3: without one", "Table 4: accuracy", "Table 5: plain RAG", "Table 6: costs"),
    ],
)
def test_each_table_and_figure_has_ours_or_the_reason_why_there_is_none(written: str, title: str) -> None:
    (section,) = [part for part in written.split("\n### ") if part.startswith(title)]
    assert "**Ours.**" in section or "**Not run here.**" in section


def test_each_item_of_the_sources_is_told_of_and_what_it_names_is_there(written: str) -> None:
    every = [item for one in items.ITEMS.values() for item in one]
    assert "## Item by item" in written
    assert len({item.state for item in every}) == 3
    for item in every:
        assert item.told, item.name
        for path in re.findall(r"`((?:tests|benchmarks|packages)/[^`]+)`", item.told):
            assert (machine.ROOT / path).exists(), item.name


def test_nothing_waits_to_be_measured(written: str) -> None:
    assert "not measured yet" not in written.lower()


def test_each_table_of_ours_tells_its_date_commit_and_command(written: str) -> None:
    ours = [part.partition("**Ours.**")[2] for part in written.split("\n### ") if "**Ours.**" in part]
    assert ours
    for part in ours:
        assert "commit" in part or part.startswith(" Not measured yet: ")
        assert "`python -m benchmarks." in part


STORED = [file.stem for file in sorted(rows.FOLDER.glob("*.json"))]


@pytest.mark.parametrize("name", STORED)
def test_stored_rows_are_small_enough_to_be_read_and_can_be_measured_again(name: str) -> None:
    file = rows.FOLDER / f"{name}.json"
    assert name in MEASURING
    assert file.stat().st_size <= rows.LARGEST_BYTES
    found = rows.read(name)
    assert found is not None
    assert bool(found.lines) != bool(found.found)


def test_more_rows_than_can_be_read_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="more than 50000"):
        rows.write(Measured("some", MADE, "", {"rag": {"match": [0.123] * 10_000}}), folder=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_measure_of_a_page_is_read_by_recipe_with_its_number_of_questions(tmp_path: Path) -> None:
    text = "n = 61 questions.\n\n" + table(["recipe", "match, n = 52", "wrong"], [["rag", "0.25 [0.1, 0.4]", "0.4"]])
    (tmp_path / "papers.md").write_text(text, encoding="utf-8")
    match, wrong = (stored.column("papers", name, folder=tmp_path) for name in ("match", "wrong"))
    assert (match.cells, match.questions) == ({"rag": "0.25 [0.1, 0.4]"}, "52")
    assert wrong.questions == "61"
    with pytest.raises(KeyError, match="has no column em"):
        stored.column("papers", "em", folder=tmp_path)


def test_a_run_of_a_page_is_read_with_all_its_sections_and_without_the_other_runs(tmp_path: Path) -> None:
    def section(name: str, recipe: str, value: str) -> str:
        return f"## {name}\n\nn = 9 of 12.\n\n{table(['recipe', 'match'], [[recipe, value]])}\n\n"

    sections = [
        section("nq, answers of reader", "rag", "0.1"),
        section("nq, answers of passage", "crag", "0.2"),
        section("nq-final", "rag", "0.3"),
    ]
    (tmp_path / "nq.md").write_text(f"# NQ\n\n{''.join(sections)}", encoding="utf-8")
    assert stored.column("nq", "match", folder=tmp_path) == stored.Column({"rag": "0.1", "crag": "0.2"}, "9")
    assert stored.column("nq", "match", "nq-final", folder=tmp_path).cells == {"rag": "0.3"}


def test_scores_of_passages_are_kept_in_thousandths_and_come_back_by_question() -> None:
    def row(split: str, *scores: float | None) -> dict[str, object]:
        told = [{"gold": at == 0, "scores": {"local": score}} for at, score in enumerate(scores)]
        return {"split": split, "passages": told}

    kept = passages([row("tune", 0.5, 0.25), row("tune", None), row("train", 0.1), row("final", 0.75)])
    assert json.loads(json.dumps(kept["tune"])) == {"question": [0, 0, 1], "gold": [1, 0, 1], "local": [500, 250, None]}
    first, second = evaluated(kept["tune"])
    assert first["passages"] == [
        {"gold": True, "scores": {"local": 0.5}},
        {"gold": False, "scores": {"local": 0.25}},
    ]
    assert second["passages"][0]["scores"] == {"local": None}
    assert set(kept) == {"tune", "final"}


# --- figure 10: a scripted model that makes answers up ----------------------------------------------------------------


def test_an_answer_is_made_up_where_no_right_one_is_in_it_and_a_refusal_is_none() -> None:
    assert responses([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]) == {"answered": [1, 1, 0], "made up": [0, 1, None]}


@pytest.mark.parametrize(
    ("passage", "reply"),
    [
        ("Ada Moor was a painter from Lund.", "It is painter [1]."),
        ("Ada Moor was born in Lund.", "It is cook [1]."),
    ],
)
def test_the_scripted_model_states_the_answer_if_a_passage_holds_it_and_else_another(
    tmp_path: Path, passage: str, reply: str
) -> None:
    file = tmp_path / "popqa.jsonl"
    asked = (("What was Ada Moor?", "painter"), ("What was Ben Hill?", "cook"))
    lines = [
        {"id": str(at), "question": question, "answers": [answer], "property": "occupation"}
        for at, (question, answer) in enumerate(asked)
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    prompt = f'<evidence number="1" from="page">\n{passage}\n</evidence>\n\nQuestion: What was Ada Moor?'
    body = {"messages": [{"role": "system", "content": "Answer."}, {"role": "user", "content": prompt}]}
    assert Inventing(asked_about(file))(body) == reply
