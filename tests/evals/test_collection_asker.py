"""A dataset's own collections are indexed, and only recipes that correct are sent outside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from thresher import recipes
from thresher.cli import main
from thresher.collection import Collection
from thresher.evals.asking import CollectionAsker


class Listening:
    """Stands for a collection and remembers how it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None]] = []

    def ask(self, question: str, *, recipe: str, outside: str | None, settings: Any) -> None:
        self.asked.append((recipe, outside))


def test_only_recipes_that_correct_are_sent_outside() -> None:
    collection = Listening()
    asker = CollectionAsker(cast(Collection, collection), {}, outside="collection:x")
    for recipe in recipes.names():
        asker.ask("?", recipe=recipe)
    sent = {recipe for recipe, outside in collection.asked if outside == "collection:x"}
    assert sent == {recipe for recipe in recipes.names() if recipes.get(recipe).corrects}
    assert {outside for recipe, outside in collection.asked if recipe not in sent} == {None}
    assert not {"rag", "hybrid", "no-retrieval"} & sent


def command(*arguments: object) -> int:
    """Exit code of a command line."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


def test_the_command_indexes_both_sides_asks_and_resumes(
    popqa: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home, out = tmp_path / "home", tmp_path / "out"
    given = ("eval", "run", "--dataset", f"routing:{popqa}", "--recipe", "rag", "--home", home, "--out", out)
    assert command(*given) == 0
    told = capsys.readouterr().out
    assert "1 inside, 1 outside (wikipedia: 2 of 6 passages moved outside" in told
    described = json.loads((out / "run.json").read_text())
    elsewhere = described["outside"].removeprefix("collection:")
    inside = elsewhere.removesuffix("-outside")
    assert inside.startswith("routing-popqa-")
    sources = {}
    for name in (inside, elsewhere):
        with Collection(home, name) as collection:
            sources[name] = sorted(record.source for record in collection.documents())
    assert sources == {inside: ["ben", "cato", "paint", "ship"], elsewhere: ["ada", "ada2"]}
    assert command(*given, "--resume", "--json") == 0
    assert json.loads(capsys.readouterr().out)["skipped"] == {"rag": 2}
    assert command(*given, "--resume", "--outside", "none") == 2
    capsys.readouterr()
    assert command("eval", "score", out, "--baseline", "rag", "--json") == 0
    scored = json.loads(capsys.readouterr().out)
    assert scored["recipes"]["rag"]["verdict_accuracy"]["value"] is None
    assert scored["recipes"]["rag"]["R@5"]["n"] == 1
    assert set(scored["categories"]) == {"inside", "outside"}


def test_a_collection_that_is_named_is_used_and_nothing_outside_is_indexed_unless_it_is_asked_for(
    popqa: Path, tmp_path: Path
) -> None:
    given = ("eval", "run", "--dataset", f"routing:{popqa}", "--recipe", "rag", "--home", tmp_path / "home")
    assert command(*given, "--out", tmp_path / "a", "--collection", "mine", "--outside", "none") == 0
    assert [path.name for path in (tmp_path / "home" / "collections").iterdir()] == ["mine"]
    assert json.loads((tmp_path / "a" / "run.json").read_text())["outside"] == "none"
    assert command(*given, "--out", tmp_path / "b", "--split", "neither") == 2
