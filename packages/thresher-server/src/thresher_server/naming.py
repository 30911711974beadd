"""Resolves the names of collections in paths and in other tools' requests.

A knowledge base, vector store or model of another tool is `COLLECTION`, with the front's recipe, or
`COLLECTION/RECIPE`; an empty name is the front's collection.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Annotated

from fastapi import Depends, Path

from thresher import recipes
from thresher.collection import Collection, DocumentRecord
from thresher.stores.registry import recorded
from thresher_server.problems import Problem
from thresher_server.security.access import caller_of, check
from thresher_server.security.keys import Caller, Scope
from thresher_server.service import Service, service_of

LONGEST_NAME = 100
"""Characters of a collection's name, which is also a folder: file systems allow 255 bytes."""

NAME_PATTERN = r"^[^./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*$"

CollectionName = Annotated[
    str, Path(max_length=LONGEST_NAME, pattern=NAME_PATTERN, description="a collection's name", examples=["default"])
]

MOST_BYTES = 200
"""Bytes of a name on disk; the rest of 255 is for working copies beside it."""


def is_there(collection: Collection) -> bool:
    """Whether the collection has been made, even if empty; false while it is being made."""
    return recorded(collection.folder) is not None and collection.opened.store.exists


def can_be_a_folder(name: str) -> bool:
    """Whether the file system accepts a name."""
    return len(name.encode("utf-8", "replace")) <= MOST_BYTES


def with_words(records: Sequence[DocumentRecord], words: str | None) -> list[DocumentRecord]:
    """The records whose source or title have all the words."""
    wanted = (words or "").casefold().split()
    return [one for one in records if all(word in f"{one.source}\n{one.title}".casefold() for word in wanted)]


def collection_and_recipe(service: Service, caller: Caller, scope: Scope, name: str | None) -> tuple[str, str]:
    """The collection and recipe of a name.

    Raises Problem 404 for an unknown recipe and for a collection that does not exist or is not the caller's, 403 for a
    scope that the key lacks.
    """
    collection, _, recipe = (name or "").partition("/")
    collection, recipe = collection or service.front.collection, recipe or service.front.recipe
    check(caller, scope, collection)
    names = service.engine.collections.names
    if collection not in {*names, service.front.collection}:
        own = [one for one in names if caller.may(scope, one)]  # other names are secret
        next_step = f"there are: {', '.join(own)}" if own else "add documents to one"
        raise Problem(404, "is not here", subject=f"collection {collection!r}", next_step=next_step)
    if recipe not in recipes.names():
        next_step = f"there are: {', '.join(recipes.names())}"
        raise Problem(404, "is not here", subject=f"recipe {recipe!r}", next_step=next_step)
    return collection, recipe


def opened(
    collection: CollectionName,
    service: Annotated[Service, Depends(service_of)],
    caller: Annotated[Caller, Depends(caller_of)],
) -> Collection:
    """The collection of the path, with the documents that the caller may see; the default one exists even when empty.

    Raises Problem 404 for an unknown one.
    """
    there = can_be_a_folder(collection) and recorded(service.home / "collections" / collection) is not None
    if not there and collection != service.front.collection:
        raise Problem(404, "is not there", subject=f"collection {collection}", next_step="see GET /api/collections")
    return service.seen_by(caller, collection)


async def _in_turn(
    caller: Annotated[Caller, Depends(caller_of)],  # first: a refused caller waits for no turn
    service: Annotated[Service, Depends(service_of)],
) -> AsyncIterator[None]:
    async with service.reading.turn():
        yield


READING = Depends(_in_turn, scope="function")
"""Dependency of routes that read stored data: their work waits for its turn; slow clients hold no turn."""

Opened = Annotated[Collection, Depends(opened)]
Served = Annotated[Service, Depends(service_of)]
