"""Searches and checks for several APIs: hits with scores from 0 to 1, and conditions on metadata as filters."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from fastapi import Request

from thresher.collection import Collection
from thresher.filters import COLUMNS
from thresher.types import L2, Check, Hit, Score, SearchResult, logistic
from thresher_server.asking import check_length, while_connected, worked
from thresher_server.naming import collection_and_recipe
from thresher_server.problems import Problem
from thresher_server.security.keys import Caller, Scope
from thresher_server.service import Service
from thresher_server.settings import PUBLIC_URL

Value = str | int | float | bool
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Visit:
    """A caller at this server: searches and checks in the caller's name, with addresses that open for the caller."""

    service: Service
    caller: Caller
    address: str
    """Below which documents are opened; empty for none."""
    request: Request | None = None
    """Over HTTP; the work ends if its client disconnects."""

    @classmethod
    def of(cls, service: Service, request: Request, caller: Caller) -> Visit:
        """The visit of a request."""
        return cls(service, caller, address_of(service, request), request)

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of a question: the address below which its citations open."""
        return {PUBLIC_URL: self.address} if self.address else {}

    async def search(
        self, collection: Collection, question: str, *, settings: Mapping[str, Any] | None = None, **options: Any
    ) -> SearchResult:
        """As `Collection.search`."""
        check_length(self.service, question)
        given = {**self.settings, **(settings or {})}
        return await self._done("search", collection, partial(collection.search, question, settings=given, **options))

    async def check(self, collection: Collection, text: str, **options: Any) -> Check:
        """As `Collection.check`."""
        return await self._done("check", collection, partial(collection.check, text, settings=self.settings, **options))

    async def _done(self, did: str, collection: Collection, work: Callable[[], Result]) -> Result:
        working = worked(self.service, work)
        result = await (working if self.request is None else while_connected(self.request, working))
        via = {"via": "mcp"} if self.request is None else {}
        self.service.audit.write(self.caller.name, did, collection=collection.name, **via)
        return result


async def search_hits(
    service: Service,
    request: Request,
    caller: Caller,
    name: str | None,
    question: str,
    *,
    limit: int,
    where: str | None = None,
) -> tuple[Hit, ...]:
    """Hits of another tool's search, best first, each with its address here. Raises as `collection_and_recipe`."""
    named, recipe = collection_and_recipe(service, caller, Scope.READ, name)
    visit, collection = Visit.of(service, request, caller), service.seen_by(caller, named)
    return (await visit.search(collection, question, recipe=recipe, limit=limit, where=where)).hits


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


def condition(field: str, operator: str, value: Value | Sequence[Value] = "") -> str:
    """A field compared with a value.

    Operators are `=`, `!=`, `<`, `<=`, `>`, `>=`; `in` (several values); `contains`, `start with`, `end with` (a text);
    `empty`; and `not` before any word. Raises Problem 422 for one value or several where the other is needed.
    """
    name, word = _name(field), operator.removeprefix("not ")
    single = isinstance(value, str | int | float)
    if single == (word == "in"):
        wanted = "a list of values" if single else "one value"
        raise Problem(422, f"needs {wanted} with {operator!r}", subject=f"field {field}", next_step="give it")
    values = [value] if isinstance(value, str | int | float) else value
    if not values:
        what = "is compared with no value at all"
        raise Problem(422, what, subject=f"field {field}", next_step="give some values")
    match word:
        case "empty":
            told = f"{name} IS NULL"
        case "in":
            told = f"{name} IN ({', '.join(_literal(field, one) for one in values)})"
        case "contains" | "start with" | "end with":
            before, after = ("" if word == side else "%" for side in ("start with", "end with"))
            text = re.sub(r"[\\%_]", r"\\\g<0>", str(value))
            told = f"{name} LIKE {_quoted(before + text + after)}"
        case _:
            told = f"{name} {operator} {_literal(field, values[0])}"
    return f"NOT ({told})" if word != operator else told


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
