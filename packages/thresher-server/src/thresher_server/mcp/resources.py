"""Documents as resources, `thresher://COLLECTION/DOCUMENT`, and their addresses for people; the prompt.

A person's address is below `public_url` or the address of the answering server; without these it is the web page or
local file of the source, and failing that the agent's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated
from urllib.parse import quote, unquote, urlsplit

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp_types import Resource
from pydantic import Field

from thresher.collection import Collection, DocumentRecord
from thresher.errors import ThresherError, UsageError
from thresher.links import address, file_name
from thresher_server.mcp.desk import Desk
from thresher_server.mcp.wording import MOST_TOKENS, beginning
from thresher_server.problems import Problem, line_of
from thresher_server.security.keys import Scope

SCHEME = "thresher"

MOST_LISTED = 200
"""Resources in a list: people pick from it by eye."""

TEMPLATE = "thresher://{collection}/{+document}"

ANSWERING = """Answer the question from my documents, with the tools of Thresher.

1. Call search_documents once for each facet of the question.{where}
2. Heed each verdict: where it is "incorrect", the documents do not say it; write so, and add nothing from what you
   know. Where it is "ambiguous" or "unsure", say that it is uncertain.
3. After each sentence put the marker of its passage; end with a list of the markers with file, page and link.
4. Call check on what you wrote. Mend or strike what is contradicted, and mark what is unverified.

Question: {question}"""


def resource(collection: str, document_id: str) -> str:
    """The agent's address of a document.

    >>> resource("notes & more", "1f6c")
    'thresher://notes%20%26%20more/1f6c'
    """
    return f"{SCHEME}://{quote(collection, safe='')}/{quote(document_id, safe='')}"


def parts(given: str) -> tuple[str | None, str]:
    """The collection that an agent's address names (None for other text), and the document.

    >>> parts("thresher://notes/1f6c"), parts("papers/bert.pdf")
    (('notes', '1f6c'), (None, 'papers/bert.pdf'))
    """
    if not given.startswith(f"{SCHEME}://"):
        return None, given
    split = urlsplit(given)
    return unquote(split.netloc), unquote(split.path.removeprefix("/"))


def url_for_people(url: str, collection: str, document_id: str, source: str, page: int | None = None) -> str:
    """A person's address of a passage: `url`, or the best alternative."""
    if url:
        return url
    if source.startswith(("http://", "https://")):
        return source
    path = Path(source)
    if path.is_absolute() and path.is_file():
        return path.as_uri() + (f"#page={page}" if page else "")
    return resource(collection, document_id)


def document_url(public_url: str, collection: str, record: DocumentRecord) -> str:
    """A person's address of a document."""
    url = address(public_url, collection, record.id, 0, record.characters, None) if public_url else ""
    return url_for_people(url, collection, record.id, record.source)


def find_document(collection: Collection, named: str) -> DocumentRecord:
    """The document with this id, source or end of a source. Raises UsageError for none and for several."""
    records = collection.documents() if collection.opened.store.exists else []
    exact = [one for one in records if named in (one.id, one.source, *one.also)]
    ending = [one for one in records if any(source.endswith(f"/{named}") for source in (one.source, *one.also))]
    match exact or ending:
        case [one]:
            return one
        case []:
            what = f"is not in collection {collection.name}"
            raise UsageError(what, subject=f"document {named!r}", next_step="see list_documents")
        case several:
            what = f"means {len(several)} documents"
            raise UsageError(what, subject=repr(named), next_step=f"give one's id, e.g. {several[0].id}")


def add(server: MCPServer, desk: Desk) -> None:
    """Register the template."""

    @server.resource(TEMPLATE, name="document", title="A document", mime_type="text/plain")
    async def document(collection: str, document: str) -> str:
        """The text of a document by its id, source or end of a source; of a long one the beginning."""
        if not desk.caller.may(Scope.READ) or collection not in desk.names():
            raise ResourceNotFoundError(f"no collection {collection!r} here; there are: {', '.join(desk.names())}")
        there = desk.seen(collection)
        try:
            record = await desk.worked(lambda: find_document(there, document))
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
    records = desk.seen(name).documents()
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


def add_prompt(server: MCPServer) -> None:
    """Register the prompt."""

    @server.prompt(title="Answer from my documents")
    def answer_from_documents(
        question: Annotated[str, Field(description="what you want to know")],
        collection: Annotated[str, Field(description="which collection; the usual one if empty")] = "",
    ) -> str:
        """Answer a question with search_documents, cite every sentence, and check the answer before handing it over."""
        where = f" Pass collection={collection!r}." if collection else ""
        return ANSWERING.format(question=question, where=where)
