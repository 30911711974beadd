"""Sign-ins of the page: a random id in a cookie, whose hash names a file in `server/sessions` of the home.

A sign-in lasts as long as the person said, and no longer than its key: it ends when the key is revoked, expires or gets
another secret, and with the server's token at a restart.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import cookie_parser

from thresher.home.places import files_asked, home_files
from thresher.protocols import Home

COOKIE = "thresher_session"

MOST_KEPT = 100
"""Sign-ins of one caller."""

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""


@dataclass(frozen=True, slots=True)
class Session:
    """Who signed in, with what, and until when (ISO 8601)."""

    caller: str
    """Id of the key, or the name of a caller without one."""
    proof: str
    """Hash of the key's secret."""
    until: str


class Sessions:
    """The sign-ins of a home."""

    def __init__(self, home: Home) -> None:
        self._files = files_asked(home_files(home).below("server").below("sessions"))

    def begin(self, caller: str, proof: str, days: int) -> tuple[str, Session]:
        """A new sign-in and its id, which is kept nowhere else; ended ones are removed, and a caller's oldest."""
        stored = {file.name: self._stored(file.name) for file in self._files.list()}
        own = [name for name, one in stored.items() if one is not None and one.caller == caller]
        self._files.remove([*(name for name, one in stored.items() if one is None), *own[: -MOST_KEPT + 1]])
        id_ = secrets.token_urlsafe(32)
        session = Session(caller, proof, (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="seconds"))
        self._files.write(_name(id_), json.dumps(asdict(session)).encode())
        return id_, session

    def get(self, id_: str) -> Session | None:
        """A sign-in by its id; None if it has ended."""
        return self._stored(_name(id_))

    def end(self, id_: str) -> None:
        """Forget a sign-in."""
        self._files.remove([_name(id_)])

    def _stored(self, name: str) -> Session | None:
        content = self._files.read(name)
        session = None if content is None else Session(**json.loads(content))
        return session if session and datetime.fromisoformat(session.until) > datetime.now(UTC) else None


def session_in(headers: Headers, method: str) -> str | None:
    """The id in the cookie of a request from our own page; None for any other.

    A browser sends the cookie to no other site (SameSite=Strict); a request that changes something counts only if the
    browser also says that it comes from this origin.
    """
    origin = headers.get("origin")
    own = headers.get("sec-fetch-site") == "same-origin" or (method in SAFE and origin is None)
    if origin is not None:
        own = urlsplit(origin).netloc.casefold() == headers.get("host", "").casefold()
    return cookie_parser(headers.get("cookie", "")).get(COOKIE) if own else None


def _name(id_: str) -> str:
    return f"{hashed(id_)}.json"


def hashed(secret: str) -> str:
    """SHA-256 of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()
