"""Calibrating a collection, the questions asked afterwards, and replies that are kept."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import thresher
from tests.recipes.scripting import Judge, stages, using
from thresher.answer import Answer
from thresher.cli.app import main
from thresher.collection import Collection
from thresher.errors import StoreError, UsageError
from thresher.judging.calibration import Calibration
from thresher.types import Verdict
from thresher_testing.llm_server import ScriptedServer

Serve = Callable[..., ScriptedServer]
KEYS = {
    "judge",
    "encoder",
    "method",
    "parameters",
    "lower",
    "upper",
    "lower_interval",
    "upper_interval",
    "auroc",
    "auroc_interval",
    "ece",
    "n_positive",
    "n_negative",
    "source",
    "separated",
}
FEW = {"dense.depth": 5, "lexical.depth": 5}
"""Half the chunks for a question: reading them is what costs."""
SET_FEW = [part for key, value in FEW.items() for part in ("--set", f"{key}={value}")]
PLACES = """
Aberfeld Brunnau Corvale Dornwick Elmsted Farrow Gratz Hallow Istvale Jarrow Kelmont Lindau Morvale Nordby Osterly
Pellworm Quarn Rothby Selmont Tarvik Ulmfeld Varnow
""".split()  # noqa: SIM905 - reads better without forty quotes
THINGS = ("clockworks", "tannery", "brewery", "glass furnace", "paper mill", "rope walk")


def text(number: int, place: str) -> str:
    thing = THINGS[number % len(THINGS)]
    return (
        f"The {thing} of {place} was founded in {1500 + 7 * number} by the widow of a merchant. "
        f"A fire destroyed the {thing} in {1800 + number}, and nobody built it again."
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a collection of forty-four short documents."""
    home = tmp_path_factory.mktemp("towns")
    (home / "in").mkdir()
    for number, place in enumerate([*PLACES, *(f"New {place}" for place in PLACES)]):
        (home / "in" / f"{place}.txt").write_text(text(number, place), encoding="utf-8")
    with thresher.open(home) as collection:
        assert collection.add(home / "in", recipe="corrective").added == 44
    return home


@pytest.fixture
def towns(made: Path, tmp_path: Path) -> Any:
    """That collection, for one test."""
    with thresher.open(shutil.copytree(made, tmp_path / "towns")) as collection:
        yield collection


MAYORLESS = """
Paris Rome Oslo Bern Lima Cairo Delhi Tokyo Quito Accra Sofia Dublin Lisbon Madrid Vienna
Prague Warsaw Athens Berlin London Ottawa
""".split()  # noqa: SIM905

LABELLED = [
    *((f"When was the {THINGS[at % 6]} of {place} founded?", True) for at, place in enumerate(PLACES)),
    *((f"Who is the mayor of {place}?", False) for place in MAYORLESS),
]


@pytest.fixture(scope="module")
def calibrated(made: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Calibration, list[int]]:
    """The same, calibrated on questions made of it: home, calibration, and the progress that was told."""
    home = tmp_path_factory.mktemp("calibrated") / "home"
    shutil.copytree(made, home)
    told: list[int] = []
    with thresher.open(home) as collection:
        return home, collection.calibrate(number=24, settings=FEW, progress=told.append), told


@pytest.fixture(scope="module")
def labelled(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, Calibration]]:
    """The same, a recipe of it calibrated on labelled questions, over a damaged store: home and calibration."""

    @cache
    def calibrated_on_labels(recipe: str) -> tuple[Path, Calibration]:
        home = shutil.copytree(made, tmp_path_factory.mktemp(recipe) / "home")
        with thresher.open(home) as collection:
            (collection.folder / "calibrations.json").write_text("{", encoding="utf-8")
            settings = FEW if recipe == "corrective" else {}
            return home, collection.calibrate(LABELLED, recipe=recipe, settings=settings)

    return calibrated_on_labels


def decided(answer: Answer) -> dict[str, Any]:
    return dict(next(step for step in answer.steps if step.name == "decide").detail)


QUESTION = "When was the clockworks of Aberfeld founded?"


