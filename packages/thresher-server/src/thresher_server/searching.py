"""Searches for the APIs of other tools: hits with scores from 0 to 1."""

from __future__ import annotations

from fastapi import Request

from thresher.opened import PUBLIC_URL
from thresher.types import L2, Hit, Score, logistic
from thresher_server.asking import check_length, worked
from thresher_server.connected import while_connected
from thresher_server.naming import resolved
from thresher_server.security.keys import Caller, Scope
from thresher_server.service import Service


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
    """Hits of a search, best first, each with its address on this server. Raises as `resolved`."""
    check_length(service, question)
    named, recipe = resolved(service, caller, Scope.READ, name)
    collection = service.collection(named)
    here = {PUBLIC_URL: address_of(service, request)}

    def search() -> tuple[Hit, ...]:
        return collection.search(question, recipe=recipe, limit=limit, where=where, settings=here).hits

    hits = await while_connected(request, worked(service, search))
    service.audit.write(caller.name, "search", collection=collection.name)
    return hits


def address_of(service: Service, request: Request) -> str:
    """The server's `public_url`, else the socket of the request; never the Host header, which the client chooses."""
    if service.public_url:
        return service.public_url
    host, port = request.scope.get("server") or (service.settings.host, service.settings.port)
    shown = f"[{host}]" if ":" in host else host
    path = request.scope.get("app_root_path", request.scope.get("root_path", ""))
    return f"{request.url.scheme}://{shown}:{port}{path}".rstrip("/")


def share(score: Score) -> float:
    """A score mapped to 0..1 in the same order: a logit as a probability, a distance inverted, a cosine cut at 0."""
    low, high = score.scale.low, score.scale.high
    if low >= -1 and high <= 1:
        return min(max(score.value, 0.0), 1.0)
    if score.scale == L2:
        return 1 - score.value / high
    if low < 0:
        return logistic(score.value)
    return score.value / (1 + score.value)  # BM25 has no upper bound
