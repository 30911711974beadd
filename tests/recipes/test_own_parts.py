"""Parts of a caller's own: in the slots of a recipe, as encoder, as web search, from another distribution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

import thresher
from thresher import plugins, recipes
from thresher.collection import Collection
from thresher.correction.providers import WebResult
from thresher.errors import BudgetSpent, NotRecorded, PartError, UnknownSetting, UsageError, WrongType
from thresher.pipeline import keep_all
from thresher.recipes.own_parts import OwnPart
from thresher.recipes.registry import RECIPES
from thresher.testing.fakes import HashEncoder
from thresher.types import UNIT, Decision, Generation, Hit, Judged, Judgement, Query, Score, Verdict

QUESTION = "When was the Kõpu lighthouse built?"


def only_lighthouses(query: Query, hits: Sequence[Hit]) -> Judged:
    """Keeps what speaks of lighthouses."""
    worth = [float("lighthouse" in hit.chunk.text) for hit in hits]
    return Judged(
        tuple(Judgement(h, w > 0, "about lighthouses", Score(w, UNIT)) for h, w in zip(hits, worth, strict=True))
    )


@pytest.fixture(autouse=True)
def registries() -> Iterator[None]:
    """What a test registers is taken out again."""
    before = dict(RECIPES)
    yield
    RECIPES.clear()
    RECIPES.update(before)


def test_a_judge_of_ones_own_judges_every_chunk_of_a_question(collection: Collection) -> None:
    answer = collection.ask(QUESTION, recipe=recipes.derive("corrective", judge=only_lighthouses))
    assert "1531" in answer.text
    assert (answer.recipe, answer.verdict) == ("corrective+judge", Verdict.CORRECT)
    assert answer.confidence is None  # its scores are no calibrated probabilities
    assert {fate.dropped_by for fate in answer.chunks if not fate.kept} == {"judge"}


def test_parts_fill_the_slots_that_they_are_named_by(collection: Collection) -> None:
    def retrieve(query: Query) -> Judged:
        return keep_all(query, collection.search(query.question, recipe="rag", limit=1).hits)

    def decide(query: Query, judged: Sequence[Judgement]) -> Decision:
        return Decision(Verdict.CORRECT, reason="one is enough")

    def generate(query: Query, evidence: Sequence[Any]) -> Generation:
        return Generation(f"{len(evidence)} piece", exact=True)

    mine = recipes.derive("crag", name="mine", retrieve=retrieve, decide=decide, generate=generate)
    answer = collection.ask(QUESTION, recipe=mine)
    assert (answer.text, answer.recipe, len(answer.chunks)) == ("1 piece", "mine", 1)
    assert not any(lack.startswith("generate") for lack in answer.degraded)
    assert collection.search(QUESTION, recipe=mine).hits[0].rank == 1


def test_a_decider_may_leave_the_question_out(collection: Collection) -> None:
    mine = recipes.derive("crag", decide=lambda judged: Decision(Verdict.INCORRECT, reason=f"{len(judged)} of them"))
    assert collection.search(QUESTION, recipe=mine, max_tokens=100).verdict is Verdict.INCORRECT
    with pytest.raises(UsageError, match=r"cannot be called with \(query, judged\)"):
        recipes.derive("crag", decide=lambda: None)


def test_settings_of_a_derived_recipe_are_defaults_that_a_question_may_change(collection: Collection) -> None:
    mine = recipes.derive("crag", settings={"upper": 0.61})
    assert collection.settings(mine)["upper"] == 0.61
    assert collection.settings(mine, {"upper": 0.62})["upper"] == 0.62
    assert mine.describe(mine.configured({}))["preset_of"] == "crag"


async def judging_later(query: Query, hits: Sequence[Hit]) -> Judged:
    """Would have to be awaited."""
    return only_lighthouses(query, hits)


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ({"juge": only_lighthouses}, UnknownSetting, "did you mean 'judge'?"),
        ({"judge": 3}, WrongType, "`judge`: is 3 (int); give something callable, see thresher.protocols.Judge"),
        ({"judge": lambda query: query}, UsageError, "cannot be called with (query, hits)"),
        ({"judge": judging_later}, UsageError, "is an async function, which nothing here awaits"),
        ({"settings": {"uper": 1}}, UnknownSetting, "did you mean 'upper'?"),
        ({"settings": {"upper": "high"}}, UsageError, "setting upper"),
    ],
)
def test_what_does_not_fit_is_told_before_a_question_is_asked(given: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error) as raised:
        recipes.derive("crag", **given)
    assert told in str(raised.value)


def raising(error: Exception) -> Any:
    def judge(query: Query, hits: Sequence[Hit]) -> Judged:
        raise error

    return judge


def test_a_part_that_returns_another_type_or_raises_is_named_and_our_own_errors_pass_through() -> None:
    asked = Query("a", "a"), ()
    with pytest.raises(UsageError, match=r"`judge` .*: returned list, not Judged"):
        OwnPart("judge", lambda query, hits: [])(*asked)
    with pytest.raises(PartError, match=r"`judge` judge.*: raised ZeroDivisionError: no hits to divide by") as raised:
        OwnPart("judge", raising(ZeroDivisionError("no hits to divide by")))(*asked)
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    with pytest.raises(BudgetSpent) as spent:
        OwnPart("judge", raising(BudgetSpent("enough")))(*asked)
    assert spent.value.__notes__ == ["raised in the slot `judge`"]


def test_a_registered_recipe_is_known_by_its_name_and_can_be_asked_again(collection: Collection) -> None:
    recipes.register(recipes.derive("corrective", name="lighthouses", judge=only_lighthouses))
    answer = collection.ask(QUESTION, recipe="lighthouses")
    again, changed = collection.replay(answer.trace)
    assert (again.text, changed) == (answer.text, [])
    with pytest.raises(UsageError, match="is an installed recipe"):
        recipes.register(recipes.derive("crag", name="rag"))


def test_an_encoder_of_ones_own_indexes_and_searches(tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("The cellar has no light.", encoding="utf-8")
    with thresher.open(tmp_path / "home", encoder=HashEncoder()) as opened:
        opened.add(note, recipe="rag")
        assert [row["encoder"] for row in opened.tables()] == ["hash-64"]
        assert opened.search("light in the cellar", recipe="rag").hits[0].score.value > 0.3


class Shelf:
    """One card that stands in for the web."""

    host = "localhost"

    def __call__(self, words: str, *, limit: int) -> list[WebResult]:
        text = "The baker on Mill Lane is closed on Mondays."
        return [WebResult("http://localhost/card", "Card", text, "2026-01-01T00:00:00+00:00")]


def test_a_web_search_of_ones_own_is_where_a_question_may_look_and_is_played_back(collection: Collection) -> None:
    question = "On which day is the baker on Mill Lane closed?"
    answer = collection.ask(question, outside=Shelf(), settings={"web.fetch": False})
    assert answer.citations[0].origin == "outside"
    assert collection.traces.request(answer.trace).outside == "web:localhost"
    assert collection.replay(answer.trace)[1] == []
    with pytest.raises(NotRecorded, match="was not stored with the answer"):
        collection.opened.stored_outside("web:localhost").search("words", limit=1)  # type: ignore[union-attr, misc]


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
    """The entry points that are found."""
    found: list[EntryPoint] = []
    monkeypatch.setattr(plugins, "entry_points", lambda group: found)
    plugins.waiting.cache_clear()
    yield found
    plugins.waiting.cache_clear()


def register_one() -> None:
    """What a distribution names under `thresher.parts`."""
    RECIPES["theirs"] = recipes.derive("rag", name="theirs", settings={"dense.depth": 3})


def test_what_a_distribution_registers_is_there_by_its_name_and_one_that_cannot_be_loaded_is_named(
    registered: list[EntryPoint],
) -> None:
    registered.append(EntryPoint("theirs", f"{__name__}:register_one", plugins.GROUP))
    assert "theirs" in recipes.names()
    plugins.waiting.cache_clear()
    registered[:] = [EntryPoint("broken", f"{__name__}:no_such_function", plugins.GROUP)]
    with pytest.raises(UsageError, match=r"entry point broken = .*AttributeError"):
        recipes.names()