@pytest.mark.slow
def test_questions_are_made_of_the_documents_and_each_is_asked_twice(
    calibrated: tuple[Path, Calibration, list[int]],
) -> None:
    _, calibration, told = calibrated
    assert calibration.source == "questions made of the collection"
    assert 20 <= calibration.n_positive == calibration.n_negative <= 24
    assert sum(told) >= 2 * calibration.n_positive
    assert calibration.auroc > 0.8  # the town of a question is named in one document
    assert 0 <= calibration.lower <= calibration.upper <= 1


@pytest.mark.slow
def test_the_same_seed_makes_the_same_calibration(
    calibrated: tuple[Path, Calibration, list[int]], towns: Collection
) -> None:
    again = towns.calibrate(number=24, settings=FEW)
    assert (again.n_positive, again.judge, again.encoder) == (
        calibrated[1].n_positive,
        calibrated[1].judge,
        calibrated[1].encoder,
    )
    assert again.auroc == pytest.approx(calibrated[1].auroc, abs=1e-6)
    assert again.parameters[0] == pytest.approx(calibrated[1].parameters[0], abs=1e-3)


def test_later_questions_use_it_and_the_trace_says_so(
    calibrated: tuple[Path, Calibration, list[int]], towns: Collection
) -> None:
    home, calibration, _ = calibrated
    assert "shipped" in decided(towns.ask(QUESTION))["mapping"]
    with thresher.open(home) as collection:
        answer = collection.ask(QUESTION)
    told = decided(answer)
    assert "questions made of the collection" in told["mapping"]
    assert (told["lower"], told["upper"]) == (calibration.lower, calibration.upper)
    raw = max(fate.hit.scores["trained"].value for fate in answer.chunks if "trained" in fate.hit.scores)
    assert answer.confidence == pytest.approx(calibration.probability(raw))


def test_labelled_questions_are_used_as_they_are_and_a_damaged_store_is_mended(
    labelled: Callable[[str], tuple[Path, Calibration]],
) -> None:
    home, calibration = labelled("corrective")
    assert (calibration.source, calibration.n_positive, calibration.n_negative) == ("labels", 22, 21)
    assert calibration.auroc > 0.9
    assert calibration.separated
    with thresher.open(home) as collection:
        answer = collection.ask(QUESTION)
        assert collection.ask("Who is the mayor of Stockholm?").verdict == Verdict.INCORRECT
    assert "labels" in decided(answer)["mapping"]
    assert answer.verdict == Verdict.CORRECT


@pytest.mark.parametrize(
    ("questions", "told"),
    [
        ([], "0 answerable and 0 unanswerable"),
        (LABELLED[:22], "22 answerable and 0 unanswerable"),
        (LABELLED[12:32], "10 answerable and 10 unanswerable"),
    ],
)
def test_too_few_questions_are_refused_before_any_search_and_nothing_is_stored(
    towns: Collection, questions: list[tuple[str, bool]], told: str
) -> None:
    searches: list[int] = []
    with pytest.raises(UsageError, match=told):
        towns.calibrate(questions, progress=searches.append)
    assert not searches
    assert not (towns.folder / "calibrations.json").exists()


def test_a_judge_that_does_not_separate_says_unsure_and_goes_outside(
    labelled: Callable[[str], tuple[Path, Calibration]], towns: Collection
) -> None:
    _, calibration = labelled("corrective")
    towns.calibrations.put(replace(calibration, separated=False, lower=0.001, upper=0.9999))
    with thresher.open(towns.home, "other") as other:
        (towns.home / "x.txt").write_text("Stockholm has a mayor, who is called Anna.")
        other.add(towns.home / "x.txt", recipe="corrective")
    answer = towns.ask("Who is the mayor of Stockholm?", outside="collection:other")
    assert answer.verdict == Verdict.UNSURE
    assert decided(answer)["reason"].endswith("the judge does not separate there")
    assert next(step for step in answer.steps if step.name == "correct").detail["provider"] == "collection:other"


