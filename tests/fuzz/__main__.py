"""`python -m tests.fuzz [--seconds N] [--seed S] [DOOR ...]`: inputs that each break a rule a little.

The doors at which strangers' texts come in; all, where none is named:

* readers: files of every format, and those that once broke one, with bytes changed, cut, doubled and swapped;
* filters: `--where` made of pieces of the grammar and of what is none, each held against rows;
* replies: of chat models, whole and as streams, in JSON that is nearly what was asked for;
* api: requests to every route of a server, with keys, paths and bodies that nearly fit.

A finding is what ends in another error than the engine's own, takes longer than `SLOW` or, over HTTP, is a 5xx.
Each is printed with what makes it again; the exit code is 1 where there was one.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import random
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlencode

import thresher
from tests.documents import hostile, making
from thresher.documents.read import parse
from thresher.documents.sources import Hints, Item
from thresher.errors import ThresherError
from thresher.filters import holds
from thresher.filters import parse as parse_filter
from thresher.models import replies
from thresher_server.app import create_app
from thresher_server.security.keys import Keys, Scope
from thresher_server.service import make_service

SLOW = 10.0
"""Seconds of the processor for one input; ten times as many of the clock, on a machine that does other things too."""

DOORS = ("readers", "filters", "replies", "api")

Attempt = Callable[[random.Random], tuple[str, Callable[[], None]]]
"""Makes an input: how it is made again, and what reads it."""


# --- changed bytes ----------------------------------------------------------------------------------------------------

SPOILED = [
    b"\x00",
    b"\xff\xfe",
    b"\x1b[2J",
    b"\xf0\x9f",
    b"%n%s",
    b"../../",
    b"<!DOCTYPE x [",
    b"]]>",
    b'"',
    b"-1",
    b"9" * 40,
]


def changed(chosen: random.Random, data: bytes) -> bytes:
    """The bytes with one to five changes."""
    spoiled = bytearray(data)
    for _ in range(chosen.randint(1, 5)):
        at = chosen.randrange(len(spoiled) + 1)
        length = chosen.choice((1, 2, 8, 100))
        match chosen.randrange(6):
            case 0:
                spoiled[at : at + length] = b""
            case 1:
                spoiled[at:at] = spoiled[at : at + length] * chosen.choice((1, 2, 50))
            case 2:
                spoiled[at:at] = chosen.choice(SPOILED)
            case 3:
                spoiled[at : at + 1] = bytes([chosen.randrange(256)])
            case 4:
                other = chosen.randrange(len(spoiled) + 1)
                spoiled[at : at + length] = spoiled[other : other + length]
            case 5 if chosen.random() < 0.2:
                del spoiled[at:]
    return bytes(spoiled)


# --- readers ----------------------------------------------------------------------------------------------------------


BULK = re.compile(rb'(?s)<w:style w:type="table".*?</w:style>|<w:latentStyles .*?</w:latentStyles>')
"""Most of a Word document that python-docx makes; reading it takes five times as long as the rest."""


def lean(data: bytes) -> bytes:
    """A Word document without its styles of tables."""
    return making.archive(
        {name: BULK.sub(b"", part) if "styles" in name else part for name, part in making.members(data).items()}
    )


def files() -> dict[str, bytes]:
    """A file of each format by a name, and what broke a reader once."""
    front = b"---\ntitle: Tides\ndate: 2020-01-01\n---\n# Tides\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nThe tide rises.\n"
    page = (
        b"<html><head><title>T</title></head><body><h1>T</h1><table><tr><td>1</td></tr></table><p>x</p></body></html>"
    )
    return {
        "a.pdf": making.pdf(["The tide rises by 4.2 metres.", "Boats leave at high tide."], title="Tides", author="A"),
        "a.docx": lean(making.word()),
        "a.pptx": making.slides(),
        "a.xlsx": making.workbook(),
        "a.epub": making.book(),
        "a.eml": making.mail("<p>The tide rises.</p>"),
        "a.html": page,
        "a.md": front,
        "a.csv": b"name,metres\nFernby,4.2\nHarrow,3.9\n",
        "a.json": b'{"tide": {"metres": 4.2, "places": ["Fernby", "Harrow"]}}',
        "corpus.jsonl": b'{"_id": "1", "title": "T", "text": "The tide rises."}\n{"_id": "2", "text": "Boats."}\n',
        "a.txt": b"The tide at Fernby rises by 4.2 metres in spring.\n",
        "far.xlsx": hostile.far_cell(),
        "wide.docx": lean(hostile.wide_cell()),
        "entities.xml": hostile.entities(),
    }


def readers(chosen: random.Random, seeds: dict[str, bytes]) -> tuple[str, Callable[[], None]]:
    """One file, some of whose parts are changed where it is an archive."""
    name = chosen.choice(sorted(seeds))
    data = seeds[name]
    if data.startswith(b"PK") and chosen.random() < 0.8:
        parts = making.members(data)
        part = chosen.choice(sorted(parts))
        data = making.archive({**parts, part: changed(chosen, parts[part])})
    else:
        data = changed(chosen, data)

    def read() -> None:
        for document in parse(Item(source=name, root=name, data=data), data, Hints()):
            if isinstance(document, thresher.Document):
                making.spans_hold(document)

    return f"{name} {base64.b64encode(data[:3000]).decode()}", read


# --- filters ----------------------------------------------------------------------------------------------------------

NAMES = ["kind", "date", "title", "source", "page", "year", "x y", '"q"']
SIGNS = ["AND", "OR", "NOT", "(", ")", "=", "!=", "<", ">=", "LIKE", "ILIKE", "IN", "IS NULL", "BETWEEN"]
LITERALS = ["'pdf'", "'%_%_%þ'", "'\\%'", "''", "3", "-1", "1e400", "NULL", "TRUE"]
STRANGE = ["--", ";", "/*", "\x00", "\x1b[2J", "'", "CASE", "SELECT", "0x1F", "::int", "$1", "?", "😀", ","]

ROW = {"kind": "pdf", "title": "Tides" * 50, "source": "/a/tides.pdf", "page": 3, "date": "2020", "document_id": "1"}
ROWS: list[dict[str, Any]] = [ROW, {**ROW, "title": "", "page": None, "date": None}]


def filters(chosen: random.Random) -> tuple[str, Callable[[], None]]:
    """A text of pieces, some of them in an order that is a filter."""
    if chosen.random() < 0.5:
        comparisons = (
            " ".join(map(chosen.choice, (NAMES, ("=", "LIKE", "<"), [*LITERALS, "IN", "BETWEEN"])))
            for _ in range(chosen.randint(1, 6))
        )
        text = chosen.choice((" AND ", " OR NOT ")).join(comparisons)
    else:
        text = " ".join(chosen.choices([*NAMES, *SIGNS, *LITERALS, *STRANGE], k=chosen.randint(1, 30))) * chosen.choice(
            (1, 1, 1, 20)
        )

    def read() -> None:
        for row in ROWS:
            holds(parse_filter(text), row)

    return repr(text), read


# --- replies ----------------------------------------------------------------------------------------------------------

REPLIES = (
    b'{"scores": [0.1, 0.9, 0.5]}',
    b'```json\n{"scores": [1, 2, 3]}\n```',
    b'{"grades": [1, 2, 3], "answer": "yes"}',
    b'{"choices": [{"message": {"content": "The tide"}}], "usage": {"prompt_tokens": 5, "completion_tokens": -1}}',
    b'data: {"choices": [{"delta": {"content": "The"}}]}\n\ndata: {"choices": [{"delta": {}}]}\n\ndata: [DONE]\n\n',
    b"<think>The tide</think> rises [1] <|im_end|>",
    b"Score: 0,7; Answer: A",
)


def model_replies(chosen: random.Random) -> tuple[str, Callable[[], None]]:
    """A reply, read in every way that there is."""
    data = changed(chosen, chosen.choice(REPLIES))
    text = data.decode("utf-8", "replace")
    pieces = [data[at : at + 7] for at in range(0, len(data), 7)]
    ways: list[Callable[[], Any]] = [
        lambda: replies.parsed(pieces),
        lambda: list(replies.events(pieces)),
        lambda: replies.read_scores(text, 3),
        lambda: replies.read_grades(text, 3),
        lambda: replies.read_text(text, "answer"),
        lambda: replies.read_integer(text, "grade", 0, 3),
        lambda: replies.read_choice(text, "answer", ["yes", "no"]),
        lambda: _spoken(text),
    ]

    def read() -> None:
        for way in ways:
            try:
                way()
            except (*replies.MALFORMED, replies.Unreadable, UnicodeDecodeError):
                continue

    return repr(data), read


def _spoken(text: str) -> None:
    """The answer in a reply is the same however the reply was cut into pieces."""
    assert _said(text, 3) == _said(text, len(text) + 1)


def _said(text: str, length: int) -> str:
    spoken = replies.Spoken(50)
    return "".join([*(spoken.add(text[at : at + length]) for at in range(0, len(text), length)), spoken.end()])


# --- the server -------------------------------------------------------------------------------------------------------

WORDS = [
    "default",
    "",
    "x" * 9000,
    "\x00",
    "../..",
    "\ud800",
    "kind = 'pdf'",
    "corrective",
    "none",
    "web",
    "collection:x",
]
VALUES: list[Any] = [
    *WORDS,
    0,
    -1,
    10**30,
    1e308,
    True,
    None,
    [],
    {},
    [[]],
    ["a"],
    {"answer.style": "short"},
    [["q", "a"]],
]


GOES = {("DELETE", "/api/collections/{collection}"), ("PATCH", "/api/collections/{collection}")}
"""What would take the collection from the requests that follow."""


def _body(operation: dict[str, Any]) -> str:
    """The name of the schema that a route's body has; empty where there is none."""
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    name: str = schema.get("$ref", "").rpartition("/")[2]
    return name


