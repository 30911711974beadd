"""A scripted server on loopback: chat, embeddings, reranking, pages and any other request.

For tests, documentation and demonstrations; replies are scripted or follow a rule.

    from thresher_testing.llm_server import ScriptedServer
    with ScriptedServer(["BERT-base has 12 layers [1]."]) as server:
        collection.ask("How many layers?", settings={"llm.base_url": server.base_url, "llm.model": "scripted"})
        print(server.requests[0].body["messages"])
"""

from __future__ import annotations

import json
import math
import re
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from thresher.testing.fakes import HashEncoder, OverlapCrossEncoder

CHAT, EMBEDDINGS, RERANK = "/v1/chat/completions", "/v1/embeddings", "/rerank"

POLL_SECONDS = 0.01
"""Interval of checks whether to stop."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to one request. A plain string in a script means `Reply(text)`."""

    text: str = ""
    """The answer of a chat (may be empty), or the content of a page or another path."""
    seconds: float = 0.0
    """Delay before the reply; stopping the server ends it."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    """Added to the usual ones or replacing them, e.g. `Content-Type` or `Location`."""
    body: str | bytes | None = None
    """Sent unchanged instead of a well-formed answer."""
    dropped: bool = False
    """Close the connection without an answer."""
    likely: Mapping[str, float] = field(default_factory=dict)
    """The most probable first tokens of a chat with their probabilities, for requests of log-probabilities."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request: path and query string, headers (names in lower case), and parsed JSON."""

    path: str
    headers: Mapping[str, str]
    body: Any
    """None for a page, and for a body that is not JSON."""


NO_LOGPROBS = Reply(status=400)
"""Reply to a request of log-probabilities if the server has none."""

Rule = Callable[[Any], str | Reply]
"""Parsed JSON to reply; concurrent requests call it from several threads."""

Script = str | Reply | Rule


