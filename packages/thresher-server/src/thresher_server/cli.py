"""`thresher serve` and `thresher keys`."""

from __future__ import annotations

import json
import os
import socket
import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from thresher import protocols, recipes
from thresher.cli import output
from thresher.cli.options import Home, Settings, assignments, target_of
from thresher.errors import UsageError
from thresher.home.places import working_folder
from thresher.settings import check_known, variable
from thresher_server.security.keys import Keys, Scope

if TYPE_CHECKING:
    from fastapi import FastAPI

    from thresher_server.service import Service

BACKLOG = 2048
"""Connections waiting to be accepted: uvicorn's default."""


def serve(
    host: Annotated[str | None, typer.Option("--host", help="Address to listen on; 127.0.0.1 if not given.")] = None,
    port: Annotated[int | None, typer.Option("--port", help="Port to listen on; 8765 if not given.")] = None,
    workers: Annotated[int | None, typer.Option("--workers", help="Processes that answer over the same home.")] = None,
    open_: Annotated[
        bool, typer.Option("--open", help="On loopback, let in every program of every user of this machine.")
    ] = False,
    home: Home = None,
    settings: Settings = None,
) -> None:
    """Answer over HTTP: an API, the shapes of other tools' clients, MCP under /mcp, and a page at /."""
    named = {"host": host, "port": port, "workers": workers, "open": open_ or None}
    given: dict[str, Any] = {
        **assignments(settings),
        **{f"server.{name}": value for name, value in named.items() if value is not None},
    }
    target = target_of(home, None, {}, json=False)
    run(target.home, given)


def for_all(given: dict[str, Any]) -> dict[str, Any]:
    """The server's own settings; the others go to the environment and apply to all questions. Raises UnknownSetting."""
    check_known(given, recipes.settings_keys())
    os.environ |= {variable(key): str(value) for key, value in given.items() if not key.startswith("server.")}
    return {key: value for key, value in given.items() if key.startswith("server.")}


def run(
    home: protocols.Home, given: dict[str, Any], *, app: Callable[[Service], FastAPI] | None = None, path: str = "/"
) -> None:
    """Serve until stopped. Raises UsageError where a key is needed and none exists.

    `app` replaces the whole application, for this process alone; `path` is its path for people.
    """
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    from thresher_server.app import HOME_VARIABLE, SETTINGS_VARIABLE, TOKEN_VARIABLE, create_app
    from thresher_server.routes.expectations import check_knowledge
    from thresher_server.security.guard import Bounded
    from thresher_server.service import make_service
    from thresher_server.telemetry import SHARED_FOLDER

    given = for_all(given)
    service = make_service(home, given)
    bound = service.settings
    if service.needs_key and not (len(service.keys) or bound.admin_key):
        raise UsageError(
            "would be reachable from other machines, or asks for a key, and there is none yet",
            subject=f"server.host {bound.host}",
            next_step="make one first: thresher keys add NAME --scope ask, or set server.admin_key",
        )
    check_knowledge(service)
    listening = _listening(bound.host, bound.port)
    shown = bound.host if ":" not in bound.host else f"[{bound.host}]"
    address = f"http://{shown}:{listening.getsockname()[1]}{path}"
    if service.token:  # in the fragment, which a browser does not send
        address += f"#token={service.token}" if app is None else f" with Authorization: Bearer {service.token}"
    output.say(f"thresher answers at {address} (home {home}); ctrl-c stops it")
    common: dict[str, Any] = {
        "log_level": "warning",
        "http": Bounded,
        "proxy_headers": False,
        "server_header": False,
        "timeout_graceful_shutdown": int(bound.drain_seconds) + 1,  # whole seconds
        "backlog": BACKLOG,
    }
    if bound.workers == 1 or app is not None:
        with listening, suppress(KeyboardInterrupt):  # raised again by uvicorn once open requests have ended
            uvicorn.Server(uvicorn.Config((app or create_app)(service), **common)).run([listening])
        return
    service.close()
    absolute = home.absolute() if isinstance(home, Path) else home
    os.environ |= {HOME_VARIABLE: str(absolute), SETTINGS_VARIABLE: json.dumps(given), TOKEN_VARIABLE: service.token}
    with tempfile.TemporaryDirectory(prefix="thresher-metrics-") as counted, listening:
        os.environ.setdefault(SHARED_FOLDER, counted)
        config = uvicorn.Config("thresher_server.app:from_environment", factory=True, workers=bound.workers, **common)
        Multiprocess(config, [listening]).run()


def _listening(host: str, port: int) -> socket.socket:
    """A listening socket, made before anything is loaded. Raises UsageError for an address that cannot be used."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise UsageError(
            f"cannot be listened on ({error.strerror or error})",
            subject=f"{host}:{port}",
            next_step="free it, or give another with --host and --port",
        ) from error


# --- keys -------------------------------------------------------------------------------------------------------------


class _Keys(TyperGroup):
    """Suggests `add` for other words of the same meaning: none of them is near to it in letters."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As in click."""
        if args[0] in ("create", "make", "new", "generate"):
            ctx.fail(f"no such command '{args[0]}'. Did you mean 'add'?")
        return super().resolve_command(ctx, args)


keys_app = typer.Typer(
    help="The keys that let somebody use the server.", no_args_is_help=True, rich_markup_mode=None, cls=_Keys
)

KeyName = Annotated[str, typer.Argument(metavar="NAME", help="Whose key it is.")]


@keys_app.command("add")
def add(
    name: KeyName,
    scope: Annotated[
        list[Scope], typer.Option("--scope", help="read, ask, write or admin; may be given several times.")
    ],
    collection: Annotated[
        list[str] | None, typer.Option("--collection", help="A collection it is for; every one if not given.")
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            metavar="FILTER", help="Only documents that pass, e.g. \"team = 'north'\"; needs read, ask or both."
        ),
    ] = None,
    days: Annotated[int | None, typer.Option("--days", min=1, help="Days after which it is refused.")] = None,
    home: Home = None,
) -> None:
    """Make a key and print it; it is not shown again."""
    expires = None if days is None else (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="seconds")
    output.say(_keys(home).make(name, scope, collection, expires=expires, where=where))
    _kept(home, "make key", name)


@keys_app.command("list")
def list_keys(home: Home = None) -> None:
    """The keys there are, without their secrets."""
    for key in _keys(home):
        where = ", ".join(key.collections) if key.collections is not None else "every collection"
        where += f" where {key.where}" if key.where is not None else ""
        until = f", until {key.expires}" if key.expires else ""
        output.say(f"{key.name}: {', '.join(key.scopes)} in {where}, made {key.made}{until}")


@keys_app.command("rotate")
def rotate(name: KeyName, home: Home = None) -> None:
    """Print another secret for a key; the old one is refused from now on."""
    output.say(_keys(home).rotate(name))
    _kept(home, "rotate key", name)


@keys_app.command("revoke")
def revoke(name: KeyName, home: Home = None) -> None:
    """Refuse a key from now on."""
    _keys(home).revoke(name)
    _kept(home, "revoke key", name)


def _kept(home: protocols.Home | None, did: str, name: str) -> None:
    from thresher_server.service import Audit

    where = target_of(home, None, {}, json=False).home
    Audit(working_folder(where)).write("command line", did, key=name)


def _keys(home: protocols.Home | None) -> Keys:
    return Keys(target_of(home, None, {}, json=False).home)
