"""A search for a door of another tool: what it names as a collection and a recipe, and hits with scores from 0 to 1.

A knowledge base, a vector store or a model is named `COLLECTION`, which is asked with the recipe of the front, or
`COLLECTION/RECIPE`; nothing stands for the collection of the front.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from fastapi import Request

from thresher import recipes
from thresher.collection import PUBLIC_URL, Collection
from thresher.types import L2, Hit, Score, logistic
from thresher_server.asking import check_length, worked
from thresher_server.connected import while_connected
from thresher_server.problems import Problem
from thresher_server.security.access import check
from thresher_server.security.keys import Caller, Scope
from thresher_server.service import Service


@dataclass(frozen=True, slots=True)
class Named:
    """A collection that is there, and the recipe it is asked with."""

    collection: Collection
    recipe: str


def named(service: Service, caller: Caller, scope: Scope, name: str | None) -> Named:
    """What a name stands for, which the caller may use so.

    Raises Problem 404 for a collection that is not there or not among the caller's and for an unknown recipe, 403 for a
    scope that the key has not.
    """
    collection, _, recipe = (name or service.front.collection).partition("/")
    check(caller, scope, collection)
    names = service.engine.collections.names
    if collection not in names:
        own = [one for one in names if caller.may(scope, one)]  # of the others nothing is told
        next_step = f"there are: {', '.join(own)}" if own else "add documents to one"
        raise Problem(404, "is not here", subject=f"collection {collection!r}", next_step=next_step)
    if recipe and recipe not in recipes.names():
        next_step = f"there are: {', '.join(recipes.names())}"
        raise Problem(404, "is not here", subject=f"recipe {recipe!r}", next_step=next_step)
    return Named(service.collection(collection), recipe or service.front.recipe)


async def found(
    service: Service,
    request: Request,
    caller: Caller,
    name: str | None,
    question: str,
    *,
    limit: int,
    where: str | None = None,
) -> tuple[Hit, ...]:
    """Hits of a search, best first, each with the address at which this server shows it. Raises as `named`."""
    check_length(service, question)
    asked = named(service, caller, Scope.READ, name)
    here = {PUBLIC_URL: address_of(service, request)}

    def search() -> tuple[Hit, ...]:
        return asked.collection.search(question, recipe=asked.recipe, limit=limit, where=where, settings=here).hits

    hits = await while_connected(request, worked(service, search))
    service.audit.write(caller.name, "search", collection=asked.collection.name)
    return hits


def address_of(service: Service, request: Request) -> str:
    """What this server is called: its `public_url`, or else the socket that took the request; never a Host header,

    which the client chooses and which would stand in the stored answer.
    """
    if service.public_url:
        return service.public_url
    host, port = request.scope.get("server") or (service.settings.host, service.settings.port)
    shown = f"[{host}]" if ":" in host else host
    path = request.scope.get("app_root_path", request.scope.get("root_path", ""))
    return f"{request.url.scheme}://{shown}:{port}{path}".rstrip("/")


def share(score: Score) -> float:
    """A score from 0 to 1, in the same order: a logit as a probability, a distance turned round, a cosine cut at 0."""
    low, high = score.scale.low, score.scale.high
    if low >= -1 and high <= 1:
        return min(max(score.value, 0.0), 1.0)
    if score.scale == L2:
        return 1 - score.value / high
    if low < 0:
        return logistic(score.value)
    return score.value / (1 + score.value)  # BM25, which has no upper end


def file_name(source: str) -> str:
    """What a person calls a source: the file's name, or the whole address of a page."""
    return source if "://" in source else PurePosixPath(source).name or source
