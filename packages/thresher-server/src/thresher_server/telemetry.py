"""Metrics of questions for Prometheus, and spans for OpenTelemetry: one for a question, with a child for each step.

Nothing of OpenTelemetry is imported or sent unless the host program has set a tracer provider, or the environment names
a collector (`OTEL_EXPORTER_OTLP_ENDPOINT`) and the extra `telemetry` is installed.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from thresher.answer import Answer
from thresher.types import ClaimState

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

    from thresher_server.admission import Admission

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Bounds of the histograms: a step takes milliseconds on this machine and many seconds with a chat model."""

SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Set where several processes answer: each counts in files there, and any of them reports the sums."""

REGISTRY = CollectorRegistry()
QUESTIONS = Counter("thresher_questions", "Questions that were answered or refused.", ["recipe"], registry=REGISTRY)
VERDICTS = Counter("thresher_verdicts", "Verdicts on what was retrieved.", ["verdict"], registry=REGISTRY)
ABSTENTIONS = Counter("thresher_abstentions", "Questions that were not answered.", registry=REGISTRY)
SENTENCES = Counter("thresher_sentences", "Sentences of answers, by their state.", ["state"], registry=REGISTRY)
STEPS = Histogram("thresher_step_seconds", "Seconds of a step.", ["step"], buckets=SECONDS, registry=REGISTRY)
CALLS = Counter("thresher_llm_calls", "Calls to chat models.", registry=REGISTRY)
TOKENS = Counter("thresher_llm_tokens", "Tokens sent to and written by chat models.", ["kind"], registry=REGISTRY)
DEGRADED = Counter("thresher_degraded", "Questions for which something was unavailable.", registry=REGISTRY)
WAITING = Gauge(
    "thresher_questions_open", "Questions that are worked on or wait.", registry=REGISTRY, multiprocess_mode="livesum"
)
LAG = Histogram(
    "thresher_loop_lag_seconds",
    "Delay of the event loop, which delays every request.",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0),
    registry=REGISTRY,
)
LAG_EVERY = 0.05
"""Seconds between two samples of the lag: at least one falls into a stall of 100 ms."""

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")

NAME = "thresher"
NANOSECONDS = 1_000_000_000

_log = logging.getLogger(__name__)


@asynccontextmanager
async def lag_watched() -> AsyncIterator[None]:
    """Observe the lag of this event loop inside the block."""

    async def watch() -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + LAG_EVERY
            await asyncio.sleep(LAG_EVERY)
            LAG.observe(max(loop.time() - due, 0.0))

    watching = asyncio.create_task(watch())
    try:
        yield
    finally:
        watching.cancel()


@contextmanager
def waiting(admission: Admission) -> Iterator[None]:
    """Count this question as open inside the block."""
    WAITING.set(admission.inside)
    try:
        yield
    finally:
        WAITING.set(max(admission.inside - 1, 0))


def exposition() -> bytes:
    """The metrics in Prometheus' text format, summed over all processes."""
    if SHARED_FOLDER not in os.environ:
        return generate_latest(REGISTRY)
    together = CollectorRegistry()
    MultiProcessCollector(together)  # type: ignore[no-untyped-call]
    return generate_latest(together)


def asked(answer: Answer, collection: str) -> None:
    """Count a question that has just ended, and send its spans; they contain its trace id, not its words."""
    _count(answer)
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


def _count(answer: Answer) -> None:
    QUESTIONS.labels(answer.recipe).inc()
    VERDICTS.labels(str(answer.verdict or "none")).inc()
    if answer.abstained:
        ABSTENTIONS.inc()
    if answer.degraded:
        DEGRADED.inc()
    for sentence in (*answer.sentences, *answer.removed):
        SENTENCES.labels(ClaimState(sentence.state).value).inc()
    for step in answer.steps:
        STEPS.labels(step.name).observe(step.seconds)
    CALLS.inc(answer.usage.llm_calls)
    TOKENS.labels("prompt").inc(answer.usage.prompt_tokens)
    TOKENS.labels("completion").inc(answer.usage.completion_tokens)


def _of_answer(answer: Answer, collection: str) -> dict[str, Any]:
    told = {
        "collection": collection,
        "recipe": answer.recipe,
        "trace": answer.trace,
        "state": answer.state,
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
    if "opentelemetry.trace" not in sys.modules:  # a program that set a provider imported it
        return None
    from opentelemetry import trace

    return trace.get_tracer(NAME)


def begin() -> None:
    """Configure the collector that the environment names, unless the host program has set a provider."""
    if not any(os.environ.get(name) for name in ENDPOINTS):
        return
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # type: ignore[import-not-found,unused-ignore]
            OTLPSpanExporter,
        )
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError:
        _log.warning("a collector is configured; install thresher-server[telemetry] to send spans to it")
        return
    if isinstance(trace.get_tracer_provider(), TracerProvider):
        return
    resource = Resource.create({} if os.environ.get("OTEL_SERVICE_NAME") else {SERVICE_NAME: NAME})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


def _nanoseconds(seconds: float) -> int:
    return int(seconds * NANOSECONDS)
