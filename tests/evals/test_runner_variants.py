"""Recipes with settings of their own in one word."""

from __future__ import annotations

import pytest

from thresher.errors import UsageError
from thresher_evals.asker import Variant, parse_variant


def test_a_plain_recipe_has_no_settings() -> None:
    assert parse_variant("crag") == Variant("crag", {})


def test_settings_stand_in_brackets() -> None:
    assert parse_variant("crag[upper=0.6, decompose=selection]") == Variant(
        "crag", {"upper": "0.6", "decompose": "selection"}
    )


@pytest.mark.parametrize("name", ["", "[upper=1]", "crag[upper]", "crag[upper=1", "crag[upper=1] more"])
def test_what_is_no_variant_says_what_one_looks_like(name: str) -> None:
    with pytest.raises(UsageError, match=r"e\.g\."):
        parse_variant(name)
