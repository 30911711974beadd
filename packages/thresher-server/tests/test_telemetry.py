"""Spans for OpenTelemetry: one for a question, a child for each step, where somebody wants them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from contextvars import ContextVar
from pathlib import Path

import pytest

from thresher.answer import Answer
from thresher_server import telemetry
from thresher_server.asking import Question
from thresher_server.security.keys import OPERATOR
from thresher_server.service import make_service

PROGRAM = """
import json, sys
import thresher
from thresher_server import telemetry
with_provider = sys.argv[2] == "provider"
if with_provider:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    kept, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    trace.set_tracer_provider(provider)
with thresher.open(sys.argv[1]) as collection:
    telemetry.asked(collection.ask("When was the lighthouse of Fernby built?"), "default")
if not with_provider:
    print(json.dumps([name for name in sys.modules if name.startswith("opentelemetry")]))
    sys.exit()
spans = kept.get_finished_spans()
print(json.dumps([
    {
        "name": span.name,
        "parent": span.parent and span.parent.span_id,
        "id": span.context.span_id,
        "seconds": (span.end_time - span.start_time) / 1e9,
        "attributes": dict(span.attributes),
    }
    for span in spans
], default=list))
"""


def spans(home: Path, how: str) -> list[dict[str, object]]:
    """What a program of its own tells: a provider of spans is one for a process, and stays."""
    ran = subprocess.run([sys.executable, "-c", PROGRAM, str(home), how], capture_output=True, text=True, check=True)
    return list(json.loads(ran.stdout))


@pytest.mark.slow
def test_a_question_is_a_span_with_a_child_for_each_step(indexed_home: Path) -> None:
    *steps, question = spans(indexed_home, "provider")
    assert question["name"] == "thresher.ask"
    assert [step["name"] for step in steps] == [
        f"thresher.{name}"
        for name in ("rewrite", "retrieve", "judge", "decide", "correct", "refine", "generate", "verify")
    ]
    assert {step["parent"] for step in steps} == {question["id"]}
    told = question["attributes"]
    assert isinstance(told, dict)
    assert (told["thresher.verdict"], told["thresher.abstained"]) == ("correct", False)
    assert "lighthouse" not in json.dumps(told)  # a question's words stay here


@pytest.mark.slow
def test_without_anybody_to_tell_nothing_is_imported(indexed_home: Path) -> None:
    assert spans(indexed_home, "nobody") == []


SPAN: ContextVar[str] = ContextVar("span")
"""Stands for the span of a request, which OpenTelemetry keeps in a context variable too."""


def test_the_spans_of_a_question_are_made_in_the_context_of_its_request(
    indexed_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def asked(answer: Answer, collection: str) -> None:
        seen.append(SPAN.get("none"))

    async def request() -> None:
        SPAN.set("of the request")
        question = "When was the lighthouse of Fernby built?"
        await Question(service, OPERATOR, service.collection(), question, {"recipe": "rag"}).answer()

    monkeypatch.setattr(telemetry, "asked", asked)
    service = make_service(indexed_home, {})
    try:
        asyncio.run(request())
    finally:
        service.close()
    assert seen == ["of the request"]
