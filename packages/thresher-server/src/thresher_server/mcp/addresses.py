"""Addresses of documents for people and for agents; every document has both.

An agent's is the resource `thresher://COLLECTION/DOCUMENT`. A person's is below `public_url` or the address of the
answering server; without these it is the web page or local file of the source, and failing that the agent's.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from thresher.collection import Collection
from thresher.errors import UsageError
from thresher.indexing.records import DocumentRecord
from thresher.indexing.store import DocumentStore
from thresher.links import address

SCHEME = "thresher"


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


def opened(url: str, collection: str, document_id: str, source: str, page: int | None = None) -> str:
    """A person's address of a passage: `url`, or the best alternative."""
    if url:
        return url
    if source.startswith(("http://", "https://")):
        return source
    path = Path(source)
    if path.is_absolute() and path.is_file():
        return path.as_uri() + (f"#page={page}" if page else "")
    return resource(collection, document_id)


def whole(public_url: str, collection: str, record: DocumentRecord) -> str:
    """A person's address of a document."""
    url = address(public_url, collection, record.id, 0, record.characters, None) if public_url else ""
    return opened(url, collection, record.id, record.source)


def found(collection: Collection, named: str) -> DocumentRecord:
    """The document with this id, source or end of a source. Raises UsageError for none and for several."""
    records = collection.documents() if DocumentStore(collection.folder).exists else []
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
