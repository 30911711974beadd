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
from tests.conftest import Run
from tests.recipes.scripting import Judge, stages, using
from thresher.answer import Answer
from thresher.collection import Collection
from thresher.errors import StoreError, UsageError
from thresher.judging.calibration import SHIPPED, WEIGHTS, Calibration
from thresher.types import Verdict
from thresher_testing.llm_server import ScriptedServer

Serve = Callable[..., ScriptedServer]
LEARNED = replace(
    SHIPPED["trained"],
    source="questions made of the collection",
    parameters=((1.2, 0.1),),
    lower=0.1,
    upper=0.6,
)
"""As if it had been learned here."""
KEYS = """
judge encoder method parameters lower upper lower_interval upper_interval auroc auroc_interval ece n_positive
n_negative source separated
""".split()  # noqa: SIM905
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
def test_questions_are_made_of_the_documents_and_each_is_asked_twice(towns: Collection) -> None:
    told: list[int] = []
    calibration = towns.calibrate(number=24, settings=FEW, progress=told.append)
    assert calibration.source == "questions made of the collection"
    assert 20 <= calibration.n_positive == calibration.n_negative <= 24
    assert sum(told) >= 2 * calibration.n_positive
    assert calibration.auroc > 0.8  # the town of a question is named in one document
    assert towns.calibrations.get(calibration.judge, calibration.encoder) == calibration


def test_later_questions_use_it_and_the_trace_says_so(towns: Collection) -> None:
    assert "shipped" in decided(towns.ask(QUESTION))["mapping"]
    towns.calibrations.put(LEARNED)
    answer = towns.ask(QUESTION)
    told = decided(answer)
    assert told["mapping"] == "this collection's, from questions made of the collection"
    assert (told["lower"], told["upper"]) == (LEARNED.lower, LEARNED.upper)
    raw = max(fate.hit.scores["trained"].value for fate in answer.chunks if "trained" in fate.hit.scores)
    assert answer.confidence == pytest.approx(LEARNED.probability(raw))
    crag = towns.ask(QUESTION, recipe="crag", settings={"judge": "calibrated"})
    best = max(fate.hit.scores["trained, calibrated"].value for fate in crag.chunks)
    assert best == pytest.approx(LEARNED.probability(raw))


@pytest.mark.slow
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


def test_a_judge_that_does_not_separate_says_unsure_and_goes_outside(towns: Collection) -> None:
    towns.calibrations.put(replace(LEARNED, separated=False, lower=0.001, upper=0.9999))
    with thresher.open(towns.home, "other") as other:
        (towns.home / "x.txt").write_text("Stockholm has a mayor, who is called Anna.")
        other.add(towns.home / "x.txt", recipe="corrective")
    answer = towns.ask("Who is the mayor of Stockholm?", outside="collection:other")
    assert answer.verdict == Verdict.UNSURE
    assert decided(answer)["reason"].endswith("the judge does not separate there")
    assert next(step for step in answer.steps if step.name == "correct").detail["provider"] == "collection:other"


def test_another_encoder_has_no_calibration_yet(serve: Serve, tmp_path: Path) -> None:
    settings = {"encoder": "endpoint:hash", "embeddings.base_url": serve().base_url}
    (tmp_path / "town.txt").write_text(text(0, PLACES[0]), encoding="utf-8")
    with thresher.open(tmp_path) as collection:
        collection.add(tmp_path / "town.txt", settings=settings)
        collection.calibrations.put(LEARNED)
        assert "shipped for another encoder" in decided(collection.ask(QUESTION, settings=settings))["mapping"]


@pytest.mark.parametrize("stored", ["{", "[]"])
def test_a_damaged_store_is_an_error_in_words_where_it_is_read(stored: str, towns: Collection) -> None:
    (towns.folder / "calibrations.json").write_text(stored, encoding="utf-8")
    with pytest.raises(StoreError, match=r"are damaged; call `calibrate\(\)` again"):
        towns.ask(QUESTION)
    assert towns.ask(QUESTION, recipe="rag").text


def test_a_curve_of_an_earlier_version_gives_way_to_the_shipped_one(towns: Collection) -> None:
    curve = {**LEARNED.to_dict(), "method": "isotonic", "parameters": [[0.1, 0.2], [0.5, 0.6]]}
    stored = {f"{LEARNED.judge} {WEIGHTS} | {LEARNED.encoder}": curve}
    (towns.folder / "calibrations.json").write_text(json.dumps(stored), encoding="utf-8")
    assert decided(towns.ask(QUESTION))["mapping"] == "shipped"


# --- the bounds of published recipes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("recipe", "scale"),
    [
        ("crag", (0, 1)),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in (("crag-paper", (-1, 1)), ("ecrag", (0, 1)))),
    ],
)
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


@pytest.mark.slow
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
    assert towns.ask("Who is the mayor of Stockholm?", recipe="chunkrag").abstained


def test_a_floor_learned_for_chunkrag_gives_way_to_one_set_by_hand(towns: Collection) -> None:
    towns.calibrations.put(replace(LEARNED, judge="chunkrag: local"))
    assert towns.bounds("chunkrag") == (LEARNED.raw(LEARNED.lower),)
    assert towns.bounds("chunkrag", settings={"score_floor": 0.001}) is None
    assert towns.bounds("chunkrag-v1") is None
    assert towns.ask(QUESTION, recipe="chunkrag", settings={"score_floor": 0.001}).confidence is None
    assert towns.ask(QUESTION, recipe="chunkrag").confidence is not None


