"""A dataset's own collections are indexed, only recipes that correct are sent outside, gold documents may be hidden."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from thresher import recipes
from thresher.cli.app import main
from thresher.collection import Collection
from thresher.errors import UsageError
from thresher_evals.asker import CollectionAsker, Variant, hidden, parse_variant
from thresher_evals.dataset import Gold, Question


class Listening:
    """Stands for a collection and remembers how it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None]] = []

    def check_outside(self, given: str | None) -> None:
        """Any place will do."""

    def ask(self, question: str, *, recipe: str, outside: str | None, where: str | None, settings: Any) -> None:
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


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("nowhere", "is no outside source"),
        ("collection:", "is no outside source"),
        ("collection:x", "no documents yet"),
    ],
)
def test_a_place_that_is_not_there_is_refused_as_by_a_question_also_where_no_recipe_would_look(
    home: Path, notes: Path, place: str, words: str
) -> None:
    with asked_of(home, notes) as collection:
        with pytest.raises(UsageError, match=words) as by_question:
            collection.ask("?", recipe="crag", outside=place)
        with pytest.raises(UsageError, match=words) as by_asker:
            CollectionAsker(collection, {}, outside=place)
    assert str(by_asker.value) == str(by_question.value)


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
    assert "1 inside, 1 outside; wikipedia: 2 of 6 passages moved outside" in told
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


# --- retrieval made worse on purpose ----------------------------------------------------------------------------------


def asked_of(home: Path, notes: Path) -> Collection:
    with Collection(home, "default") as collection:
        collection.add(notes, recipe="rag")
    return Collection(home, "default")


def places(sources: Sequence[str], *, id: str = "q1", text: str = "When was the Kõpu lighthouse built?") -> Question:
    return Question(id, text, gold=tuple(Gold(source) for source in sources))


def found(asker: CollectionAsker, question: Question) -> list[str]:
    """File names of what is found, best first."""
    hits = asker.search(question.question, recipe="rag", limit=3).hits
    return [Path(hit.chunk.source).name for hit in hits]


@pytest.mark.parametrize("gold", ["lighthouse.md", "notes/lighthouse.md"])
def test_a_degraded_question_does_not_find_its_gold_document(home: Path, notes: Path, gold: str) -> None:
    with asked_of(home, notes) as collection:
        question = places([gold])
        usual = CollectionAsker(collection, {})
        worse = CollectionAsker(collection, {}, degraded=0.0, questions=[question])
        assert found(usual, question)[0] == "lighthouse.md"
        assert sorted(found(worse, question)) == ["cheese.txt", "railway.txt"]
        answer = worse.ask(question.question, recipe="rag")
        assert "lighthouse.md" not in {Path(fate.hit.chunk.source).name for fate in answer.chunks}
        other = places([gold], id="q2", text="When was the Semmering railway opened?")
        assert len(found(worse, other)) == 3


def test_questions_of_one_text_hide_the_documents_of_those_that_are_not_in_the_share(home: Path, notes: Path) -> None:
    with asked_of(home, notes) as collection:
        lighthouse, railway = places(["lighthouse.md"]), places(["railway.txt"], id="q2")
        none_kept = CollectionAsker(collection, {}, degraded=0.0, questions=[lighthouse, railway])
        assert found(none_kept, lighthouse) == ["cheese.txt"]
        one_kept = hidden(collection, [lighthouse, railway], 0.5)
        # sha1 keeps q1 at one half and not q2; the other order says the same.
        assert one_kept == hidden(collection, [railway, lighthouse], 0.5) == hidden(collection, [railway], 0.0)


def test_a_source_with_a_quotation_mark_is_hidden_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "o'hara.txt").write_text("O'Hara built the mill in 1802.", encoding="utf-8")
    with Collection(tmp_path / "home", "default") as collection:
        collection.add(tmp_path / "o'hara.txt", recipe="rag")
        question = places(["o'hara.txt"], text="Who built the mill?")
        assert found(CollectionAsker(collection, {}), question) == ["o'hara.txt"]
        assert found(CollectionAsker(collection, {}, degraded=0.0, questions=[question]), question) == []


# --- variants ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "settings"),
    [("crag", {}), ("crag[upper=0.6, decompose=selection]", {"upper": "0.6", "decompose": "selection"})],
)
def test_settings_of_a_variant_stand_in_brackets(name: str, settings: dict[str, str]) -> None:
    assert parse_variant(name) == Variant("crag", settings)


@pytest.mark.parametrize("name", ["", "[upper=1]", "crag[upper]", "crag[upper=1", "crag[upper=1] more"])
def test_what_is_no_variant_says_what_one_looks_like(name: str) -> None:
    with pytest.raises(UsageError, match=r"e\.g\."):
        parse_variant(name)
