"""The settings table `server`, which the entry point `thresher.settings` brings."""

from __future__ import annotations

from pydantic import Field, SecretStr

from thresher.errors import UsageError
from thresher.protocols import Home
from thresher.settings import Frozen, Listed

PUBLIC_URL = "public_url"
"""The engine's setting that the addresses of sources begin with; the server answers with its own."""


class ServerSettings(Frozen):
    """How `thresher serve` listens and what it bears."""

    host: str = Field("127.0.0.1", description="address to listen on; keys are required on any but a loopback one")
    port: int = Field(8765, ge=0, le=65_535, description="port to listen on; 0 takes a free one")
    workers: int = Field(1, ge=1, le=64, description="processes that answer over the same home")
    require_key: bool = Field(False, description="ask for a key on loopback too")
    open: bool = Field(
        False, description="on loopback, let in every program of every user, without the token of the printed address"
    )
    admin_key: SecretStr | None = Field(
        None,
        min_length=24,
        description="a key that may do everything, besides those of `thresher keys`: from a secret of the machine's",
    )
    allowed_hosts: Listed = Field(
        "", description="names that a request may call this server by, besides loopback's and that of public_url"
    )
    allowed_origins: Listed = Field("", description="origins whose pages may call it from a browser; none but its own")
    max_body_megabytes: float = Field(4.0, gt=0, le=1024, description="MiB of a request that is no upload at most")
    max_upload_megabytes: float = Field(200.0, gt=0, le=65_536, description="MiB of one uploaded file at most")
    max_question_characters: int = Field(8000, ge=1, description="characters of a question at most")
    max_documents: int = Field(1000, ge=1, description="texts of one request to rerank or encode at most")
    concurrency: int = Field(2, ge=1, le=256, description="questions that are worked on at the same time, per process")
    queue: int = Field(64, ge=0, description="questions that wait for their turn at most, per process; others get 429")
    timeout_seconds: float = Field(120.0, gt=0, description="seconds that a question may take, its wait included")
    drain_seconds: float = Field(30.0, ge=0, description="seconds that open questions have to end when it stops")
    audit: bool = Field(True, description="keep who asked and who changed what, in server/audit.jsonl of the home")
    knowledge: str = Field(
        "", description="file of expectations of `thresher ci` that the page adds confirmed answers to; none if empty"
    )
    everyones_questions: bool = Field(
        False, description="show an admin under `Asked before` on the page what everybody asked, not the own questions"
    )
    chat_events: bool = Field(
        False,
        description="send Open WebUI's `event` beside chat chunks to every client, not only where its headers are",
    )

    def heed(self, folder: Home) -> None:
        """A question or a collection has none of these settings. Raises UsageError."""
        key = f"server.{min(self.model_fields_set)}"
        raise UsageError("is a setting of the server", subject=key, next_step="give it to `thresher serve`")


class ServiceSettings(Frozen):
    """The table of the server in a `thresher.toml`."""

    server: ServerSettings = ServerSettings()
