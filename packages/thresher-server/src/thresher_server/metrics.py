"""Metrics of questions, for Prometheus."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from thresher.answer import Answer
from thresher.types import ClaimState
from thresher_server.security.admission import Admission

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


def answered(answer: Answer) -> None:
    """Count an answered or refused question."""
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
