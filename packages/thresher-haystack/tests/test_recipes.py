from __future__ import annotations

from pathlib import Path

import pytest
from adapter_recipes import recipes_of, run_recipe


@pytest.mark.parametrize("code", recipes_of("thresher-haystack"))
def test_every_recipe_runs_and_prints_what_it_says(code: str, home: Path) -> None:
    run_recipe(code, home.parent)
