"""Chat with Thresher through the real Open WebUI, by hand: `make try-open-webui` (2.9 GB at the first time).

Indexes a note, starts `thresher serve` and Open WebUI beside it, signs a first user up, asks two questions as the page
of Open WebUI does and one more with a file attached, and prints the models, the answers and their sources. Both
programs are ended, whatever happens.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

SECONDS = 600.0
"""What Open WebUI's first start may take: it makes its database and loads PyTorch."""

NOTE = "# Cellar\n\nThe cellar has no light. Bring a lamp. The key hangs behind the kitchen door.\n"
MENU = "# Menu\n\nThe key lime pie costs 4 pounds. It hangs on no hook.\n"
"""A file of the chat, which Thresher does not read."""
QUESTIONS = ("Where does the key of the cellar hang?", "Who painted the cellar?")
USER = {"name": "Ada", "email": "ada@example.org", "password": "a-password-for-the-try"}


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def running(command: list[str], environment: Mapping[str, str], log: Path) -> Iterator[None]:
    """A program that writes to a log, ended at the end."""
    with log.open("w") as file:
        process = subprocess.Popen(command, env={**os.environ, **environment}, stdout=file, stderr=file)
        try:
            yield
        finally:
            process.terminate()
            process.wait(30)


def wait_for(url: str, log: Path) -> None:
    """Until an address answers."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:
            if httpx.get(url, timeout=5).is_success:
                return
        except httpx.HTTPError:
            time.sleep(1)
    raise SystemExit(f"{url} does not answer; the end of {log}:\n{log.read_text()[-2000:]}")


def attached(page: httpx.Client, name: str, text: str) -> dict[str, str]:
    """A file that Open WebUI has taken in, as it is sent with a question."""
    sent = {"file": (name, text.encode(), "text/markdown")}
    taken = page.post("/api/v1/files/", params={"process_in_background": "false"}, files=sent).raise_for_status()
    return {"type": "file", "id": taken.json()["id"], "name": name}


def chat(page: httpx.Client, model: str, question: str, *files: dict[str, str]) -> str:
    """The text that Open WebUI gives back for a question."""
    asked = {"model": model, "messages": [{"role": "user", "content": question}], "stream": False, "files": files}
    reply = page.post("/api/chat/completions", json=asked)
    reply.raise_for_status()
    given: dict[str, Any] = reply.json()
    told = given["thresher"]
    print("verdict:", told["verdict"], "citations:", len(told["citations"]), "unread:", told["unread"])
    return str(given["choices"][0]["message"]["content"])


def main(open_webui: str) -> None:
    """Try it with an Open WebUI that is installed."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "cellar.md").write_text(NOTE, encoding="utf-8")
        thresher = [str(Path(sys.executable).with_name("thresher"))]
        home = ["--home", str(folder / "home")]
        subprocess.run([*thresher, "index", str(folder / "cellar.md"), *home], check=True)
        ours, theirs = free_port(), free_port()
        serve = [*thresher, "serve", *home, "--port", str(ours), "--set", "server.open=true"]
        there = {
            "OPENAI_API_BASE_URLS": f"http://127.0.0.1:{ours}/v1",
            "OPENAI_API_KEYS": "none",
            "ENABLE_FORWARD_USER_INFO_HEADERS": "true",
            "DATA_DIR": str(folder / "data"),
            "ENABLE_OLLAMA_API": "false",
            "OFFLINE_MODE": "true",
            "HF_HUB_OFFLINE": "1",
            "RAG_EMBEDDING_ENGINE": "openai",
            "RAG_EMBEDDING_MODEL": "thresher-encoder",
            "RAG_OPENAI_API_BASE_URL": f"http://127.0.0.1:{ours}/v1",
            "RAG_OPENAI_API_KEY": "none",
            "WEBUI_SECRET_KEY": "a-secret-for-the-try",
        }
        with (
            running(serve, {}, folder / "thresher.log"),
            running(
                [open_webui, "serve", "--host", "127.0.0.1", "--port", str(theirs)], there, folder / "open_webui.log"
            ),
        ):
            wait_for(f"http://127.0.0.1:{ours}/health", folder / "thresher.log")
            wait_for(f"http://127.0.0.1:{theirs}/health", folder / "open_webui.log")
            with httpx.Client(base_url=f"http://127.0.0.1:{theirs}", timeout=120) as page:
                token = page.post("/api/v1/auths/signup", json=USER).raise_for_status().json()["token"]
                page.headers["Authorization"] = f"Bearer {token}"
                models = [one["id"] for one in page.get("/api/models").raise_for_status().json()["data"]]
                print("models:", models)
                for question in QUESTIONS:
                    print(f"\n{question}\n{chat(page, models[0], question)}")
                menu = attached(page, "menu.md", MENU)
                answer = chat(page, models[0], QUESTIONS[0], menu)
                print(f"\n{QUESTIONS[0]} (with menu.md)\n{answer}")
                assert "Not read: menu.md." in answer


if __name__ == "__main__":
    main(sys.argv[1])
