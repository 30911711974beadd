"""`thresher mcp`: the tools for agents over stdio, or over HTTP at /mcp."""

from __future__ import annotations

from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

import thresher
from thresher import protocols
from thresher.cli import output
from thresher.cli.options import Home, Settings, assignments, target_of, tell_hosts
from thresher.errors import UsageError
from thresher.filters import of_documents
from thresher_server.security.keys import READ_ONLY, Offer, Profile, Scope

if TYPE_CHECKING:
    from fastapi import FastAPI

    from thresher_server.service import Service


class Use(StrEnum):
    """What an agent may do, apart from writing."""

    READ = "read"
    ASK = "ask"


def mcp(
    collection: Annotated[
        list[str] | None,
        typer.Option("--collection", metavar="NAME", help="A collection agents may use; every one if not given."),
    ] = None,
    writable: Annotated[
        bool, typer.Option("--writable/--read-only", help="Let agents add and delete documents.")
    ] = False,
    scope: Annotated[
        list[Use] | None,
        typer.Option("--scope", help="read: search and list; ask: ask, check, explain. Both if not given."),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option("--where", metavar="FILTER", help="The documents agents may see; every one if not given."),
    ] = None,
    profile: Annotated[
        Profile, typer.Option("--profile", help="chatgpt: `search` and `fetch` as ChatGPT calls them.")
    ] = Profile.DEFAULT,
    http: Annotated[bool, typer.Option("--http", help="Answer over HTTP at /mcp instead of stdin and stdout.")] = False,
    host: Annotated[str | None, typer.Option("--host", help="Address to listen on; 127.0.0.1 if not given.")] = None,
    port: Annotated[int | None, typer.Option("--port", help="Port to listen on; 8765 if not given.")] = None,
    open_: Annotated[
        bool, typer.Option("--open", help="Over HTTP, let in every program of every user of this machine.")
    ] = False,
    home: Home = None,
    settings: Settings = None,
) -> None:
    """Answer an agent's tools: search, ask, check, explain and list, over MCP."""
    given: dict[str, Any] = assignments(settings)
    place = target_of(home, None, {}, json=False).home
    tell_hosts(place, given, None, None)
    if where is not None:
        of_documents(where)
        if writable:
            raise UsageError("is not for a filter", subject="--writable", next_step="leave out --where or --writable")
    scopes = frozenset(Scope(one) for one in scope) if scope else READ_ONLY
    offer = Offer(
        profile, scopes | {Scope.WRITE} if writable else scopes, frozenset(collection) if collection else None, where
    )
    _check(place, offer)
    if http:
        named = {"host": host, "port": port, "open": open_ or None}
        listening = {f"server.{name}": value for name, value in named.items() if value is not None}
        _over_http(place, {**given, **listening}, offer)
    elif host is not None or port is not None or open_:
        given_here = "--host" if host is not None else "--port" if port is not None else "--open"
        raise UsageError("is for --http", subject=given_here, next_step="give --http")
    else:
        _over_stdio(place, given, offer)


def _check(home: protocols.Home, offer: Offer) -> None:
    """Raise UsageError for a collection that does not exist, unless agents may make it."""
    there = thresher.collections(home).names
    missing = sorted((offer.collections or frozenset()) - set(there))
    if missing and Scope.WRITE not in offer.scopes:
        next_step = f"there are: {', '.join(there)}" if there else "add documents first: thresher index PATH"
        raise UsageError(f"is not in {home}", subject=f"collection {missing[0]}", next_step=next_step)


def _over_stdio(home: protocols.Home, given: dict[str, Any], offer: Offer) -> None:
    from thresher_server.cli import for_all
    from thresher_server.mcp.server import make_server
    from thresher_server.service import make_service

    service = make_service(home, for_all(given), on_machine=True)
    output.complain(f"thresher answers MCP on stdin and stdout (home {home})")
    try:
        with suppress(KeyboardInterrupt):
            make_server(service, offer).run("stdio")
    finally:
        service.close()


def _over_http(home: protocols.Home, given: dict[str, Any], offer: Offer) -> None:
    from thresher_server.app import create_app
    from thresher_server.cli import run
    from thresher_server.mcp.server import OFFERED

    def application(service: Service) -> FastAPI:
        service.extras[OFFERED] = offer
        return create_app(service, routes=("routes.health",), mounts=("mcp.server",))

    run(home, given, app=application, path="/mcp")
