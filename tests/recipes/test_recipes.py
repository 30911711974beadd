from __future__ import annotations

from typing import Any

import pytest

from tests.recipes.scripting import holding
from thresher import recipes
from thresher.collection import Collection
from thresher.collection.asking import Asking
from thresher.errors import UnknownSetting
from thresher.pipeline import SLOTS

PUBLIC = ("name", "preset_of", "slots", "follows", "needs_llm")


def described(name: str, **overrides: Any) -> dict[str, Any]:
    recipe = recipes.get(name)
    return recipe.describe(recipe.configured({key.replace("__", "."): value for key, value in overrides.items()}))


@pytest.mark.parametrize("name", recipes.names())
def test_a_recipe_says_what_it_follows_and_what_stands_in_each_slot(name: str) -> None:
    told = described(name)
    assert set(PUBLIC) <= set(told)
    assert tuple(told["slots"]) == SLOTS
    assert all(told["slots"].values())
    assert all(word in told["follows"] for word in ("Follows:", "Departs:", "Left open:"))
    assert (told["name"], told["needs_llm"]) == (name, name == "no-retrieval")
    assert told["preset_of"] in (None, *recipes.names())


@pytest.mark.parametrize(
    ("wrong", "right"), [("hybird", "hybrid"), ("ECRAG", "ecrag"), ("no_retrieval", "no-retrieval")]
)
def test_an_unknown_recipe_names_the_nearest(wrong: str, right: str) -> None:
    with pytest.raises(UnknownSetting, match=f"unknown recipe; did you mean '{right}'"):
        recipes.get(wrong)


def test_a_configured_model_changes_who_answers() -> None:
    assert described("rag")["slots"]["generate"] == "best passage or cell"
    configured = described("rag", llm__base_url="http://h/v1", llm__model="m")
    assert configured["slots"]["generate"] == "grounded"


def test_the_slots_of_a_preset_tell_its_scale_and_its_reranker() -> None:
    assert described("crag-paper")["slots"]["judge"].count("on the scale of the T5 evaluator") == 1
    judges = [described("chunkrag", rerank=name)["slots"]["judge"] for name in ("none", "bundled")]
    assert judges[1] == f"{judges[0]}; ordered by cross-encoder thresher-judge-int8"


# What is set is what is shown: each of these settings changes a part, so it changes what the part says of itself.
SHOWN = [
    ("rag", "chunk.size=500", "retrieve"),
    ("hybrid", "lexical.depth=9", "retrieve"),
    ("hybrid", "fuse.method=weighted", "retrieve"),
    ("hybrid", "rerank=none", "retrieve"),
    ("hybrid", "protect.n=0", "retrieve"),
    ("crag", "upper=0.6", "decide"),
    ("crag", "lower=0.2", "judge"),
    ("crag", "actions=only-correct", "decide"),
    ("crag", "bounds=code", "judge"),
    ("crag", "refine.top_k=3", "refine"),
    ("crag", "refine.of=none", "refine"),
    ("ecrag", "flat=true", "retrieve"),
    ("ecrag", "summary=text", "retrieve"),
    ("ecrag", "kdm.combine=sum", "judge"),
    ("ecrag", "kdm.route=off", "decide"),
    ("ecrag", "kdm.internal=0.6", "decide"),
    ("chunkrag", "chunk.theta=0.7", "retrieve"),
    ("chunkrag", "dedup.threshold=0.5", "retrieve"),
    ("chunkrag", "threshold=fixed", "judge"),
    ("chunkrag", "min_keep=2", "judge"),
    ("chunkrag", "edge_order=true", "refine"),
    ("corrective", "dedup.threshold=0.01", "retrieve"),
    ("corrective", "judge=local", "judge"),
    ("corrective", "min_probability=0.1", "judge"),
    ("corrective", "upper=0.9", "decide"),
    ("corrective", "refine.of=all", "refine"),
    ("corrective", "subchunk.size=200", "retrieve"),
]


@pytest.mark.parametrize(("recipe", "setting", "slot"), SHOWN)
def test_what_is_set_is_what_the_parts_say_of_themselves(recipe: str, setting: str, slot: str) -> None:
    found = recipes.get(recipe)
    usual, changed = (found.describe(found.configured(given))["slots"] for given in ({}, dict([setting.split("=", 1)])))
    assert usual[slot] != changed[slot]


@pytest.mark.parametrize("recipe", recipes.names())
def test_what_is_shown_of_a_recipe_is_what_runs(recipe: str, collection: Collection) -> None:
    found = recipes.get(recipe)
    settings = found.configured({})
    runs = collection.opened.pipeline(recipe, settings, collection.opened.parts())
    shown = found.describe(settings)["slots"]
    running = runs.describe(found.index_config(settings, collection.opened.parts()))
    assert {slot for slot in shown if shown[slot] != running[slot]} <= {"correct"}  # no place outside was given


def test_published_depths_and_numbers_stand_in_the_table() -> None:
    assert "dense 10 (at least 5) over fixed@1(size=900,overlap=0)" in described("rag")["slots"]["retrieve"]
    after = ", RRF 60, weights 1/1, cross-encoder thresher-judge-int8"
    assert retrieval("hybrid").startswith(f"dense 10 (at least 8) + BM25 10 (at least 4){after} 0.5, protect 2 over ")
    assert retrieval("hybrid-literal").startswith(f"dense 8 + BM25 4{after}, protect 2, best 5 over ")
    other = retrieval("hybrid", rerank="http://localhost/rerank#r")  # not measured: it alone orders
    assert ", cross-encoder r at http://localhost/rerank, " in other


def retrieval(recipe: str, **settings: Any) -> str:
    return str(described(recipe, **settings)["slots"]["retrieve"])


def considered(collection: Collection, recipe: str, limit: int, **settings: Any) -> list[int]:
    """How many candidates each list gave."""
    given = {"rerank": "none", **{key.replace("__", "."): value for key, value in settings.items()}}
    pipeline = collection.opened.pipeline(
        recipe, collection.opened.configured(recipe, given), collection.opened.parts()
    )
    return list(
        pipeline.retrieve(Asking(collection.opened).query("lighthouse railway gouda", limit)).notes.facts["lists"]
    )


def test_a_literal_recipe_keeps_eight_four_and_five_whatever_is_asked_for(many: Collection) -> None:
    assert considered(many, "hybrid-literal", 10) == [8, 4]
    assert len(many.search("tower", recipe="hybrid-literal", limit=10).hits) == 5


def test_a_recipe_looks_at_twice_as_many_as_are_wanted(many: Collection) -> None:
    assert considered(many, "hybrid", 5) == [10, 10]
    assert considered(many, "hybrid", 1) == [8, 4]
    assert len(many.search("tower", recipe="hybrid", limit=10).hits) == 10
    assert len(many.search("tower", recipe="rag", limit=10).hits) == 10


def test_the_best_dense_hits_are_among_the_results(many: Collection) -> None:
    dense = many.search("tower of the third town", recipe="rag", limit=2).hits
    found = many.search("tower of the third town", recipe="hybrid", settings={"fuse.dense_weight": 0}, limit=3).hits
    assert len(dense) == 2
    assert {hit.chunk.source for hit in dense} <= {hit.chunk.source for hit in found}


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Twelve short documents about the same thing."""
    towns = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()  # noqa: SIM905
    line = "The tower of the {0} town. A lighthouse, a railway and gouda are what the {0} town is known for.\n"
    texts = {town: line.format(town) for town in towns}
    with holding(tmp_path_factory.mktemp("many"), texts, ["rag", "hybrid"]) as collection:
        yield collection
