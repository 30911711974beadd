"""Sheets for people: blind, harmless, read strictly, told apart again by the key."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.cli.app import main
from thresher.errors import StoreError, UsageError
from thresher_evals.dataset import Question
from thresher_evals.judges.human import harmless, krippendorff_alpha, rate, read_key, write_sheet
from thresher_evals.rows import Cited, Context, Reply, Row, written

DIMENSIONS = ("correctness", "coherence", "relevance")


def make_row(id: str, recipe: str, text: str | None) -> Row:
    """An answer, or a refusal."""
    reply = Reply(text or "No.", text is None, (Cited("a.txt"),))
    context = (Context("a.txt", 0, 5, "=context"),)
    return Row(Question(id, f"Question {id}?"), recipe, "c0ffee", 1.0, reply=reply, context=context)


ROWS = {
    "rag": [make_row("q1", "rag", "“Paris” [1]"), make_row("q2", "rag", "=1+1"), make_row("q3", "rag", None)],
    "crag": [make_row("q1", "crag", "Lyon"), make_row("q2", "crag", None), make_row("q3", "crag", "Nice")],
}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A folder of a run of two recipes."""
    folder = tmp_path / "run"
    (folder / "rows").mkdir(parents=True)
    for recipe, rows in ROWS.items():
        (folder / "rows" / f"{recipe}.jsonl").write_bytes(b"".join(written(row.to_dict()) for row in rows))
    described = {"dataset": {"spec": "qa:x"}, "recipes": list(ROWS), "settings": {}, "limit": 5}
    (folder / "run.json").write_text(json.dumps(described), encoding="utf-8")
    return folder


def lines_of(sheet: Path) -> list[dict[str, str]]:
    """The lines of a sheet."""
    with sheet.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def filled(run: Path, tmp_path: Path) -> Callable[..., Path]:
    """A copy of the run's sheet, filled by a rule from recipe and question id to a rating of everything."""
    write_sheet(run, ROWS, tmp_path / "sheet.csv")
    key = read_key(run)

    def fill(name: str, rule: Callable[[str, str], object], delimiter: str = ",") -> Path:
        path = tmp_path / f"{name}.csv"
        with path.open("w", encoding="utf-8-sig", newline="") as stream:
            lines = lines_of(tmp_path / "sheet.csv")
            writer = csv.DictWriter(stream, list(lines[0]), delimiter=delimiter)
            writer.writeheader()
            for line in lines:
                rating = rule(key[line["code"]]["recipe"], key[line["code"]]["id"])
                writer.writerow({**line, **dict.fromkeys(DIMENSIONS, rating)})
        return path

    return fill


GIVEN: Mapping[tuple[str, str], int] = {("rag", "q1"): 5, ("rag", "q2"): 3, ("crag", "q1"): 1, ("crag", "q3"): 4}


def test_a_sheet_names_no_recipe_and_shows_the_words_of_answers(run: Path, tmp_path: Path) -> None:
    done = write_sheet(run, ROWS, tmp_path / "sheet.csv")
    assert (done.answers, done.questions) == (4, 3)
    text = (tmp_path / "sheet.csv").read_text(encoding="utf-8-sig")
    assert "rag" not in text
    lines = lines_of(tmp_path / "sheet.csv")
    assert {line["answer"] for line in lines} == {"Paris", "'=1+1", "Lyon", "Nice"}
    assert list(lines[0]) == ["code", "question", "answer", *DIMENSIONS, "comment"]
    assert set(read_key(run)) == {line["code"] for line in lines}


def test_a_sheet_that_may_hold_ratings_is_not_written_over(run: Path, tmp_path: Path) -> None:
    (tmp_path / "sheet.csv").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="is there already"):
        write_sheet(run, ROWS, tmp_path / "sheet.csv")


@pytest.mark.parametrize(
    ("text", "shown"), [("=1+1", "'=1+1"), ("@a", "'@a"), ("-3", "'-3"), ("Paris = 1", "Paris = 1"), ("", "")]
)
def test_no_cell_becomes_a_formula(text: str, shown: str) -> None:
    assert harmless(text) == shown


