"""Where the address of a hit or a citation leads (`thresher.links`): its document, open at the stretch it names.

    /d/handbook/1f6c0a?start=130&end=410&page=4

The page that is sent is the same for all; it reads its own address and asks the API for the document, with the key of
the person who opened it, so that an address tells nobody anything.
"""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from thresher_server.routes.page import READ, sent

router = APIRouter(include_in_schema=False)


@router.api_route("/d/{collection}/{document}", methods=READ)
def viewer(collection: str, document: str, request: Request) -> Response:
    """The viewer; `start` and `end` are offsets in the document's text, `page` the page they lie on."""
    return sent("viewer.html", request)
