from __future__ import annotations

from typing import Any

import pytest

from thresher.tracing.explain import assessment, facts, picture


@pytest.mark.parametrize(
    ("judged", "line"),
    [
        (("correct", 0.43), "Answer: probably right, as 4 of 10 such answers are"),
        (("correct", 0.92), "Answer: very probably right, as 9 of 10 such answers are"),
        ((None, 0.97), "Answer: very probably right, as 19 of 20 such answers are"),
        (("ambiguous", 0.3, "doubtful"), "Answer: in doubt, 3 of 10 such answers are right"),
        (("correct", 0.02, "doubtful"), "Answer: in doubt, 1 of 10 such answers are right"),
        (("unsure", None), "Evidence: in doubt"),
        (("incorrect", 0.07, "refused"), "Evidence: insufficient"),
        ((None, None), ""),
    ],
)
def test_how_sure_an_answer_is_stands_on_one_line_and_what_evidence_is_worth_where_there_is_none(
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
