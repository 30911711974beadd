"""Searches for the APIs of other tools: hits with scores from 0 to 1, and their conditions on metadata as filters."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import Request

from thresher.filters import COLUMNS
from thresher.opened import PUBLIC_URL
from thresher.types import L2, Hit, Score, logistic
from thresher_server.asking import check_length, while_connected, worked
from thresher_server.naming import resolved
from thresher_server.problems import Problem
from thresher_server.security.keys import Caller, Scope
from thresher_server.service import Service

Value = str | int | float | bool


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


def compared(field: str, operator: str, value: Value) -> str:
    """A field compared with a value by `=`, `!=`, `<`, `<=`, `>` or `>=`."""
    return f"{_name(field)} {operator} {_literal(field, value)}"


def among(field: str, values: Sequence[Value]) -> str:
    """A field equal to one of several values. Raises Problem 422 for no values."""
    if not values:
        raise Problem(422, "is compared with no value at all", subject=f"field {field}", next_step="give some values")
    return f"{_name(field)} IN ({', '.join(_literal(field, value) for value in values)})"


def holding(field: str, text: str, *, before: bool = True, after: bool = True) -> str:
    """A field that contains a text, optionally with other text before and after it."""
    marked = "".join(f"\\{mark}" if mark in "\\%_" else mark for mark in text)
    pattern = f"{'%' if before else ''}{marked}{'%' if after else ''}"
    return f"{_name(field)} LIKE {_quoted(pattern)}"


def lacking(field: str) -> str:
    """A field without a value."""
    return f"{_name(field)} IS NULL"


def negated(condition: str) -> str:
    """The opposite of a condition."""
    return f"NOT ({condition})"


def joined(conditions: Sequence[str], operator: str) -> str | None:
    """All conditions (`and`) or at least one (`or`); None for no conditions."""
    return f" {operator.upper()} ".join(f"({one})" for one in conditions) or None


def _name(field: str) -> str:
    return '"' + field.replace('"', '""') + '"'


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _literal(field: str, value: Value) -> str:
    """A value in the type of its field: `page` is a number, our other columns are text."""
    if field == "page" and isinstance(value, str) and value.strip().isdecimal():
        return value.strip()
    written = str(value).lower() if isinstance(value, bool) else str(value)
    as_text = isinstance(value, str) or (field in COLUMNS and field != "page")
    return _quoted(written) if as_text else written
