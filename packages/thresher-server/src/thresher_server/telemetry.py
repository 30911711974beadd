"""OpenTelemetry spans: one for a question, with a child for each step.

Nothing is imported or sent unless the host program has set a tracer provider, or the environment names a collector
(`OTEL_EXPORTER_OTLP_ENDPOINT`) and the extra `telemetry` is installed.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Any

from thresher.answer import Answer

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")

NAME = "thresher"
NANOSECONDS = 1_000_000_000

_log = logging.getLogger(__name__)
_lock = Lock()
_tried = False


def asked(answer: Answer, collection: str) -> None:
    """Send the spans of a question that has just ended; they contain its trace id, not its words."""
    tracer = _tracer()
    if tracer is None:
        return
    from opentelemetry import trace

    ended = time.time_ns()
    began = ended - sum(_nanoseconds(step.seconds) for step in answer.steps)
    span = tracer.start_span("thresher.ask", start_time=began, attributes=_of_answer(answer, collection))
    around = trace.set_span_in_context(span)
    for step in answer.steps:
        numbers = {"thresher.considered": step.considered, "thresher.kept": step.kept}
        child: Span = tracer.start_span(f"thresher.{step.name}", context=around, start_time=began, attributes=numbers)
        began += _nanoseconds(step.seconds)
        child.end(began)
    span.end(ended)


def _of_answer(answer: Answer, collection: str) -> dict[str, Any]:
    told = {
        "collection": collection,
        "recipe": answer.recipe,
        "trace": answer.trace,
        "abstained": answer.abstained,
        "verdict": None if answer.verdict is None else str(answer.verdict),
        "confidence": answer.confidence,
        "certainty": answer.certainty,
        "llm_calls": answer.usage.llm_calls,
        "prompt_tokens": answer.usage.prompt_tokens,
        "completion_tokens": answer.usage.completion_tokens,
        "degraded": list(answer.degraded),
    }
    return {f"thresher.{name}": value for name, value in told.items() if value is not None}


def _tracer() -> Tracer | None:
    named = any(os.environ.get(name) for name in ENDPOINTS)
    if not named and "opentelemetry.trace" not in sys.modules:  # a program that set a provider imported it
        return None
    if named:
        _begin()
    try:
        from opentelemetry import trace
    except ModuleNotFoundError:
        return None
    return trace.get_tracer(NAME)


def _begin() -> None:
    """Configure the collector of the environment once, unless the host program has set a provider."""
    global _tried
    with _lock:
        if _tried:
            return
        _tried = True
        if not _installed():
            _log.warning("a collector is configured; install thresher-server[telemetry] to send spans to it")
            return
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # type: ignore[import-not-found,unused-ignore]
            OTLPSpanExporter,
        )
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        if isinstance(trace.get_tracer_provider(), TracerProvider):
            return
        resource = Resource.create({} if os.environ.get("OTEL_SERVICE_NAME") else {SERVICE_NAME: NAME})
        provider = TracerProvider(resource=resource)
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        trace.set_tracer_provider(provider)


def _installed() -> bool:
    try:
        return find_spec("opentelemetry.exporter.otlp.proto.http") is not None
    except ModuleNotFoundError:  # of a parent package
        return False


def _nanoseconds(seconds: float) -> int:
    return int(seconds * NANOSECONDS)
