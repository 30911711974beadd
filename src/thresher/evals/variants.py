"""A recipe with settings of its own in one word: `crag[upper=0.6,decompose=selection]`.

So that a run can hold a recipe and its ablations side by side, compared question by question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from thresher.errors import UsageError
from thresher.settings import parse_assignments

VARIANT = re.compile(r"(?P<recipe>[^\[\]]+)(?:\[(?P<settings>[^\[\]]*)\])?")


@dataclass(frozen=True, slots=True)
class Variant:
    """A recipe and the settings that make it another one."""

    recipe: str
    settings: Mapping[str, str]


def parse_variant(name: str) -> Variant:
    """The recipe and the settings in a name; a plain recipe has none."""
    found = VARIANT.fullmatch(name.strip())
    if found is None:
        raise UsageError("not RECIPE or RECIPE[key=value,...]", subject=name, next_step="e.g. crag[upper=0.6]")
    given = [part.strip() for part in (found["settings"] or "").split(",") if part.strip()]
    return Variant(found["recipe"].strip(), parse_assignments(given, option="--recipe", example="upper=0.6"))
