"""Thresher: answers from your own documents that do not trust what was retrieved until it has been judged.

    import thresher

    with thresher.open(home=".thresher") as collection:
        collection.add("papers/")
        answer = collection.ask("How many layers has BERT-base?")
        print(answer.text, answer.citations)

What there is: `open` and `aopen` give a `Collection` (`add`, `ask`, `search`, `stream`, `documents`, `delete`,
`calibrate`); a question gives an `Answer` with `Citation`s, `evidence` and `chunks`; a search gives `Hit`s. `recipes`
names the ways of answering, and `recipes.derive` makes one with parts of your own, whose shapes are in `protocols`.
`collections` lists the collections of a home, renames, drops and copies them; `trust` lets a settings file that is not
the user's own say where questions and documents go. Every error raised on purpose is a `ThresherError`.
`help(thresher.Collection)` has the rest.

Importing the package loads nothing heavy: what is named here is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from thresher.answer import Answer
    from thresher.collection import Collection
    from thresher.collection.aio import AsyncCollection
    from thresher.collection.engine import Engine
    from thresher.errors import (
        BudgetSpent,
        Cancelled,
        Degraded,
        DocumentError,
        EncoderMismatch,
        MissingExtra,
        ModelError,
        NotRecorded,
        ProviderError,
        StoreAway,
        StoreError,
        ThresherError,
        UnknownSetting,
        UsageError,
        WrongType,
    )
    from thresher.home.collections import Collections
    from thresher.home.places import Home
    from thresher.protocols import Encoder
    from thresher.recipes import Recipe
    from thresher.recipes.evidence import EvidenceResult, Passage
    from thresher.recipes.rerank import RankedText, Reranker, rerank
    from thresher.types import Chunk, Citation, Document, Evidence, Hit, SearchResult, Verdict

__version__: str

__all__ = [
    "Answer",
    "AsyncCollection",
    "BudgetSpent",
    "Cancelled",
    "Chunk",
    "Citation",
    "Collection",
    "Collections",
    "Degraded",
    "Document",
    "DocumentError",
    "EncoderMismatch",
    "Engine",
    "Evidence",
    "EvidenceResult",
    "Hit",
    "MissingExtra",
    "ModelError",
    "NotRecorded",
    "Passage",
    "ProviderError",
    "RankedText",
    "Recipe",
    "Reranker",
    "SearchResult",
    "StoreAway",
    "StoreError",
    "ThresherError",
    "UnknownSetting",
    "UsageError",
    "Verdict",
    "WrongType",
    "__version__",
    "aopen",
    "collections",
    "errors",
    "open",
    "protocols",
    "recipes",
    "rerank",
    "trust",
    "types",
]

_HOMES = {
    "answer": ["Answer"],
    "collection.aio": ["AsyncCollection"],
    "collection.collection": ["Collection"],
    "collection.engine": ["Engine"],
    "home.collections": ["Collections"],
    "recipes": ["Recipe"],
    "recipes.evidence": ["EvidenceResult", "Passage"],
    "recipes.rerank": ["RankedText", "Reranker", "rerank"],
    "types": ["Chunk", "Citation", "Document", "Evidence", "Hit", "SearchResult", "Verdict"],
}
"""Where a name is that is imported when it is first used; those not listed are errors or modules."""


def open(home: str | Home = ".thresher", collection: str = "default", *, encoder: Encoder | None = None) -> Collection:
    """A collection in a home, a folder or s3://BUCKET/PREFIX; nothing is created until something is added.

    `encoder` is one of your own (`thresher.protocols.Encoder`), instead of what the setting `encoder` names.
    """
    from thresher.collection.engine import Engine

    return Engine(home, encoder=encoder).collection(collection)


def aopen(
    home: str | Home = ".thresher", collection: str = "default", *, encoder: Encoder | None = None
) -> AsyncCollection:
    """A collection for `async with`: questions are awaited, and end when they are cancelled."""
    from thresher.collection.aio import AsyncCollection

    return AsyncCollection(open(home, collection, encoder=encoder))


def collections(home: str | Home = ".thresher") -> Collections:
    """The collections of a home, to be listed, renamed, dropped, copied, and moved in a file."""
    from thresher.home.collections import Collections
    from thresher.home.places import home_of

    import_module("thresher.recipes")  # which knows the settings around a home
    return Collections(home_of(home))


def trust(file: str | Path, *, forget: bool = False) -> dict[str, str]:
    """Let a `thresher.toml` say where documents, questions and keys go; returns what it says, without its keys.

    Needed once for every file but the one in the user's configuration folder, and again when that part of it changes.
    With `forget` it is trusted no longer. Raises UsageError for a file that cannot be read.
    """
    from pathlib import Path

    from thresher.errors import check_type
    from thresher.recipes import settings_keys
    from thresher.settings import trust

    check_type("file", file, (str, Path), "a path")
    return trust(Path(file), settings_keys(), forget=forget)


def __getattr__(name: str) -> Any:
    if name in ("errors", "protocols", "recipes", "types"):
        return import_module(f"thresher.{name}")
    if name == "__version__":
        from importlib.metadata import version

        return version("thresher")
    if name not in __all__:
        raise AttributeError(f"module 'thresher' has no attribute {name!r}")
    home = next((home for home, names in _HOMES.items() if name in names), "errors")
    return getattr(import_module(f"thresher.{home}"), name)


def __dir__() -> list[str]:
    return __all__