def test_other_recipes_may_use_the_calibrated_judge(calibrated: tuple[Path, Calibration, list[int]]) -> None:
    home, calibration, _ = calibrated
    with thresher.open(home) as collection:
        crag = collection.ask(QUESTION, recipe="crag", settings={"judge": "calibrated"})
        plain = collection.ask(QUESTION, recipe="crag", settings={"judge": "trained"})
    best = max(fate.hit.scores["trained, calibrated"].value for fate in crag.chunks)
    raw = max(fate.hit.scores["trained"].value for fate in plain.chunks)
    assert best == pytest.approx(calibration.probability(raw))


def test_another_encoder_has_no_calibration_yet(
    calibrated: tuple[Path, Calibration, list[int]], serve: Serve, tmp_path: Path
) -> None:
    settings = {"encoder": "endpoint:hash", "embeddings.base_url": serve().base_url}
    (tmp_path / "town.txt").write_text(text(0, PLACES[0]), encoding="utf-8")
    with thresher.open(tmp_path) as collection:
        collection.add(tmp_path / "town.txt", settings=settings)
        collection.calibrations.put(calibrated[1])
        assert "shipped for another encoder" in decided(collection.ask(QUESTION, settings=settings))["mapping"]


@pytest.mark.parametrize("damage", ["{", "[]", '{"KEY": {"judge": "local"}}', '{"KEY": 7}'])
def test_a_damaged_store_is_an_error_in_words(
    calibrated: tuple[Path, Calibration, list[int]], towns: Collection, damage: str
) -> None:
    calibration = calibrated[1]
    towns.calibrations.put(calibration)
    file = towns.folder / "calibrations.json"
    (key,) = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(damage.replace("KEY", key), encoding="utf-8")
    with pytest.raises(StoreError, match=r"the stored calibrations are damaged; call `calibrate\(\)` again"):
        towns.ask(QUESTION)
    assert towns.ask(QUESTION, recipe="rag").text


# --- the bounds of published recipes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("recipe", "scale"), [("crag", (0, 1)), ("crag-paper", (-1, 1)), ("ecrag", (0, 1))])
def test_the_printed_bounds_of_a_recipe_give_way_to_those_learned_here(
    towns: Collection,
    labelled: Callable[[str], tuple[Path, Calibration]],
    recipe: str,
    scale: tuple[float, float],
) -> None:
    printed = towns.bounds(recipe)
    assert towns.ask(QUESTION, recipe=recipe).confidence is None
    home, calibration = labelled(recipe)
    with thresher.open(home) as collection:
        learned = collection.bounds(recipe)
        answer = collection.ask(QUESTION, recipe=recipe)
        unanswerable = collection.ask("Who is the mayor of Stockholm?", recipe=recipe)
    assert learned is not None
    assert printed is not None
    assert learned != printed
    assert scale[0] <= learned[0] < learned[1] <= scale[1]
    told = decided(answer)
    assert (told["lower"], told["upper"]) == pytest.approx(learned)
    assert told["mapping"] == "this collection's, from labels"
    unit = (told["best"] - scale[0]) / (scale[1] - scale[0])
    assert answer.confidence == pytest.approx(calibration.probability(unit))
    assert answer.verdict == Verdict.CORRECT
    assert unanswerable.verdict != Verdict.CORRECT


def test_bounds_set_by_hand_stay_and_other_recipes_and_judges_keep_theirs(
    labelled: Callable[[str], tuple[Path, Calibration]],
) -> None:
    with thresher.open(labelled("crag")[0]) as collection:
        assert collection.bounds("crag", settings={"upper": 0.8}) == (0.3, 0.8)
        assert collection.bounds("crag", settings={"judge": "trained"}) == (0.3, 0.7)
        assert collection.bounds("crag-paper") == (-0.99, 0.59)
        assert collection.bounds("crag") != (0.3, 0.7)
        assert collection.bounds("rag") is None
        assert "shipped" in decided(collection.ask(QUESTION))["mapping"]


def test_calibrated_chunkrag_keeps_nothing_of_documents_that_do_not_answer(towns: Collection) -> None:
    assert towns.ask(QUESTION, recipe="chunkrag").confidence is None
    calibration = towns.calibrate(LABELLED, recipe="chunkrag")
    answer = towns.ask(QUESTION, recipe="chunkrag")
    assert decided(answer)["mapping"] == "this collection's, from labels"
    assert answer.verdict is None
    assert answer.confidence is not None
    assert answer.confidence > calibration.lower
    (floor,) = towns.bounds("chunkrag") or ()
    scores = [fate.hit.scores["judge"].value for fate in answer.chunks if fate.kept]
    assert scores
    assert min(scores) >= floor
    unanswerable = towns.ask("Who is the mayor of Stockholm?", recipe="chunkrag")
    assert unanswerable.abstained
    assert unanswerable.confidence is not None
    assert unanswerable.confidence < calibration.lower


