"""A question that is skipped has the answer that it would have when it is asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import thresher
from thresher.collection.opened import CERTIFICATES
from thresher.home.places import LocalFiles
from thresher.judging.certificate import Certificate, Terms
from thresher.models.cross_encoders import BUNDLED_CHECKER, BundledJudge
from thresher_ci.asking import Asker
from thresher_ci.documents import COLLECTION, Workplace
from thresher_ci.knowledge import Expected, Question
from thresher_ci.outcome import Outcome
from thresher_ci.readings import Readings

BEGINNINGS, ENDINGS = ("Al", "Bren", "Cas", "Dun", "East", "Far"), ("dory", "moor", "wick", "ley")

TOWNS = [f"{first}{last}" for first in BEGINNINGS for last in ENDINGS]
"""More than the twelve passages that a question reads, so that some edits cannot touch it."""

QUESTIONS = [Question(f"Who is the mayor of {town}?", Expected(value="Mayor")) for town in TOWNS[:4]]


def text_of(town: str) -> str:
    number = TOWNS.index(town) + 3
    return f"# {town}\n\nThe mayor of {town} is Anna {town}son. The market is held on day {number} of the month.\n"


EDITS = {
    "delete": lambda file: file.unlink(),
    "rename": lambda file: file.rename(file.with_name(f"new-{file.name}")),
    "another mayor": lambda file: changed(file, "Anna", "Bertil"),
    "another day": lambda file: changed(file, "The market", "The fair"),
    "a sentence more": lambda file: changed(file, "The market", "It is old. The market"),
    "a new file": lambda file: file.with_name("added.md").write_text("The mayor of Brenmoor likes Casley.\n"),
    "a file about another thing": lambda file: file.with_name("bees.md").write_text(
        "# Bees\n\nA hive has one queen.\n"
    ),
    "grown": lambda file: file.write_text(file.read_text() + "\nThe bridge was painted in the spring.\n" * 200),
    "grown by its subject": lambda file: file.write_text(file.read_text() + f"\nA mayor of {file.stem} is old.\n" * 90),
}


def changed(file: Path, old: str, new: str) -> None:
    file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, bundled_models: object) -> Iterator[Workplace]:
    place = Workplace(tmp_path_factory.mktemp("ci"))
    with place.alone():
        yield place


def asked(place: Workplace, known: dict[str, Outcome]) -> tuple[list[Outcome], int]:
    with place.collection() as collection:
        collection.add(place.documents, prune=True)
        asker = Asker(collection, "corrective", {}, place.relative, known)
        return list(asker(QUESTIONS)), asker.again


def asked_anew(place: Workplace) -> list[Outcome]:
    """With nothing known, not even what the judge read."""
    with thresher.open(place.home, COLLECTION) as collection:
        return list(Asker(collection, "corrective", {}, place.relative, {})(QUESTIONS))


def begun(place: Workplace, folder: Path) -> tuple[dict[str, Path], dict[str, Outcome]]:
    """The files of the towns, and what is known of them."""
    for town in TOWNS:
        (folder / f"{town}.md").write_text(text_of(town), encoding="utf-8")
    (folder / "soup.md").write_text("# Soup\n\nBoil two litres of water and add salt.\n", encoding="utf-8")
    files = {file.name: file for file in folder.iterdir()}
    place.show(files)
    outcomes, again = asked(place, {})
    assert again == len(QUESTIONS)
    return files, {one.footprint: one for one in outcomes}


@given(st.lists(st.tuples(st.sampled_from(sorted(EDITS)), st.sampled_from([*TOWNS, "soup"])), min_size=1, max_size=3))
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_skipped_question_has_the_answer_that_it_has_when_it_is_asked(
    place: Workplace, tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("towns")
    _, known = begun(place, folder)
    for edit, town in edits:
        if (folder / f"{town}.md").exists():
            EDITS[edit](folder / f"{town}.md")
    place.show({file.name: file for file in folder.iterdir()})
    taken, _ = asked(place, known)
    assert taken == asked_anew(place)


def test_an_edit_that_cannot_touch_a_question_has_it_skipped(place: Workplace, tmp_path: Path) -> None:
    files, known = begun(place, tmp_path)
    changed(files["soup.md"], "two", "three")
    place.show(files)
    _, again = asked(place, known)
    assert again == 0


@pytest.mark.parametrize("edit", ["a file about another thing", "grown"])
def test_another_number_of_chunks_has_no_question_answered_again(place: Workplace, tmp_path: Path, edit: str) -> None:
    files, known = begun(place, tmp_path)
    EDITS[edit](files["soup.md"])
    place.show({file.name: file for file in tmp_path.iterdir()})
    outcomes, again = asked(place, known)
    assert again == 0
    assert {one.footprint for one in outcomes}.isdisjoint(known)  # but decided anew, by the rarity of now
    assert outcomes == asked_anew(place)


def test_where_something_is_certified_every_question_is_answered_again(place: Workplace, tmp_path: Path) -> None:
    begun(place, tmp_path)
    with place.collection() as collection:
        terms = Terms("documents", {}, {})
        stated = ("wrong among answered", 0.1, 0.95, 0.5, 60, 50, 1, 0.09, "2026-11-30", collection.name)
        collection.certificates.put(Certificate(*stated, "corrective", terms, ()))
    try:
        assert [one.footprint for one in asked(place, {})[0]] == [""] * len(QUESTIONS)
    finally:
        with place.collection() as collection:
            collection.files.remove([CERTIFICATES])


def test_readings_are_kept_from_run_to_run_and_are_the_same(tmp_path: Path, bundled_models: object) -> None:
    pair, files = ("Who is it?", ["It is Anna Moor.", "It rains."]), LocalFiles(tmp_path)
    first, plain = Readings(files), BundledJudge()
    assert BundledJudge(remember=first).read(*pair) == plain.read(*pair)
    assert BundledJudge(BUNDLED_CHECKER, remember=first).check(*pair) == BundledJudge(BUNDLED_CHECKER).check(*pair)
    first.save()
    judge = BundledJudge(remember=Readings(files))
    assert judge.read(*pair) == plain.read(*pair)
    assert judge._loaded is None  # the weights were not needed
    files.write("readings.json", b'{"half": ')
    assert BundledJudge(remember=Readings(files)).read(*pair) == plain.read(*pair)


def test_another_setting_has_every_question_answered_again(place: Workplace, tmp_path: Path) -> None:
    _, known = begun(place, tmp_path)
    with place.collection() as collection:
        asker = Asker(collection, "corrective", {"answer.min_confidence": 0.31}, place.relative, known)
        list(asker(QUESTIONS))
        assert asker.again == len(QUESTIONS)


def test_another_recipe_is_never_skipped(place: Workplace, tmp_path: Path) -> None:
    begun(place, tmp_path)
    with place.collection() as collection:
        asker = Asker(collection, "hybrid", {}, place.relative, {})
        one, *_ = asker([replace(QUESTIONS[0], recipe="hybrid")])
        assert one.footprint == ""