@pytest.mark.parametrize(
    ("recipe", "settings"),
    [
        *((name, {}) for name in ("rag", "hybrid", "chunkrag-v1", "ecrag-literal")),
        ("chunkrag", {"threshold": "fixed"}),
    ],
)
def test_a_recipe_that_decides_by_no_bounds_is_told_before_any_search(
    towns: Collection, recipe: str, settings: dict[str, str]
) -> None:
    searches: list[int] = []
    told = f"recipe {recipe}: decides by no bounds .* calibrate one of corrective, chunkrag, crag"
    with pytest.raises(UsageError, match=told):
        towns.calibrate(LABELLED, recipe=recipe, settings=settings, progress=searches.append)
    assert not searches


# --- how much a chat model counts -------------------------------------------------------------------------------------


def knows(question: str, text: str) -> float:
    """Whether a chunk has the town and the year that the question names."""
    names = re.findall(r"(?:New )?[A-Z][a-z]+", question)
    towns = [f"of {name} " for name in names if name.removeprefix("New ") in PLACES]
    return float(all(one in text for one in (*towns, *re.findall(r"\d{4}", question))))


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

FORM = 'write {"question": "...", "answerable": true, "answers": ["..."]} on every line'

NO_QUESTIONS = ("{", "[]", "null", '"x"', '{"question": 5}', '{"question": " "}', "\xff", "[" * 100_000)
WRONG_LABELS = ('"answerable": "no"', '"answers": "Paris"', '"answers": 5', '"answers": [5]')


@pytest.mark.parametrize(
    "line", [*NO_QUESTIONS, *(f'{{"question": "x", {label}}}' for label in WRONG_LABELS)], ids=lambda line: line[:40]
)
def test_a_line_that_is_no_labelled_question_is_named(indexed: Path, tmp_path: Path, run: Run, line: str) -> None:
    file = tmp_path / "q.jsonl"
    file.write_bytes('\ufeff{"id": "1", "question": "x"}\n\n'.encode() + line.encode("latin-1"))
    ran = run("calibrate", "--questions", file, "--home", indexed)
    assert (ran.code, ran.err) == (2, f"thresher: {file}, line 3: is no labelled question; {FORM}\n")


def labelled_file(path: Path, questions: list[tuple[str, bool]]) -> Path:
    lines = [
        {"id": str(at), "question": question, "answers": ["x"] if answerable else [], "answerable": answerable}
        for at, (question, answerable) in enumerate(questions)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.slow
def test_the_command_prints_one_document_or_tells_a_person_what_it_found(towns: Collection, run: Run) -> None:
    given = ("--questions", labelled_file(towns.home / "q.jsonl", LABELLED), *SET_FEW, "--home", towns.home)
    told = run("calibrate", *given, "--json").json
    assert list(told) == KEYS
    assert (told["source"], told["n_positive"]) == ("labels", 22)
    ran = run("calibrate", *given)
    assert ran.code == 0
    assert ran.out.startswith("calibrated the judge 'trained' from labels: 22 questions the collection can answer and")
    assert all(word in ran.out for word in ("AUROC", "expected calibration error", "LOWER", "UPPER"))


@pytest.mark.slow
def test_the_command_shows_the_bounds_learned_and_what_the_chat_model_is_worth_as_an_answerer(
    towns: Collection, run: Run, serve: Serve
) -> None:
    server = serve(Judge(answer=lambda question, pieces: "It was founded by a merchant."))
    given = ("--recipe", "crag", "--questions", labelled_file(towns.home / "q.jsonl", LABELLED), "--home", towns.home)
    model = [part for key, value in using(server, judge="local").items() for part in ("--set", f"{key}={value}")]
    ran = run("calibrate", *given, *model)
    assert re.search(r"it decides here by 0\.\d+ and 0\.\d+, on its own scale", ran.out)
    assert "right answers: scripted 0 of 22 (0.00 [0.00, 0.15]); without a chat model" in ran.out


def test_too_few_questions_end_with_two_and_one_line(indexed: Path, tmp_path: Path, run: Run) -> None:
    file = labelled_file(tmp_path / "q.jsonl", LABELLED[:10])
    ran = run("calibrate", "--questions", file, "--home", indexed)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines()[-1].endswith("give at least 20 of each")
    with thresher.open(indexed) as collection, pytest.raises(UsageError, match="19 questions: are too few"):
        collection.calibrate(number=19)


def test_a_collection_of_which_too_few_questions_can_be_made_ends_with_two(indexed: Path, run: Run) -> None:
    ran = run("calibrate", "--home", indexed)
    assert ran.code == 2
    assert "too few to calibrate on" in ran.err or "no questions can be made" in ran.err


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
        kept = set((home / "replies").rglob("*.json"))
        collection.ask("When was the Kõpu lighthouse built?", recipe="chunkrag", settings=using(server))
        assert len(stages(server)) == 10
        assert set((home / "replies").rglob("*.json")) == kept
        collection.delete("railway.txt")
        assert list((home / "replies").rglob("*.json"))
        collection.delete("old/cheese.txt", purge=True)
        assert not list((home / "replies").rglob("*.json"))
