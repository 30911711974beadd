"""The page at `/` and the document viewer: static files that request all their data from the API."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import APIRouter, Request, Response

from thresher_server.problems import Problem

router = APIRouter(include_in_schema=False)

READ = ["GET", "HEAD"]

MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml; charset=utf-8",
}
"""Content types of the files that are served, by ending; others (licences) are not served."""

LEAST_PACKED = 1024
"""Bytes from which a file is sent compressed; smaller ones fit one packet anyway."""


@dataclass(frozen=True)
class StaticFile:
    """A file of the page, in memory."""

    content: bytes
    media_type: str

    @cached_property
    def tag(self) -> str:
        """Hash of the content."""
        return f'"{hashlib.sha256(self.content).hexdigest()[:16]}"'

    @cached_property
    def packed(self) -> bytes:
        """The content, compressed."""
        return gzip.compress(self.content, mtime=0)

    def response(self, request: Request) -> Response:
        """The file, or 304 if the browser has this version; it asks each time, so a new version is seen at once."""
        headers = {"ETag": self.tag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
        if self.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        if len(self.content) >= LEAST_PACKED and "gzip" in request.headers.get("accept-encoding", ""):
            headers["Content-Encoding"] = "gzip"
            return Response(self.packed, media_type=self.media_type, headers=headers)
        return Response(self.content, media_type=self.media_type, headers=headers)


@cache
def static_files() -> dict[str, StaticFile]:
    """Every file of the page by its path below `page/`; requests only look up this table."""
    return dict(_below(files("thresher_server") / "page", ""))


def _below(folder: Traversable, path: str) -> list[tuple[str, StaticFile]]:
    found: list[tuple[str, StaticFile]] = []
    for one in folder.iterdir():
        ending = one.name.rpartition(".")[2]
        if one.is_dir():
            found += _below(one, f"{path}{one.name}/")
        elif ending in MEDIA_TYPES:
            found.append((f"{path}{one.name}", StaticFile(one.read_bytes(), MEDIA_TYPES[ending])))
    return found


def sent(path: str, request: Request) -> Response:
    """The file at a path below `page/`. Raises Problem 404 for an unknown path."""
    file = static_files().get(path)
    if file is None:
        raise Problem(404, "no such file of the page", subject=f"/page/{path}")
    return file.response(request)


@router.api_route("/", methods=READ)
def page(request: Request) -> Response:
    """The page. It needs no key, and asks for one if the API needs it."""
    return sent("index.html", request)


@router.api_route("/favicon.ico", methods=READ)
def icon(request: Request) -> Response:
    """The icon, which browsers request by themselves."""
    return sent("icon.svg", request)


@router.api_route("/page/{path:path}", methods=READ)
def asset(path: str, request: Request) -> Response:
    """A script, style sheet or picture of the page."""
    return sent(path, request)
