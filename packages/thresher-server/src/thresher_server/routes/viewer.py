"""Addresses of hits and citations (`thresher.links`) open their document at the named span.

    /d/handbook/1f6c0a?start=130&end=410&page=4

The page is the same for all: it reads its own address and requests the document from the API with the person's key, so
that an address alone discloses nothing.
"""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from thresher_server.routes.page import READ, sent

router = APIRouter(include_in_schema=False)


@router.api_route("/d/{collection}/{document}", methods=READ)
def viewer(collection: str, document: str, request: Request) -> Response:
    """The viewer; `start` and `end` are offsets in the document's text, `page` is the page they are on."""
    return sent("viewer.html", request)
