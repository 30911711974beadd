"""Thresher: answers from your own documents that do not trust what was retrieved until it has been judged.

    import thresher

    with thresher.open(home=".thresher") as collection:
        collection.add("papers/")
        answer = collection.ask("How many layers has BERT-base?")

Importing the package loads nothing heavy: what is named here is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from thresher.asynchronous import AsyncCollection
    from thresher.collection import Collection

__version__ = "0.1.0"

__all__ = ["Collection", "__version__", "aopen", "open", "recipes"]


def open(home: str | Path = ".thresher", collection: str = "default") -> Collection:
    """A collection in a home folder; nothing is created until something is added."""
    from pathlib import Path

    from thresher.collection import Collection

    return Collection(Path(home), collection)


def aopen(home: str | Path = ".thresher", collection: str = "default") -> AsyncCollection:
    """A collection for `async with`: questions are awaited, and end when they are cancelled."""
    from thresher.asynchronous import AsyncCollection

    return AsyncCollection(open(home, collection))


def __getattr__(name: str) -> Any:
    if name == "Collection":
        from thresher.collection import Collection

        return Collection
    if name == "recipes":
        from importlib import import_module

        return import_module("thresher.recipes")
    raise AttributeError(f"module 'thresher' has no attribute {name!r}")
