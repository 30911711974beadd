"""A collection of documents that can be added to, searched and asked; loaded when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thresher.collection.collection import Collection
    from thresher.collection.options import DEFAULT_LIMIT, AddOptions, AskOptions, SearchOptions
else:

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module 'thresher.collection' has no attribute {name!r}")
        from thresher.collection.collection import Collection
        from thresher.collection.options import DEFAULT_LIMIT, AddOptions, AskOptions, SearchOptions

        known = (AddOptions, AskOptions, Collection, SearchOptions)
        return {**{one.__name__: one for one in known}, "DEFAULT_LIMIT": DEFAULT_LIMIT}[name]


__all__ = ["DEFAULT_LIMIT", "AddOptions", "AskOptions", "Collection", "SearchOptions"]
