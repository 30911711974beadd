"""The nearest passage is not told as the whole answer; what is near these questions is answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.wholes.__main__ import FILTERS, asking, came, read

CASES = [case for case in read() if {Path(name).suffix for name in case["files"]}.isdisjoint(FILTERS)]


@pytest.mark.parametrize(
    "kind", ["struck", "several", "superlative", "namesakes", "another kind", "compared", "boxes", "follow-up"]
)
def test_nothing_is_wrong_and_sure_and_what_stands_beside_it_is_answered(kind: str) -> None:
    outcomes = [
        (came(asked, answer), name, asked) for name, asked, answer in asking([c for c in CASES if c["kind"] == kind])
    ]
    assert outcomes
    assert [one for one in outcomes if one[0] in ("wrong and sure", "wrong in doubt")] == []
    beside = [one for one in outcomes if one[2].get("guard")]
    assert [one for one in beside if not one[0].startswith("right")] == []
