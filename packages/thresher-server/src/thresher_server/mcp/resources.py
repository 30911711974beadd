"""Documents as resources, `thresher://COLLECTION/DOCUMENT`, which people pick in the agent's program."""

from __future__ import annotations

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp_types import Resource

from thresher.errors import ThresherError, UsageError
from thresher.file_names import file_name
from thresher.indexing.store import DocumentStore
from thresher_server.mcp.addresses import found, resource
from thresher_server.mcp.desk import Desk
from thresher_server.mcp.fitting import MOST_TOKENS, beginning
from thresher_server.problems import Problem, line_of
from thresher_server.security.keys import Scope

MOST_LISTED = 200
"""Resources in a list: people pick from it by eye."""

TEMPLATE = "thresher://{collection}/{+document}"


def add(server: MCPServer, desk: Desk) -> None:
    """Register the template."""

    @server.resource(TEMPLATE, name="document", title="A document", mime_type="text/plain")
    async def document(collection: str, document: str) -> str:
        """The text of a document by its id, source or end of a source; of a long one the beginning."""
        if not desk.caller.may(Scope.READ) or collection not in desk.names():
            raise ResourceNotFoundError(f"no collection {collection!r} here; there are: {', '.join(desk.names())}")
        there = desk.service.collection(collection)
        try:
            record = await desk.worked(lambda: found(there, document))
            text = (await desk.worked(lambda: there.document(record.id))).text
        except UsageError as error:
            raise ResourceNotFoundError(line_of(error)) from error
        except (ThresherError, Problem) as error:
            raise ResourceError(line_of(error)) from error
        shown = beginning(text, MOST_TOKENS)
        if len(shown) == len(text):
            return text
        return f"{shown}\n\n(cut after {len(shown):,} of {len(text):,} characters; search_documents reads the whole)"


async def listed(desk: Desk) -> list[Resource]:
    """The first documents of the collections visible to the caller."""
    names = desk.names() if desk.caller.may(Scope.READ) else []
    return (await desk.worked(lambda: [one for name in names for one in _of(desk, name)]))[:MOST_LISTED]


def _of(desk: Desk, name: str) -> list[Resource]:
    records = DocumentStore(desk.service.collection(name).folder).records()
    return [
        Resource(
            uri=resource(name, record.id),
            name=file_name(record.source),
            title=record.title or None,
            description=f"{record.kind} in collection {name}",
            mime_type="text/plain",
        )
        for record in records[:MOST_LISTED]
    ]
