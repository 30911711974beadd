"""`list_documents`: the collections and documents there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from mcp.server import MCPServer
from mcp_types import CallToolResult
from pydantic import Field

from thresher.collection import Collection
from thresher.indexing.records import DocumentRecord
from thresher.indexing.store import DocumentStore
from thresher_server.mcp import wording
from thresher_server.mcp.addresses import resource, whole
from thresher_server.mcp.desk import Desk, told
from thresher_server.mcp.fitting import Reply, fitted
from thresher_server.mcp.shapes import CollectionTold, DocumentList, DocumentTold
from thresher_server.mcp.tools.arguments import READS, CollectionName, Where, described
from thresher_server.security.keys import Scope

MOST_COLLECTIONS = 100

Words = Annotated[str | None, Field(max_length=200, description="words that source or title must have")]


def add(server: MCPServer, desk: Desk) -> None:
    """Register the tool."""
    tool = Listing(desk).list_documents
    server.add_tool(tool, title="List documents", description=described(tool), annotations=READS)
    desk.scopes[tool.__name__] = Scope.READ


@dataclass(frozen=True, slots=True)
class Listing:
    """The tool `list_documents`."""

    desk: Desk

    @told
    async def list_documents(
        self,
        collection: CollectionName = None,
        words: Words = None,
        where: Where = None,
        limit: Annotated[int, Field(ge=1, le=200)] = 50,
        offset: Annotated[int, Field(ge=0, le=10**9)] = 0,
    ) -> Annotated[CallToolResult, DocumentList]:
        """List the collections that may be asked, and the documents of one: names, kinds, lengths, no texts.

        Call it once to learn what there is, or to find a document by its name. Do not call it to find an answer:
        search_documents reads all the texts.
        """
        desk = self.desk
        there = desk.named(collection, Scope.READ)
        records = await desk.worked(lambda: there.documents(where=where))
        wanted = (words or "").casefold().split()
        fitting = [one for one in records if all(word in f"{one.source}\n{one.title}".casefold() for word in wanted)]
        names = desk.names()[:MOST_COLLECTIONS]
        counts = await desk.worked(lambda: [CollectionTold(name=name, documents=self._number(name)) for name in names])
        public_url = desk.asking.public_url
        shown = [document(public_url, there, record) for record in fitting[offset : offset + limit]]

        def reply(number: int) -> Reply:
            end = offset + number
            result = DocumentList(
                collection=there.name,
                documents=shown[:number],
                total=len(fitting),
                next_offset=end if end < len(fitting) else None,
                collections=counts,
            )
            return Reply(wording.documents(result, offset), result)

        return fitted(reply, len(shown))

    def _number(self, name: str) -> int:
        return len(DocumentStore(self.desk.service.collection(name).folder).records())


def document(public_url: str, collection: Collection, record: DocumentRecord) -> DocumentTold:
    """A record in the client's form."""
    return DocumentTold(
        document=resource(collection.name, record.id),
        source=record.source,
        title=record.title,
        kind=record.kind,
        pages=record.pages,
        characters=record.characters,
        date=record.date,
        url=whole(public_url, collection.name, record),
    )
