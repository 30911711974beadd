"""A model for each collection and recipe, those of the key alone."""

from __future__ import annotations

from collections.abc import Iterator

import openai
import pytest
from chatting import asked
from openai import OpenAI

from tests.servers.own import Running, filled, running
from thresher_server.security.keys import Keys, Scope


@pytest.fixture(scope="module")
def two_collections(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, dict[str, str]]]:
    """A server with keys over the collections `tides` and `trains`, and an empty `default`."""
    texts = {"tides": "The tide rises by 4 metres.", "trains": "The train leaves at 07:10."}
    home = filled(tmp_path_factory.mktemp("two") / "home", **texts)
    keys = Keys(home)
    made = {
        "all": keys.make("all", [Scope.ASK], None),
        "trains": keys.make("trains", [Scope.ASK], ["trains"]),
        "reader": keys.make("reader", [Scope.READ], None),
    }
    with running(home, server__require_key=True) as one:
        yield one, made


def client(one: Running, key: str) -> OpenAI:
    return OpenAI(base_url=f"{one.url}/v1", api_key=key, max_retries=0)


def test_every_recipe_that_runs_here_is_a_model(served: Running) -> None:
    with client(served, "any") as openai_client:
        names = [model.id for model in openai_client.models.list(extra_query={"recipes": True})]
        assert [model.id for model in openai_client.models.list()] == ["default"]
    assert names[:2] == ["default", "default/corrective"]
    assert "default/crag" in names
    assert "default/no-retrieval" not in names  # it needs a chat model


def test_a_key_sees_the_models_of_its_collections(two_collections: tuple[Running, dict[str, str]]) -> None:
    one, keys = two_collections
    with client(one, keys["trains"]) as openai_client:
        assert {model.id.partition("/")[0] for model in openai_client.models.list()} == {"trains"}
        with pytest.raises(openai.NotFoundError):
            openai_client.models.retrieve("tides")
    with client(one, keys["all"]) as openai_client:
        found = {model.id.partition("/")[0] for model in openai_client.models.list()}
    assert found == {"default", "tides", "trains"}


def test_a_key_is_needed_and_so_is_its_scope(two_collections: tuple[Running, dict[str, str]]) -> None:
    one, keys = two_collections
    with client(one, "thr_0_0") as openai_client, pytest.raises(openai.AuthenticationError) as refused:
        openai_client.models.list()
    assert (refused.value.type, refused.value.code) == ("authentication_error", "invalid_api_key")
    with client(one, keys["reader"]) as openai_client, pytest.raises(openai.PermissionDeniedError) as denied:
        openai_client.responses.create(model="trains", input="When?")
    assert denied.value.type == "permission_error"


@pytest.mark.parametrize("name", ["gpt-4o", "default/no-such-recipe", "..", "../default", "default/../x", "a\x00b"])
def test_a_model_that_is_not_there_is_not_found(served: Running, name: str) -> None:
    told = served.client.post("/v1/chat/completions", json=asked(model=name))
    assert told.status_code == 404
    assert told.json()["error"]["code"] == "model_not_found"
    assert "GET /v1/models lists them" in told.json()["error"]["message"]


def test_names_that_are_asked_for_open_nothing(served: Running) -> None:
    for number in range(20):
        served.client.post("/v1/chat/completions", json=asked(model=f"made-up-{number}"))
    assert not [name for name, _ in served.service.engine._open if name.startswith("made-up")]