def test_a_floor_set_by_hand_stays_and_chunkrag_v1_keeps_its_own(towns: Collection) -> None:
    towns.calibrate(LABELLED, recipe="chunkrag")
    assert towns.ask(QUESTION, recipe="chunkrag", settings={"score_floor": 0.001}).confidence is None
    assert towns.ask(QUESTION, recipe="chunkrag-v1").confidence is None
    assert towns.bounds("chunkrag", settings={"score_floor": 0.001}) is None


@pytest.mark.parametrize("threshold", ["fixed", "none", "llm"])
def test_chunkrag_without_its_statistical_threshold_has_no_floor_to_learn(towns: Collection, threshold: str) -> None:
    searches: list[int] = []
    with pytest.raises(UsageError, match="recipe chunkrag: decides by no bounds"):
        towns.calibrate(LABELLED, recipe="chunkrag", settings={"threshold": threshold}, progress=searches.append)
    assert not searches


@pytest.mark.parametrize("recipe", ["rag", "hybrid", "chunkrag-v1", "ecrag-literal"])
def test_a_recipe_that_decides_by_no_bounds_is_told_before_any_search(towns: Collection, recipe: str) -> None:
    searches: list[int] = []
    with pytest.raises(UsageError, match=f"recipe {recipe}: decides by no bounds .* calibrate one of corrective, crag"):
        towns.calibrate(LABELLED, recipe=recipe, progress=searches.append)
    assert not searches


# --- how much a chat model counts -------------------------------------------------------------------------------------


def knows(question: str, text: str) -> float:
    """Whether a chunk is about the town that the question names."""
    town = re.findall(r"(?:New )?[A-Z][a-z]+", question)[-1]
    return float(f"of {town} " in text)


@pytest.mark.slow
@pytest.mark.parametrize(("says", "counts"), [(knows, True), (lambda question, text: 1.0, False)])
def test_a_model_counts_as_much_as_it_was_found_to_be_right_and_else_is_not_asked(
    towns: Collection, serve: Serve, says: Callable[[str, str], float], counts: bool
) -> None:
    server = serve(Judge(score=says))
    # Bounds so wide that our judge is unsure of nearly every question.
    settings = using(server, lower=0.02, upper=0.98) | FEW
    calibration = towns.calibrate(number=40, settings=settings)
    weight = calibration.model
    assert weight is not None
    assert weight.counts is counts
    assert "grades" in stages(server)
    assert towns.calibrations.get(calibration.judge, calibration.encoder) == calibration
    asked = len(stages(server))
    told = decided(towns.ask("When did a fire destroy the clockworks of Hallow?", settings=settings))["mapping"]
    assert told.endswith(f"counts {weight.model_weight:.2f}" if counts else "is not asked")
    assert ("grades" in stages(server)[asked:]) is counts
    assert "scripted" not in decided(towns.ask(QUESTION))["mapping"]


# --- the command ------------------------------------------------------------------------------------------------------


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    written = capsys.readouterr()
    return int(ended.value.code or 0), written.out, written.err


FORM = 'write {"question": "...", "answerable": true} on every line'