class Api:
    """A server over a small home, in memory."""

    def __init__(self, folder: Path) -> None:
        (folder / "tides.txt").write_text("The tide at Fernby rises by 4.2 metres.", encoding="utf-8")
        home = folder / "home"
        with thresher.open(home) as collection:
            collection.add(folder / "tides.txt")
        keys = Keys(home)
        admin, reader = keys.make("all", list(Scope), None), keys.make("reader", [Scope.READ], ["default"])
        self.keys = [admin, admin, admin, admin, reader, reader, "thr_x_y", ""]
        self.service = make_service(home, {"server.require_key": True})
        self.app = create_app(self.service)
        self.loop = asyncio.new_event_loop()
        self.over = asyncio.Event()
        started = asyncio.Event()
        self.life = self.loop.create_task(self._lives(started))
        self.loop.run_until_complete(started.wait())
        described = self.app.openapi()
        self.doors = sorted(
            (verb.upper(), path, _body(operation))
            for path, verbs in described["paths"].items()
            for verb, operation in verbs.items()
            if not path.endswith("/events")
        )
        self.schemas: dict[str, Any] = described["components"]["schemas"]
        self.fields = sorted({name for one in self.schemas.values() for name in one.get("properties", {})})

    async def _lives(self, started: asyncio.Event) -> None:
        async with self.app.router.lifespan_context(self.app):
            started.set()
            await self.over.wait()

    def close(self) -> None:
        """Stop the server."""
        self.over.set()
        self.loop.run_until_complete(self.life)

    async def _status(self, verb: str, path: str, query: str, headers: dict[str, str], body: bytes) -> int:
        """That of the answer. A client of httpx, with a thread for the server, would take half of the time."""
        status = 0
        given, answered = [body], asyncio.Event()

        async def receive() -> dict[str, Any]:
            if given:
                return {"type": "http.request", "body": given.pop(), "more_body": False}
            await answered.wait()
            return {"type": "http.disconnect"}

        async def send(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            status = message.get("status", status)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                answered.set()

        headers = {"host": "127.0.0.1", "content-length": str(len(body)), **headers}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": verb,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": quote(path, safe="/%").encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", 80),
        }
        try:
            await self.app(scope, receive, send)
        except Exception:  # raised once more after it was answered with 500
            if not status:
                raise
        return status

    def _fitting(self, chosen: random.Random, schema: dict[str, Any]) -> Any:
        """A value that a schema asks for, or nearly: one in eight is any."""
        if chosen.random() < 0.125:
            return chosen.choice(VALUES)
        if "$ref" in schema:
            return self._fitting(chosen, self.schemas[schema["$ref"].rpartition("/")[2]])
        if "anyOf" in schema:
            return self._fitting(chosen, chosen.choice(schema["anyOf"]))
        if "properties" in schema:
            wanted = schema.get("required", [])
            return {
                name: self._fitting(chosen, one)
                for name, one in schema["properties"].items()
                if name in wanted or chosen.random() < 0.2
            }
        if schema.get("examples"):
            return chosen.choice(schema["examples"])
        match schema.get("type"):
            case "array":
                return [self._fitting(chosen, schema.get("items", {})) for _ in range(chosen.randint(1, 3))]
            case "integer" | "number":
                return chosen.choice((0, 1, 3, 10**6))
            case "boolean":
                return chosen.random() < 0.5
            case "string":
                return chosen.choice(("default", "rag", "How high is the tide at Fernby?", "user", "text"))
        return None

    def __call__(self, chosen: random.Random) -> tuple[str, Callable[[], None]]:
        """One request."""
        verb, path, schema = chosen.choice(self.doors)
        here = [] if (verb, path) in GOES else ["default"] * 6
        while "{" in path:
            begin, end = path.index("{"), path.index("}")
            filled = chosen.choice((*here, "other", "%2e%2e", "%00", "x" * 300, "0" * 32, "\u202e", "a b"))
            path = path[:begin] + filled + path[end + 1 :]
        headers = {"Authorization": f"Bearer {key}"} if (key := chosen.choice(self.keys)) else {}
        query, body = "", b""
        if verb != "GET":
            fields = {name: chosen.choice(VALUES) for name in chosen.sample(self.fields, chosen.randint(0, 6))}
            if schema and chosen.random() < 0.5:
                fields = self._fitting(chosen, self.schemas[schema])
            body = json.dumps(fields).encode()
            body = changed(chosen, body) if chosen.random() < 0.3 else body
            headers["Content-Type"] = chosen.choice(
                ("application/json", "application/json", "multipart/form-data; boundary=x")
            )
        else:
            name = chosen.choice(("where", "words", "limit", "offset", "before"))
            query = urlencode({name: str(chosen.choice(VALUES[6:]))})

        def ask() -> None:
            status = self.loop.run_until_complete(self._status(verb, path, query, headers, body))
            assert 0 < status < 500 or status in (502, 503, 507), f"status {status}"

        return f"{verb} {path} {query} {headers} {body!r}", ask


