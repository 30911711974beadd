"""The models of OpenAI's clients: a model is `COLLECTION` or `COLLECTION/RECIPE`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from thresher import recipes
from thresher.home.places import COLLECTIONS, files_at
from thresher.recipes.settings import RecipeSettings
from thresher.stores.registry import RECORD
from thresher_server.naming import Served, collection_and_recipe, is_there
from thresher_server.openai import models as names
from thresher_server.openai.problems import OpenAIRoute, openai_replies
from thresher_server.problems import Problem
from thresher_server.security.access import Asker
from thresher_server.security.keys import Caller, Scope
from thresher_server.service import Service

router = APIRouter(tags=["openai"], route_class=OpenAIRoute)


class Model(BaseModel):
    """A collection with a recipe."""

    id: str = Field(examples=["default/corrective"])
    object: str = "model"
    created: int = Field(0, description="seconds since 1970 of the collection's last change; 0 for one to come")
    owned_by: str = "thresher"


class Models(BaseModel):
    """Every model that a key may ask."""

    object: str = "list"
    data: list[Model]


@dataclass(frozen=True, slots=True)
class Target:
    """The collection and recipe of a model's name."""

    name: str
    """As the client gave it."""
    collection: str
    recipe: str

    def settings(self, service: Service) -> RecipeSettings:
        """The settings of its recipe here."""
        return recipes.get(self.recipe).configured({}, home=service.home)


def target_of(service: Service, caller: Caller, name: str) -> Target:
    """The target of a name; an empty one is the front's collection and recipe. Raises Problem 404 for unknown ones."""
    try:
        collection, recipe = collection_and_recipe(service, caller, Scope.ASK, name)
    except Problem as problem:
        if problem.status != 404:
            raise
        raise Problem(
            404,
            f"is no model here: {problem.subject} {problem.what}",
            subject=f"model {name!r}",
            next_step="GET /v1/models lists them",
        ) from problem
    return Target(name or collection, collection, recipe)


def models(service: Service, caller: Caller, *, with_recipes: bool) -> list[Model]:
    """A model for each collection of the caller, and `with_recipes` one for each recipe that runs here."""
    names = [name for name in _collections(service) if caller.may(Scope.ASK, name)]
    runnable = [name for name in recipes.names() if _runs(service, name)] if with_recipes else []
    return [
        Model(id=id_, created=_changed(service, name))
        for name in names
        for id_ in (name, *(f"{name}/{recipe}" for recipe in _offered(service, caller, name, runnable)))
    ]


def _offered(service: Service, caller: Caller, name: str, runnable: list[str]) -> list[str]:
    """Without those whose index the caller would have to make, and may not."""
    collection = service.seen_by(caller, name)
    if not runnable or caller.may(Scope.WRITE, name) or not is_there(collection):
        return runnable
    ready = collection.ready()
    return [recipe for recipe in runnable if recipe in ready]


def _runs(service: Service, name: str) -> bool:
    recipe = recipes.get(name)
    return not recipe.needs_llm or recipe.configured({}, home=service.home).llm.configured


def _collections(service: Service) -> list[str]:
    return sorted({*service.engine.collections.names, service.front.collection})


def _changed(service: Service, collection: str) -> int:
    record = files_at(service.home / COLLECTIONS / collection).find(RECORD)
    return 0 if record is None else int(record.modified)


@router.get("/v1/models", summary="List models", responses=openai_replies())
def list_models(
    caller: Asker, service: Served, *, with_recipes: Annotated[bool, Query(alias="recipes")] = False
) -> Models:
    """`COLLECTION`, with the recipe configured here, and with `recipes=true` also `COLLECTION/RECIPE`.

    Only collections of the key; a model `COLLECTION/RECIPE` works even if it is not listed.
    """
    return Models(data=names.models(service, caller, with_recipes=with_recipes))


@router.get("/v1/models/{model:path}", summary="One model", responses=openai_replies())
def get_model(model: str, caller: Asker, service: Served) -> Model:
    """The model of this name."""
    for one in names.models(service, caller, with_recipes=True):
        if one.id == model:
            return one
    raise Problem(404, "is no model here", subject=f"model {model!r}", next_step="GET /v1/models lists them")
