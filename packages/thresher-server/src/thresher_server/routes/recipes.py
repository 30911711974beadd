"""Recipes: their slots, and the settings that a request may change."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import Field, TypeAdapter
from pydantic.fields import FieldInfo

from thresher import recipes
from thresher.collection import Collection
from thresher.settings import fields
from thresher.trusted import guarded
from thresher_server.naming import LONGEST_NAME, NAME_PATTERN, Served
from thresher_server.problems import Problem, replies
from thresher_server.security.access import Known, check, may_change
from thresher_server.security.keys import Scope
from thresher_server.shapes import Reply

router = APIRouter(prefix="/api/recipes", tags=["recipes"])

LINE = ("name", "preset_of", "summary", "slots", "follows", "needs_llm")


class RecipeLine(Reply):
    """A recipe and the parts in its slots."""

    name: str = Field(examples=["corrective"])
    preset_of: str | None
    summary: str
    slots: dict[str, str]
    follows: str
    needs_llm: bool


class SettingReply(Reply):
    """A setting and its value here; secrets are masked, and null without the scope admin is what names a place."""

    key: str = Field(examples=["answer.style"])
    value: Any
    description: str
    may_change: bool = Field(description="whether a question may change it without the scope admin")
    form: dict[str, Any] = Field(description="JSON schema of its values")


class RecipeReply(RecipeLine):
    """A recipe with its settings."""

    settings: list[SettingReply]


@router.get("", summary="List recipes", responses=replies())
def listed(caller: Known) -> list[RecipeLine]:
    """All recipes, as in `thresher recipes --json`."""
    return [RecipeLine(**{name: one[name] for name in LINE}) for one in map(_described, recipes.names())]


@router.get("/{name}", summary="One recipe", responses=replies(404))
def one(
    caller: Known,
    name: Annotated[str, Path(max_length=100, examples=["corrective"])],
    service: Served,
    collection: Annotated[str | None, Query(max_length=LONGEST_NAME, pattern=NAME_PATTERN)] = None,
) -> RecipeReply:
    """A recipe's slots, and its settings on this server; models, places and addresses for an admin alone."""
    if name not in recipes.names():
        raise Problem(404, "is no recipe", subject=name, next_step=f"there are: {', '.join(recipes.names())}")
    here = collection or service.front.collection
    if collection is not None:
        check(caller, Scope.READ, collection)
    values = Collection(service.home, here).settings(name)
    hidden = {} if caller.may(Scope.ADMIN) else guarded(values)
    described = _described(name)
    known = dict(fields(recipes.get(name).settings))
    settings = [
        SettingReply(
            key=key,
            value=None if key in hidden else value,
            description=known[key].description or "",
            may_change=may_change(key),
            form=_form(known[key]),
        )
        for key, value in values.items()
        if key in known
    ]
    return RecipeReply(**{key: described[key] for key in LINE}, settings=settings)


def _described(name: str) -> dict[str, Any]:
    recipe = recipes.get(name)
    return recipe.describe(recipe.configured({}))


def _form(setting: FieldInfo) -> dict[str, Any]:
    kind: Any = Annotated[setting.annotation, setting]
    form = TypeAdapter(kind).json_schema()
    return {key: item for key, item in form.items() if key not in ("description", "default", "title")}
