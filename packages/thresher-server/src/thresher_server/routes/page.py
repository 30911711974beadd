"""The page at `/` and the document viewer: static files that request all their data from the API.

Addresses of hits and citations (`thresher.links`) open their document in the viewer, at the named span:

    /d/handbook/1f6c0a?start=130&end=410&page=4

The viewer is the same for all: it reads its own address and requests the document with the person's key, so that an
address alone discloses nothing.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from starlette.middleware.gzip import GZipMiddleware
from starlette.staticfiles import StaticFiles

from thresher_server.service import Service

router = APIRouter(include_in_schema=False)

READ = ["GET", "HEAD"]

MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml; charset=utf-8",
}
"""Content types by ending, whatever the system says of it: browsers run no script of another type."""


class PageFiles(StaticFiles):
    """The files below `page/`; a browser asks each time whether its version is current."""

    def file_response(self, full_path: str | os.PathLike[str], *args: Any, **more: Any) -> Response:
        """As in Starlette."""
        response = super().file_response(full_path, *args, **more)
        response.headers["Cache-Control"] = "no-cache"
        if kind := MEDIA_TYPES.get(Path(full_path).suffix):
            response.headers["Content-Type"] = kind
        return response


FILES = PageFiles(packages=[("thresher_server", "page")])


def mount(app: FastAPI, service: Service) -> None:
    """Add the scripts, style sheets and pictures of the page."""
    app.mount("/page", GZipMiddleware(FILES, minimum_size=1024, compresslevel=4))  # 9 takes thrice the time for 5 %


@router.api_route("/", methods=READ)
async def page(request: Request) -> Response:
    """The page. It needs no key, and asks for one if the API needs it."""
    return await FILES.get_response("index.html", request.scope)


@router.api_route("/docs", methods=READ)
async def docs(request: Request) -> Response:
    """The API for people, from `openapi.json`."""
    return await FILES.get_response("docs.html", request.scope)


@router.api_route("/favicon.ico", methods=READ)
async def icon(request: Request) -> Response:
    """The icon, which browsers request by themselves."""
    return await FILES.get_response("icon.svg", request.scope)


@router.api_route("/d/{collection}/{document}", methods=READ)
async def viewer(collection: str, document: str, request: Request) -> Response:
    """The viewer; `start` and `end` are offsets in the document's text, `page` is the page they are on."""
    return await FILES.get_response("viewer.html", request.scope)
