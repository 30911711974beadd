"""The models of clients of OpenAI: each collection, on request with each recipe."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from thresher_server.openai import models as names
from thresher_server.openai.models import Model, Models
from thresher_server.openai.problems import OpenAIRoute, openai_replies
from thresher_server.problems import Problem
from thresher_server.security.access import Asker
from thresher_server.service import Service, service_of

router = APIRouter(tags=["openai"], route_class=OpenAIRoute)


@router.get("/v1/models", summary="List models", responses=openai_replies())
def list_models(
    caller: Asker,
    service: Annotated[Service, Depends(service_of)],
    *,
    with_recipes: Annotated[bool, Query(alias="recipes")] = False,
) -> Models:
    """`COLLECTION`, with the recipe configured here, and with `recipes=true` also `COLLECTION/RECIPE`.

    Only collections of the key; a model `COLLECTION/RECIPE` works even if it is not listed.
    """
    return Models(data=names.models(service, caller, with_recipes=with_recipes))


@router.get("/v1/models/{model:path}", summary="One model", responses=openai_replies())
def get_model(model: str, caller: Asker, service: Annotated[Service, Depends(service_of)]) -> Model:
    """The model of this name."""
    for one in names.models(service, caller, with_recipes=True):
        if one.id == model:
            return one
    raise Problem(404, "is no model here", subject=f"model {model!r}", next_step="GET /v1/models lists them")
