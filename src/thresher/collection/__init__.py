"""A collection of documents that can be added to, searched and asked, with what its methods take and give.

Each name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thresher.collection.collection import Collection
    from thresher.collection.options import DEFAULT_LIMIT, AddOptions, AskOptions, SearchOptions
    from thresher.home.folders import Summary
    from thresher.indexing.catalog import DocumentRecord, SourceRef
    from thresher.indexing.ingest import Remark, Report
    from thresher.indexing.inputs import IndexProgress
    from thresher.judging.calibration import Calibration
    from thresher.tracing.feedback import Label
else:

    def __getattr__(name: str) -> Any:
        home = next((home for home, names in _HOMES.items() if name in names), None)
        if home is None:
            raise AttributeError(f"module 'thresher.collection' has no attribute {name!r}")
        return getattr(import_module(f"thresher.{home}"), name)


__all__ = [
    "DEFAULT_LIMIT",
    "AddOptions",
    "AskOptions",
    "Calibration",
    "Collection",
    "DocumentRecord",
    "IndexProgress",
    "Label",
    "Remark",
    "Report",
    "SearchOptions",
    "SourceRef",
    "Summary",
]

_HOMES = {
    "collection.collection": ["Collection"],
    "collection.options": ["DEFAULT_LIMIT", "AddOptions", "AskOptions", "SearchOptions"],
    "home.folders": ["Summary"],
    "indexing.catalog": ["DocumentRecord", "SourceRef"],
    "indexing.ingest": ["Remark", "Report"],
    "indexing.inputs": ["IndexProgress"],
    "judging.calibration": ["Calibration"],
    "tracing.feedback": ["Label"],
}
