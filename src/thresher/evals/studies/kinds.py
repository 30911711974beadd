"""The kinds of studies. A new kind is a file with its `KIND` and a word in `KINDS`."""

from __future__ import annotations

from collections.abc import Mapping

from thresher.errors import UnknownSetting
from thresher.evals.studies import actions, evaluator, growth, redundancy, relevance, retrieved
from thresher.evals.studies.kind import Kind

KINDS: Mapping[str, Kind] = {
    module.KIND.name: module.KIND for module in (redundancy, relevance, growth, retrieved, actions, evaluator)
}


def kind_of(name: str) -> Kind:
    """The kind of that name. Raises UnknownSetting."""
    if name not in KINDS:
        raise UnknownSetting(name, KINDS, kind="kind of study")
    return KINDS[name]