class ScriptedServer:
    """Answers chats with `replies` in order (repeating the last), embeddings and rankings by rule.

    `replies` may also be a rule, or contain some. `rerank` scripts rankings, by default by word overlap; `embeddings`
    scripts the delay or failure of embeddings.

    A chat may be streamed. A request of log-probabilities is refused without using up a reply, unless `logprobs` is set
    (`Reply.likely`).

    Embeddings are those of `HashEncoder`. `pages` answers GET and `posts` every other POST, by path with or without the
    query string; other paths get 404. Both may grow while the server runs.
    """

    def __init__(
        self,
        replies: Sequence[Script] | Rule = (),
        *,
        rerank: Sequence[Reply] = (),
        embeddings: Sequence[Script] = (),
        pages: Mapping[str, str | Reply] | None = None,
        posts: Mapping[str, Script] | None = None,
        logprobs: bool = False,
    ) -> None:
        self.requests: list[Request] = []
        """Every request so far, in order."""
        chats: Sequence[Script] = [replies] if callable(replies) else list(replies)
        self._replies: dict[str, Sequence[Script]] = {CHAT: chats, RERANK: list(rerank), EMBEDDINGS: list(embeddings)}
        self._used = dict.fromkeys(self._replies, 0)
        self._pages: Mapping[str, Script] = {} if pages is None else pages
        self._posts: Mapping[str, Script] = {} if posts is None else posts
        self._tells = logprobs
        self._came = threading.Condition()
        self._stopped = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(POLL_SECONDS,), daemon=True)

    @property
    def address(self) -> str:
        """Root of the server."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def base_url(self) -> str:
        """The value of `llm.base_url` or `embeddings.base_url`."""
        return f"{self.address}/v1"

    @property
    def rerank_url(self) -> str:
        """The value of `rerank`."""
        return f"{self.address}{RERANK}"

    @property
    def host(self) -> str:
        """The host in a trace."""
        return self.address.removeprefix("http://")

    def asked(self, path: str = CHAT) -> list[Request]:
        """The requests to one path."""
        return [request for request in self.requests if request.path == path]

    def wait_for(self, number: int, *, seconds: float = 30.0) -> bool:
        """Wait until so many requests have arrived; returns whether they have."""
        with self._came:
            return self._came.wait_for(lambda: len(self.requests) >= number, seconds)

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    # --- inside

    def _answer(self, request: Request, method: str) -> tuple[Reply, bytes]:
        with self._came:
            self.requests.append(request)
            self._came.notify_all()
            if request.path == CHAT and request.body.get("logprobs") and not self._tells:
                return NO_LOGPROBS, _error("logprobs are not supported").encode()
            script = self._script(request.path, method)
        if script is None:
            return Reply(status=404), _error("no such path").encode()
        reply = script(request.body) if callable(script) else script
        if isinstance(reply, str):
            reply = Reply(reply)
        return reply, self._body(request, reply)

    def _script(self, path: str, method: str) -> Script | None:
        bare = path.partition("?")[0]
        if method == "GET":
            return self._pages.get(path, self._pages.get(bare))
        if path not in self._replies:
            return self._posts.get(path, self._posts.get(bare))
        script = self._replies[path]
        at = min(self._used[path], len(script) - 1)
        self._used[path] += 1
        return script[at] if script else Reply()

    def _body(self, request: Request, reply: Reply) -> bytes:
        make = {CHAT: _chat, EMBEDDINGS: _embeddings, RERANK: _ranking}.get(request.path)
        if reply.body is not None:
            body = reply.body
        elif make is None:
            body = reply.text
        elif reply.status != 200:
            body = _error(f"scripted status {reply.status}")
        else:
            made = make(request.body, reply)
            body = _events(made) if request.path == CHAT and request.body.get("stream") else json.dumps(made)
        return body.encode() if isinstance(body, str) else body


def _error(message: str) -> str:
    return json.dumps({"error": {"message": message, "type": "scripted", "code": None, "param": None}})


def _chat(asked: Mapping[str, Any], reply: Reply) -> dict[str, Any]:
    prompt = sum(len(message["content"].split()) for message in asked["messages"])
    completion = len(reply.text.split())
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": reply.text or None}}
    if asked.get("logprobs") and reply.likely:
        told = [{"token": token, "logprob": math.log(share), "bytes": None} for token, share in reply.likely.items()]
        choice["logprobs"] = {"content": [{**told[0], "top_logprobs": told[: asked["top_logprobs"]]}]}
    return {
        "id": "scripted",
        "object": "chat.completion",
        "created": 0,
        "model": asked["model"],
        "choices": [choice],
        "usage": {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion},
    }


def _events(completion: Mapping[str, Any]) -> str:
    """A chat completion as a stream: a chunk for each word, the usage, the end."""
    common = {"id": "scripted", "object": "chat.completion.chunk", "created": 0, "model": completion["model"]}
    words = re.findall(r"\s*\S+", completion["choices"][0]["message"]["content"] or "")
    deltas: list[Mapping[str, Any]] = [{"role": "assistant", "content": ""}, *({"content": word} for word in words)]
    chunks = [{**common, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({**common, "choices": [], "usage": completion["usage"]})
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


def _embeddings(asked: Mapping[str, Any], reply: Reply) -> dict[str, Any]:
    texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
    rows = [
        {"object": "embedding", "index": index, "embedding": vector.tolist()}
        for index, vector in enumerate(HashEncoder().encode(texts))
    ]
    return {"object": "list", "model": asked["model"], "data": rows, "usage": {"prompt_tokens": 0, "total_tokens": 0}}


def _ranking(asked: Mapping[str, Any], reply: Reply) -> dict[str, Any]:
    """Cohere's format: best first, with the index of each document."""
    scores = OverlapCrossEncoder()(asked["query"], asked["documents"])
    results = [{"index": index, "relevance_score": score.value} for index, score in enumerate(scores)]
    results.sort(key=lambda result: -float(result["relevance_score"]))
    return {"id": "scripted", "results": results[: asked.get("top_n") or None]}


def _handler(server: ScriptedServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # head and body are sent separately: the body would wait 40 ms for the client
        timeout = 5.0  # seconds of an idle connection: a client that forgets to close it blocks no thread

        def do_GET(self) -> None:
            self._answer(None, "text/html; charset=utf-8")

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            try:
                asked = json.loads(sent)
            except ValueError:
                asked = None
            self._answer(asked, "application/json")

        def _answer(self, asked: Any, kind: str) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply, body = server._answer(Request(self.path, headers, asked), self.command)
            if reply.seconds:
                server._stopped.wait(reply.seconds)
            if reply.dropped:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            try:
                self._send(reply, body, kind)
            except OSError:  # the client has gone
                self.close_connection = True

        def _send(self, reply: Reply, body: bytes, kind: str) -> None:
            given = {name.lower() for name in reply.headers}
            usual = {"Content-Type": kind, "Content-Length": str(len(body))}
            self.send_response(reply.status)
            for name, value in usual.items():
                if name.lower() not in given:
                    self.send_header(name, value)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing on stderr."""

    return Handler
