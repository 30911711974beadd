"""Who is better than whom: the block, the sentences and the tables that say so, on a run written by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from matplotlib.axes import Axes

from thresher_evals.dataset import Question
from thresher_evals.report.blocks import Figure, Measured, Table
from thresher_evals.report.comparison import rival_section, verdict
from thresher_evals.report.cost import degraded_part, grouped, share_of
from thresher_evals.report.data import Run, read_measured
from thresher_evals.report.plots import TALLEST, bars, canvas_of, compact, render
from thresher_evals.report.render import without_zeros
from thresher_evals.report.run import overview, sentences
from thresher_evals.report.write import sections, write_report
from thresher_evals.rows import Row, read_reply

Write = Callable[..., Path]
ASKED = 20
FAIR = "crag[judge=calibrated,upper=0.665,lower=0.283]"


def make_rows(recipe: str, right: int, *, generator: str = "model-a", refused: bool = False) -> list[Row]:
    """`right` of the twenty questions answered rightly, the first ones."""

    def answer(place: int) -> dict[str, object]:
        usage = {"llm_calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "web_requests": 0}
        said = f"Person {place}" if place < right else "Nobody"
        return {"text": "I cannot say." if refused else said, "abstained": refused, "citations": [], "steps": []} | {
            "verdict": None, "confidence": None, "usage": usage, "trace": f"trace-{place}",
        }  # fmt: skip

    return [
        Row(
            Question(f"q{place}", f"Who is {place}?", (f"Person {place}",)),
            recipe,
            "c0ffee",
            0.1,
            reply=read_reply(answer(place)),
            generator="" if refused else generator,
        )
        for place in range(ASKED)
    ]


def runs_of(write_run: Write, name: str = "run", **right: int) -> Run:
    rows = {recipe: make_rows(recipe, count) for recipe, count in right.items()}
    return read_measured(write_run(name, rows=rows), name)


def table_of(tables: Sequence[Table], title: str) -> list[dict[str, object]]:
    table = next(table for table in tables if table.title == title)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


# --- generators -------------------------------------------------------------------------------------------------------


def test_a_recipe_that_only_refuses_stands_with_the_one_generator_there_is(write_run: Write) -> None:
    rows = {"no-retrieval": make_rows("no-retrieval", 0, refused=True), "rag": make_rows("rag", 10)}
    run = read_measured(write_run(rows=rows), "run")
    assert [(block.generator, block.recipes) for block in run.blocks] == [("model-a", ["no-retrieval", "rag"])]
    assert not any("different generators" in text for text in overview([run]).text)
    assert run.blocks[0].differences["rag"]["match"]["better"] == 10


def test_it_joins_the_first_of_several(write_run: Write) -> None:
    rows = {
        "rag": make_rows("rag", 10),
        "crag": make_rows("crag", 10, generator="model-b"),
        "no-retrieval": make_rows("no-retrieval", 0, refused=True),
    }
    run = read_measured(write_run(rows=rows), "run")
    assert [block.recipes for block in run.blocks] == [["rag", "no-retrieval"], ["crag"]]


def test_where_no_generator_is_known_there_is_one_block(write_run: Write) -> None:
    rows = {recipe: make_rows(recipe, 5, generator="") for recipe in ("rag", "crag")}
    assert [block.recipes for block in read_measured(write_run(rows=rows), "run").blocks] == [["rag", "crag"]]


# --- ours against each other ------------------------------------------------------------------------------------------


def test_the_sentence_names_who_is_beaten_who_is_not_and_who_is_better(write_run: Write) -> None:
    run = runs_of(write_run, rag=0, hybrid=9, crag=20, corrective=10)
    assert verdict(run.blocks[0]) == (
        "In match, corrective is significantly better than rag; not distinguishable from hybrid; significantly worse "
        "than crag (p < 0.05 after Holm's correction for 3 comparisons)."
    )


def test_differences_are_ours_minus_the_others_with_wins_and_losses(write_run: Write) -> None:
    rows = {name: make_rows(name, right) for name, right in (("rag", 4), (FAIR, 12), ("corrective", 10))}
    (section,) = rival_section(read_measured(write_run(rows=rows), "run").blocks[0], "run")
    told = [row for row in table_of(section.tables, section.title) if row["measure"] == "match"]
    assert [(row["against"], row["what it is"], row["higher"], row["lower"]) for row in told] == [
        ("rag", "as it is", 6, 0),
        (FAIR, "fair rival", 0, 2),
    ]
    difference = told[0]["difference"]
    assert isinstance(difference, Measured)
    assert difference.value == pytest.approx(0.3)


def test_a_run_without_ours_has_no_such_table(write_run: Write) -> None:
    assert rival_section(runs_of(write_run, rag=1, crag=2).blocks[0], "run") == []


def test_a_fair_rival_is_no_ablation_and_variants_of_one_recipe_are(write_run: Write) -> None:
    mixed = {name: make_rows(name, 9) for name in ("rag", "crag", FAIR, "corrective")}
    varied = {name: make_rows(name, 9) for name in ("crag", FAIR, "crag[decompose=selection]", "rag")}
    first, second = (read_measured(write_run(f"run{n}", rows=of), f"run{n}") for n, of in enumerate((mixed, varied)))
    assert not any("Ablations" in one.title for one in sections(first))
    assert "Ablations of crag" in [one.title for one in sections(second)]


# --- the top ----------------------------------------------------------------------------------------------------------


def test_the_top_has_a_row_for_each_run(write_run: Write) -> None:
    clear = runs_of(write_run, "clear", rag=0, crag=8, corrective=20)
    shared = runs_of(write_run, "shared", rag=0, crag=11, corrective=10)
    first, second = table_of(overview([clear, shared]).tables, "The runs at a glance")
    assert (first["best recipe"], first["against the others"]) == ("corrective", "significantly better than each")
    assert (second["best recipe"], second["against the others"]) == ("crag", "not distinguishable from corrective")
    assert str(second["corrective minus the best other"]).startswith("-0.05 [")
    assert second["that other, p (Holm)"] == "crag, 1"


def test_a_run_has_at_most_three_sentences(write_run: Write) -> None:
    said = list(sentences(runs_of(write_run, rag=12, hybrid=0, crag=11, corrective=10).blocks[0]))
    assert len(said) == 3
    assert said[-1] == "Significantly worse than rag in match: hybrid."


# --- made worse -------------------------------------------------------------------------------------------------------


@pytest.fixture
def worse(write_run: Write) -> list[Path]:
    """Two runs of one dataset with retrieval made worse, and one that was not."""
    folders = []
    for name, share, right in (("low", 0.1, 4), ("high", 0.6, 16), ("whole", None, 20)):
        folder = write_run(name, rows={recipe: make_rows(recipe, right) for recipe in ("rag", "corrective")})
        described = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        if share is not None:
            for settings in described["settings"].values():
                settings["degraded"] = share
        (folder / "run.json").write_text(json.dumps(described), encoding="utf-8")
        folders.append(folder)
    return folders


def test_runs_made_worse_are_drawn_together_from_the_highest_share(worse: list[Path]) -> None:
    runs = [read_measured(path, path.name) for path in worse]
    assert [share_of(run) for run in runs] == [0.1, 0.6, None]
    (group,) = grouped(runs[:2])
    (section,) = degraded_part(group).sections
    told = table_of(section.tables, "match by share")
    assert [(row["share"], row["folder"]) for row in told] == [("0.6", "high"), ("0.1", "low")]
    assert str(told[1]["corrective"]).startswith("0.2 [")
    assert "Folders: high, low." in section.text[0]
    assert len(table_of(section.tables, "corrective minus each other recipe, match")) == 2


def test_they_have_no_part_of_their_own(worse: list[Path], tmp_path: Path) -> None:
    told = write_report(worse[:2], tmp_path / "out")
    assert told.sections == ("Retrieval made worse: qa popqa: Retrieval made worse",)
    (drawn,) = told.figures
    assert "share of the questions that may find" in drawn.read_text(encoding="utf-8")
    assert not (tmp_path / "out" / "changes").exists()


# --- small and legible ------------------------------------------------------------------------------------------------


def test_long_names_are_numbered_in_drawings_and_told_below(write_run: Write) -> None:
    rows = {name: make_rows(name, right) for name, right in (("rag", 4), (FAIR, 12))}
    block = read_measured(write_run(rows=rows), "run").blocks[0]
    assert (block.label("rag"), block.label(FAIR)) == ("rag", "crag (1)")
    assert block.legend(["rag", FAIR]) == (("crag (1)", FAIR),)


def test_no_drawing_is_taller_than_a_screen() -> None:
    told = [(f"recipe {place}", {"match": Measured(0.5, 0.4, 0.6, 9), "f1": Measured(0.4)}) for place in range(80)]
    sizes: list[float] = []

    def draw(axes: Axes) -> None:
        bars(axes, told, ["match", "f1"])
        sizes.append(canvas_of(axes).get_figheight())

    element = render(Figure("a", "a", draw))
    assert sizes == [TALLEST]
    assert "recipe 79" in element


def test_a_drawing_keeps_its_words_and_what_it_points_at() -> None:
    element = compact(
        '<svg><!-- a --><g id="one"><g id="two" clip-path="url(#cut)"><path id="three" '
        'd="M 0.123456 10.98765 \nL 2 3 \nz\n" style="fill: #fff"/></g>\n </g>\n'
        '<text x="1.23456">a 1.23456</text><clipPath id="cut"/></svg>',
        "name",
    )
    assert element == (
        '<svg><g clip-path="url(#name-0)"><path d="M0.1 11L2 3z" style="fill: #fff"/></g>'
        '<text x="1.2">a 1.23456</text><clipPath id="name-0"/></svg>'
    )


def test_columns_of_nothing_become_a_sentence_and_results_stay() -> None:
    nothing = Measured(0.0, 0.0, 0.0, 4)
    columns = ["recipe", "match", "llm_calls", "refused / failed / timed out / unreadable"]
    told = without_zeros(Table("t", columns, [["rag", nothing, nothing, "2 / 0 / 0 / 0"]], "Note."))
    assert told.columns == ["recipe", "match", "refused"]
    assert told.rows == [["rag", nothing, 2]]
    assert told.note == "Note. None in any row: llm calls, failed, timed out, unreadable."
    failed = Table("t", columns, [["rag", nothing, Measured(1.0), "2 / 1 / 0 / 0"]])
    assert without_zeros(failed) == failed