# --- the loop ---------------------------------------------------------------------------------------------------------


class Slow(BaseException):
    """Not an Exception: no reader may take it for a broken file."""


@contextmanager
def in_time() -> Iterator[None]:
    """Slow after `SLOW` seconds, where the interpreter is still asked, and whatever becomes of it on its way here."""
    rang = []
    timers = {signal.ITIMER_PROF: (signal.SIGPROF, SLOW), signal.ITIMER_REAL: (signal.SIGALRM, 10 * SLOW)}

    def ring(number: int, _: object) -> None:
        rang.append(number)
        raise Slow

    before = {number: signal.signal(number, ring) for number, _ in timers.values()}
    for timer, (_, seconds) in timers.items():
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for timer in timers:
            signal.setitimer(timer, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
        if rang:
            raise Slow("took too long, of the " + ("processor" if rang[0] == signal.SIGPROF else "clock"))


def tried(name: str, attempt: Attempt, seconds: float, seed: int) -> tuple[int, list[str]]:
    """How many inputs were tried in so many seconds, and the findings; the number of an input is its seed."""
    number, found = 0, []
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        what, read = attempt(random.Random(f"{name} {seed} {number}"))
        number += 1
        try:
            with in_time():
                read()
        except ThresherError as error:
            if "\n" in str(error):
                found.append(f"{name}: an error of several lines from {what}")
        except (Exception, Slow) as error:
            found.append(f"{name}: {type(error).__name__}: {error} from {what[:2000]}")
    return number, found


def main() -> int:
    """Divide the seconds among the doors."""
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("doors", nargs="*", metavar="DOOR", help=f"of {', '.join(DOORS)}; without any, all")
    arguments.add_argument("--seconds", type=float, default=600.0)
    arguments.add_argument("--seed", type=int, default=0)
    given = arguments.parse_args()
    if unknown := set(given.doors) - set(DOORS):
        arguments.error(f"there is no door {', '.join(sorted(unknown))}; there are {', '.join(DOORS)}")
    chosen = given.doors or DOORS
    findings: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        seeds, api = files(), Api(Path(folder))
        doors: dict[str, Attempt] = {
            "readers": lambda chosen: readers(chosen, seeds),
            "filters": filters,
            "replies": model_replies,
            "api": api,
        }
        for name in chosen:
            number, found = tried(name, doors[name], given.seconds / len(chosen), given.seed)
            sys.stdout.write(f"{name}: {number} inputs, {len(found)} findings\n")
            findings += found
        api.close()
    for one in findings[:50]:
        sys.stdout.write(one.encode("ascii", "backslashreplace").decode() + "\n")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main())