@pytest.mark.parametrize(
    "line", ["{", "[]", '"x"', '{"question": 5}', '{"question": " "}', '{"question": "x", "answerable": "no"}', "\xff"]
)
def test_a_line_that_is_no_labelled_question_is_named(
    indexed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    file = tmp_path / "q.jsonl"
    file.write_bytes('\ufeff{"id": "1", "question": "x"}\n\n'.encode() + line.encode("latin-1"))
    code, _, err = run(capsys, "calibrate", "--questions", file, "--home", indexed)
    assert (code, err) == (2, f"thresher: {file}, line 3: is no labelled question; {FORM}\n")


def labelled_file(path: Path, questions: list[tuple[str, bool]]) -> Path:
    lines = [
        {"id": str(at), "question": question, "answers": ["x"] if answerable else [], "answerable": answerable}
        for at, (question, answerable) in enumerate(questions)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_the_command_prints_one_document_with_its_keys(towns: Collection, capsys: pytest.CaptureFixture[str]) -> None:
    file = labelled_file(towns.home / "q.jsonl", LABELLED)
    code, out, _ = run(capsys, "calibrate", "--questions", file, *SET_FEW, "--home", towns.home, "--json")
    assert (code, out.count("\n")) == (0, 1)
    told = json.loads(out)
    assert set(told) == KEYS
    assert (told["source"], told["n_positive"]) == ("labels", 22)


def test_the_command_tells_a_person_what_it_found(towns: Collection, capsys: pytest.CaptureFixture[str]) -> None:
    file = labelled_file(towns.home / "q.jsonl", LABELLED)
    code, out, _ = run(capsys, "calibrate", "--questions", file, *SET_FEW, "--home", towns.home)
    assert code == 0
    assert out.startswith("calibrated the judge 'trained' from labels: 22 questions the collection can answer and 21")
    assert all(word in out for word in ("AUROC", "expected calibration error", "LOWER", "UPPER"))


def test_the_command_shows_the_floor_that_chunkrag_learned(
    towns: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    file = labelled_file(towns.home / "q.jsonl", LABELLED)
    code, out, _ = run(capsys, "calibrate", "--recipe", "chunkrag", "--questions", file, "--home", towns.home)
    assert code == 0
    assert re.search(r"^chunks below 0\.\d+ are dropped here$", out, re.MULTILINE)


def test_too_few_questions_end_with_two_and_one_line(towns: Collection, capsys: pytest.CaptureFixture[str]) -> None:
    file = labelled_file(towns.home / "q.jsonl", LABELLED[:10])
    code, out, err = run(capsys, "calibrate", "--questions", file, "--home", towns.home)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].endswith("give at least 20 of each")


def test_too_few_questions_to_be_made_are_refused_before_any_search(towns: Collection) -> None:
    searches: list[int] = []
    with pytest.raises(UsageError, match="19 questions: are too few to calibrate on; make at least 20"):
        towns.calibrate(number=19, progress=searches.append)
    assert not searches


def test_a_collection_of_which_no_questions_can_be_made_ends_with_two(
    indexed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "calibrate", "--home", indexed)
    assert code == 2
    assert "too few to calibrate on" in err or "no questions can be made" in err


# --- replies that are kept --------------------------------------------------------------------------------------------


def test_kept_replies_save_calls_and_give_the_same_answer(home: Path, serve: Serve) -> None:
    server = serve(Judge())
    with thresher.open(home) as collection:
        settings = using(server, llm__cache=True)
        first = collection.ask("When was the Kõpu lighthouse built?", recipe="chunkrag", settings=settings)
        asked = len(stages(server))
        second = collection.ask("When was the Kõpu lighthouse built?", recipe="chunkrag", settings=settings)
    assert (asked, len(stages(server))) == (5, 5)
    assert (first.usage.llm_calls, second.usage.llm_calls) == (5, 0)
    assert (first.text, first.citations) == (second.text, second.citations)


def test_without_the_setting_nothing_is_kept(home: Path, serve: Serve) -> None:
    server = serve(Judge())
    with thresher.open(home) as collection:
        for _ in range(2):
            collection.ask("When was the Kõpu lighthouse built?", recipe="crag", settings=using(server))
    assert len(stages(server)) == 6
    assert not (home / "replies").exists()


def test_purging_a_source_forgets_every_kept_reply(home: Path, serve: Serve) -> None:
    server = serve(Judge())
    settings = using(server, llm__cache=True)
    with thresher.open(home) as collection:
        collection.ask("When was the Kõpu lighthouse built?", recipe="crag", settings=settings)
        assert list((home / "replies").rglob("*.json"))
        collection.delete("railway.txt")
        assert list((home / "replies").rglob("*.json"))
        collection.delete("old/cheese.txt", purge=True)
        assert not list((home / "replies").rglob("*.json"))