def test_ratings_are_told_whose_answers_they_rate(run: Path, filled: Callable[..., Path]) -> None:
    sheets = [filled("ada", lambda *place: GIVEN[place]), filled("ben", lambda *place: min(5, GIVEN[place] + 1), ";")]
    rated = rate(run, sheets)
    assert rated["recipes"]["rag"]["correctness"]["value"] == pytest.approx((5 + 3.5) / 2)
    assert rated["recipes"]["crag"]["relevance"]["value"] == pytest.approx((1.5 + 4.5) / 2)
    assert rated["answers"]["rag"]["q1"] == dict.fromkeys(DIMENSIONS, 5.0)
    assert rated["missing"] == {"ada": 0, "ben": 0}
    assert rated["agreement"]["coherence"]["n"] == 4
    assert rated["agreement"]["coherence"]["same"] == 0.25
    assert rated == json.loads((run / "ratings" / "ratings.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("rating", ["0", "6", "4.5", "four", "-1", "4 or 5", "٤"])
def test_what_is_no_rating_is_refused_with_its_place(run: Path, filled: Callable[..., Path], rating: str) -> None:
    sheets = [filled("ada", lambda *place: 3), filled("ben", lambda *place: rating)]
    with pytest.raises(UsageError, match=r"ben\.csv:2, correctness: .* is no rating"):
        rate(run, sheets)


def changed(sheet: Path, change: Callable[[Sequence[str]], Sequence[str]]) -> Path:
    """The sheet with its lines changed."""
    lines = sheet.read_text(encoding="utf-8").splitlines()
    sheet.write_text("\n".join(change(lines)) + "\n", encoding="utf-8")
    return sheet


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda lines: [*lines, lines[-1]], "stands twice"),
        (lambda lines: [*lines, "AAAAA0,?,x,1,1,1,"], "no answer of this run has the code"),
        (lambda lines: [lines[0].replace("coherence", "clarity"), *lines[1:]], "no column coherence"),
    ],
)
def test_a_sheet_that_is_not_as_it_was_is_refused(
    run: Path, filled: Callable[..., Path], change: Callable[[Sequence[str]], Sequence[str]], what: str
) -> None:
    ada = filled("ada", lambda *place: 3)
    with pytest.raises(UsageError, match=what):
        rate(run, [ada, changed(filled("ben", lambda *place: 3), change)])


def test_one_rater_is_not_enough_and_two_have_two_names(run: Path, filled: Callable[..., Path]) -> None:
    ada = filled("ada", lambda *place: 3)
    with pytest.raises(UsageError, match="only one sheet"):
        rate(run, [ada])
    with pytest.raises(UsageError, match="one name"):
        rate(run, [ada, ada])


def thresher(*arguments: object) -> int:
    """The exit code of a command."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


def test_the_commands_write_a_sheet_and_read_it_back(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = tmp_path / "sheet.csv"
    assert thresher("eval", "sheet", run, "--out", sheet, "--recipe", "rag", "--json") == 0
    assert json.loads(capsys.readouterr().out)["answers"] == 2
    for name in ("ada", "ben"):
        lines = sheet.read_text(encoding="utf-8").splitlines()
        text = "\n".join([lines[0], *(f"{line[: -len(',,,,')]},5,4,3," for line in lines[1:])])
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    assert thresher("eval", "ratings", run, tmp_path / "ada.csv", tmp_path / "ben.csv") == 0
    printed = capsys.readouterr().out
    assert "rag\t5 [5, 5] n=2\t4 [4, 4] n=2\t3 [3, 3] n=2" in printed
    assert thresher("eval", "ratings", run, tmp_path / "ada.csv") == 2


def test_a_key_that_cannot_be_written_leaves_no_sheet_without_one(run: Path, tmp_path: Path) -> None:
    (run / "ratings").touch()
    with pytest.raises((OSError, StoreError)):
        write_sheet(run, ROWS, tmp_path / "sheet.csv")
    assert not (tmp_path / "sheet.csv").exists()


def test_a_sheet_that_is_missing_or_no_csv_is_wrong_usage(
    run: Path, filled: Callable[..., Path], tmp_path: Path
) -> None:
    one = filled("one", lambda recipe, id: 3)
    with pytest.raises(UsageError, match="No such file"):
        rate(run, [one, tmp_path / "missing.csv"])
    huge = tmp_path / "huge.csv"
    huge.write_text(f"code,correctness,coherence,relevance\n{'x' * (csv.field_size_limit() + 1)},1,1,1\n")
    with pytest.raises(UsageError, match="is no CSV"):
        rate(run, [one, huge])


# --- agreement --------------------------------------------------------------------------------------------------------


OBSERVERS = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
    (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
)
"""Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section E: four observers, twelve units."""


def test_alpha_of_four_observers_is_what_krippendorff_prints() -> None:
    units = [[rating for rating in unit if rating is not None] for unit in zip(*OBSERVERS, strict=True)]
    assert krippendorff_alpha(units) == pytest.approx(0.849, abs=0.0005)


@pytest.mark.parametrize("units", [[], [[3]], [[4, 4], [4, 4, 4]]])
def test_alpha_says_nothing_where_nothing_can_differ(units: list[list[int]]) -> None:
    assert krippendorff_alpha(units) is None


@given(st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=4), max_size=8))
def test_alpha_is_at_most_one_and_does_not_know_who_said_what(units: list[list[int]]) -> None:
    alpha, turned = krippendorff_alpha(units), krippendorff_alpha([unit[::-1] for unit in units][::-1])
    assert (alpha is None) == (turned is None)
    assert alpha is None or (alpha == pytest.approx(turned) and alpha <= 1 + 1e-12)
