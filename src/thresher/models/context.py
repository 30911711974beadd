"""The context length of a chat model, if its server reports it."""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic
from typing import Any

from thresher.models.replies import MALFORMED, parsed
from thresher.net.http import Bounds, NotFetched, send

SECONDS = 2.0  # a server that takes longer to list its models is not waited for
LISTED_BYTES = 5_000_000  # the longest public lists of models are a few hundred kilobytes
FIELDS = ("max_model_len", "context_length", "context_window", "max_context_length", "loaded_context_length")
"""Names in the lists of vLLM, OpenRouter, Groq, Mistral and LM Studio; llama.cpp has meta.n_ctx."""

_reported: dict[tuple[str, str], int | None] = {}
"""What servers stated of their models, in this process."""


def context_tokens(
    base_url: str, model: str, api_key: str | None = None, *, seconds_left: float | None = None
) -> int | None:
    """Tokens of prompt and reply together; None if the server does not report it. It is asked once in a process.

    A server that could not reply within `seconds_left` is asked again by the next call.
    """
    key = (base_url, model)
    if key in _reported:
        return _reported[key]
    seconds = SECONDS if seconds_left is None else min(SECONDS, seconds_left)
    size = _read(_listed(base_url, api_key, seconds), model) if seconds > 0 else None
    if size is not None or seconds == SECONDS:
        _reported[key] = size
    return size


def _listed(base_url: str, api_key: str | None, seconds: float) -> Any:
    """What GET base_url/models answers; None for a failure, which the question itself will report."""
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    bounds = Bounds(monotonic() + seconds, LISTED_BYTES)
    try:
        reply = send("GET", f"{base_url.rstrip('/')}/models", bounds=bounds, headers=headers, proxied=True)
        return parsed([reply.body]) if reply.status == 200 else None
    except (NotFetched, *MALFORMED):
        return None


def _read(listed: Any, model: str) -> int | None:
    """The length of one model of a list; the only one there is meant by any name, as llama.cpp takes it."""
    entries = listed.get("data") if isinstance(listed, Mapping) else None
    entries = entries if isinstance(entries, list) else []
    for entry in filter(lambda entry: isinstance(entry, Mapping), entries):
        aliases = entry.get("aliases")
        names = [entry.get("id"), *(aliases if isinstance(aliases, list) else [])]
        if len(entries) == 1 or model in names:
            meta = entry.get("meta")
            lengths = [entry.get(name) for name in FIELDS]
            lengths += [meta.get("n_ctx")] if isinstance(meta, Mapping) else []
            return min((length for length in lengths if type(length) is int and length > 0), default=None)
    return None
