"""Recipes over HTTP."""

from __future__ import annotations

from tests.servers.own import Running
from thresher import recipes


def test_recipes_are_told_with_their_slots(served: Running) -> None:
    told = served.client.get("/api/recipes").json()
    assert [one["name"] for one in told] == recipes.names()
    assert {"name", "preset_of", "slots", "follows", "needs_llm"} <= set(told[0])


def test_a_recipe_says_which_settings_a_person_may_change(served: Running) -> None:
    told = served.client.get("/api/recipes/corrective", params={"collection": "default"}).json()
    settings = {one["key"]: one for one in told["settings"]}
    style = settings["answer.style"]
    assert (style["value"], style["may_change"]) == ("auto", True)
    assert style["form"]["enum"] == ["auto", "short", "detailed", "list"]
    assert settings["refine.top_k"]["form"]["anyOf"][0]["minimum"] == 1
    fixed = ("llm.base_url", "llm.api_key", "encoder", "outside", "chunk.size", "web.provider", "judge")
    assert not any(settings[key]["may_change"] for key in fixed)
    assert all(one["description"] for one in told["settings"])


def test_a_recipe_that_is_not_there_is_404(served: Running) -> None:
    assert served.client.get("/api/recipes/nothing").status_code == 404
