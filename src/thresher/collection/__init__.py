"""A collection of documents that can be added to, searched and asked; loaded when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thresher.collection.asking import DEFAULT_LIMIT, AskOptions
    from thresher.collection.collection import Collection
else:

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module 'thresher.collection' has no attribute {name!r}")
        from thresher.collection.asking import DEFAULT_LIMIT, AskOptions
        from thresher.collection.collection import Collection

        return {"AskOptions": AskOptions, "Collection": Collection, "DEFAULT_LIMIT": DEFAULT_LIMIT}[name]


__all__ = ["DEFAULT_LIMIT", "AskOptions", "Collection"]
