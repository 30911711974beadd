"""Shared by the tools of one MCP server: what is offered, caller, visible collections, execution and errors.

Work on the engine runs in a thread and waits its turn among the questions of the service. Every error reaches the agent
as a text that it can act on (`ToolError`); missing evidence is a result, not an error.
"""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from mcp.server import MCPServer
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver.exceptions import MCPServerError, ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_REQUEST, CallToolResult, ToolAnnotations

from thresher import recipes
from thresher.collection import Collection
from thresher.errors import StoreError, ThresherError
from thresher_server import asking
from thresher_server.problems import Problem, line_of
from thresher_server.searching import Visit, address_of
from thresher_server.security.keys import Caller, Offer, Scope
from thresher_server.service import Service

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)

Value = TypeVar("Value")
Parameters = ParamSpec("Parameters")

_log = logging.getLogger(__name__)


_visit: ContextVar[Visit] = ContextVar("visit")


@dataclass(frozen=True, slots=True)
class Desk:
    """`own` is the caller of requests outside HTTP (stdio); None refuses them."""

    service: Service
    offer: Offer
    own: Caller | None = None
    opens: bool = False
    """Whether the answering service also shows documents to people, at its own address."""
    scopes: dict[str, Scope] = field(default_factory=dict)
    """Tool name to the scope that it needs."""

    def tool(
        self, server: MCPServer, scope: Scope, title: str, hints: ToolAnnotations = READS
    ) -> Callable[[Callable[Parameters, Awaitable[CallToolResult]]], Callable[Parameters, Awaitable[CallToolResult]]]:
        """Register a function as a tool that needs a scope; agents see its docstring, each paragraph on one line."""

        def register(
            tool: Callable[Parameters, Awaitable[CallToolResult]],
        ) -> Callable[Parameters, Awaitable[CallToolResult]]:
            description = re.sub(r"(?<!\n)\n(?!\n)", " ", inspect.getdoc(tool) or "")
            server.add_tool(with_tool_errors(tool), title=title, description=description, annotations=hints)
            self.scopes[tool.__name__] = scope
            return tool

        return register

    # --- caller

    async def admit(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Middleware: sets the caller while a message is handled, and lists only the tools that the caller may use."""
        visit = self._visit_of(ctx.request)
        token = _visit.set(visit)
        try:
            result = await call_next(ctx)
        finally:
            _visit.reset(token)
        if ctx.method == "tools/list":
            return _without(result, {name for name, scope in self.scopes.items() if not visit.caller.may(scope)})
        return result

    def _visit_of(self, request: Any) -> Visit:
        caller = self.own if request is None else getattr(request.state, "caller", None)
        if caller is None:
            raise MCPError(INVALID_REQUEST, "nobody is known to ask this")
        opens = request is not None and self.opens
        address = address_of(self.service, request) if opens else self.service.public_url
        return Visit(self.service, self.offer.to(caller), address)

    @property
    def visit(self) -> Visit:
        """The request being handled."""
        return _visit.get()

    @property
    def caller(self) -> Caller:
        """The caller, with the rights that the offer leaves."""
        return self.visit.caller

    # --- collection

    def names(self) -> list[str]:
        """The collections visible to the caller, sorted."""
        return [name for name in self.service.engine.collections.names if self.caller.may(Scope.READ, name)]

    def seen(self, name: str) -> Collection:
        """A collection with the documents that the caller may see."""
        return self.service.seen_by(self.caller, name)

    def named(self, name: str | None, scope: Scope) -> Collection:
        """The collection of this name; without one the default or the only one. Raises ToolError if there is none."""
        self.check(scope)
        own = [one for one in self.service.engine.collections.names if self.caller.may(scope, one)]
        usual = self.service.front.collection
        if name is None:
            name = usual if usual in own else own[0] if len(own) == 1 else None
        if name in own and name is not None:
            return self.seen(name)
        if not own:
            raise ToolError("no documents were taken in yet; ask the person to add some: thresher index PATH")
        said = "say which collection" if name is None else f"there is no collection {name!r} here"
        raise ToolError(f"{said}; there are: {', '.join(own)}")

    def check(self, scope: Scope) -> None:
        """Raise ToolError if the caller lacks a scope."""
        if not self.caller.may(scope):
            raise ToolError(f"this needs a key with the scope {scope}; ask the operator for one")

    def recipe(self, name: str | None) -> str:
        """A recipe by its name, by default the usual one. Raises ToolError for an unknown one."""
        if name is None:
            return self.service.front.recipe
        if name not in recipes.names():
            raise ToolError(f"there is no recipe {name!r}; there are: {', '.join(recipes.names())}")
        return name

    # --- work

    async def worked(self, work: Callable[[], Value]) -> Value:
        """The result of work on the engine, run in a thread with the caller of this request."""
        return await asking.worked(self.service, work)

    def did(self, what: str, collection: Collection, **details: Any) -> None:
        """Write an action to the audit log."""
        self.service.audit.write(self.caller.name, what, collection=collection.name, via="mcp", **details)


def with_tool_errors(tool: Callable[Parameters, Awaitable[Value]]) -> Callable[Parameters, Awaitable[Value]]:
    """The tool with its errors as ToolError, in words that an agent can act on."""

    @wraps(tool)
    async def telling(*args: Parameters.args, **given: Parameters.kwargs) -> Value:
        try:
            return await tool(*args, **given)
        except (MCPError, MCPServerError):
            raise
        except StoreError as error:
            raise ToolError(
                f"{line_of(error)} (a fault of the index and not of the question: tell the operator)"
            ) from error
        except (ThresherError, Problem) as error:
            raise ToolError(line_of(error)) from error
        except Exception as error:  # its type alone is shown: its text may be confidential
            _log.exception("a tool failed")
            advice = "this is a fault of the server or its index and not of the question: tell the operator"
            raise ToolError(f"failed inside ({type(error).__name__}); {advice} to run `thresher doctor`") from error

    return telling


def _without(listed: HandlerResult, names: set[str]) -> HandlerResult:
    assert isinstance(listed, dict)
    return {**listed, "tools": [tool for tool in listed["tools"] if tool["name"] not in names]}
