from __future__ import annotations

from typing import Any

import pytest

from thresher.tracing.explain import assessment, facts, picture


@pytest.mark.parametrize(
    ("judged", "line"),
    [
        (("correct", 0.92, 0.43), "Evidence: sufficient (0.92); answer: probably right (0.43)"),
        (("correct", None, 0.95), "Evidence: sufficient; answer: very probably right (0.95)"),
        (("ambiguous", 0.4, 0.3, "doubtful"), "Evidence: in doubt (0.40); answer: perhaps wrong (0.30)"),
        (("correct", 0.9, 0.95, "doubtful"), "Evidence: sufficient (0.90); answer: perhaps wrong (0.95)"),
        (("unsure", 0.5, None), "Evidence: in doubt (0.50)"),
        (("incorrect", 0.01, None), "Evidence: insufficient (0.01)"),
        ((None, None, 0.7), "Answer: probably right (0.70)"),
        ((None, None, None), ""),
    ],
)
def test_the_evidence_is_put_into_words_by_the_verdict_and_the_answer_by_its_state(
    judged: tuple[Any, ...], line: str
) -> None:
    assert assessment(*judged) == line


@pytest.mark.parametrize(
    ("detail", "told"),
    [
        ({"best": 0.0, "lower": 0.283, "upper": 0.6649}, "best 0.000, lower 0.283, upper 0.665"),
        ({"scorer": "local", "unreadable": 0, "abstained": False, "reason": None, "lists": []}, "scorer local"),
        ({"lists": [3, 0], "protected": ["a", "b"], "abstained": True}, "lists 3 + 0, protected 2, abstained yes"),
        (
            {"redundancy": {"vectors": "embedding", "removed": 0, "total": 6, "query_similarity": {"before": 0.5}}},
            "redundant 0 of 6",
        ),
        ({"conflicts": {"by_rules": 0, "by_model": 2}}, "conflicts by_model 2"),
        ({"rewriting": {"words": "as asked"}, "results": 1}, "results 1"),
        ({"stages": {"base": {"a": 1}, "critic": {}}, "mean": 0.5}, "stages base + critic, mean 0.500"),
        ({"question": "Who?", "search": "Who?"}, ""),
    ],
)
def test_a_step_says_what_it_measured_and_counted(detail: dict[str, object], told: str) -> None:
    assert facts(detail) == told


def stored(**more: object) -> dict[str, object]:
    usage: dict[str, object] = {"hosts": []}
    nothing = {"citations": [], "conflicts": [], "degraded": [], "steps": [], "chunks": [], "usage": usage}
    told = {"question": "Who?", "recipe": "rag", "verdict": None, "text": "Ada.", "reason": None}
    return {**nothing, **told, **more}


def test_steps_that_had_nothing_to_do_are_named_and_have_no_row_of_zeros() -> None:
    names = ("rewrite", "retrieve", "judge")
    steps: list[object] = [
        {"name": name, "considered": 1, "kept": 1, "seconds": 0.0004 + (name == "retrieve"), "detail": {}}
        for name in names
    ]
    shown = picture(stored(steps=steps), {})
    assert [line for line in shown.splitlines() if line.startswith(names)][-1].startswith("retrieve ")
    assert "\nnothing to do: rewrite, judge\n" in shown


def test_dropped_chunks_are_in_the_order_of_the_steps_that_dropped_them() -> None:
    steps: list[object] = [
        {"name": name, "considered": 1, "kept": 1, "seconds": 1, "detail": {}} for name in ("retrieve", "judge")
    ]
    common = {"kept": False, "origin": "inside", "reason": "r", "source": "s", "page": None, "text": "t", "scores": {}}
    chunks = [{"id": slot, "dropped_by": slot, **common} for slot in ("judge", "retrieve", "judge")]
    shown = picture(stored(steps=steps, chunks=chunks), {})
    assert "dropped by retrieve: 1, judge: 2" in shown


def test_the_scores_of_a_chunk_are_in_the_order_of_the_steps_each_once() -> None:
    scores = {"fused": 0.1, "similarity": 0.2, "local": 0.3, "rerank": 1.2, "judge": 0.3, "refine": 0.9}
    chunk = {"id": "a", "kept": True, "origin": "inside", "reason": "", "dropped_by": None, "source": "s", "page": None}
    chunk |= {"text": "t", "scores": {name: {"value": value} for name, value in scores.items()}}
    shown = picture(stored(chunks=[chunk]), {}, scores=True)
    assert "fused 0.100  similarity 0.200  local 0.300  rerank 1.200  refine 0.900  t" in shown
