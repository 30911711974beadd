"""The nearest passage is not told as the whole answer; what is near these questions is answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.wholes.__main__ import FILTERS, asking, came, read

CASES = [case for case in read() if {Path(name).suffix for name in case["files"]}.isdisjoint(FILTERS)]


SURE = ("struck", "boxes")
"""Kinds of which nothing may be wrong and sure."""


@pytest.mark.parametrize(
    "kind", [*SURE, "several", "superlative", "namesakes", "another kind", "compared", "follow-up"]
)
def test_what_stands_beside_a_nearest_passage_is_answered_and_what_is_struck_is_not_told(kind: str) -> None:
    outcomes = [
        (came(asked, answer), name, asked) for name, asked, answer in asking([c for c in CASES if c["kind"] == kind])
    ]
    assert outcomes
    if kind in SURE:
        assert [one for one in outcomes if one[0] in ("wrong and sure", "wrong in doubt")] == []
    beside = [one for one in outcomes if one[2].get("guard")]
    assert [one for one in beside if not one[0].startswith("right")] == []
