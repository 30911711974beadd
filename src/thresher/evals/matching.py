"""Whether a label and a document mean the same thing."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache


def matches(gold: str, source: str, also: Iterable[str] = ()) -> bool:
    """Whether a gold source names the document: its source, one of its other sources, or the end of one.

    An end starts at a path component: "BERT.pdf" names "/x/papers/BERT.pdf" and not "/x/papers/RoBERT.pdf".
    """
    return matching([gold], source, also) != []


def matching(labels: Iterable[str], source: str, also: Iterable[str] = ()) -> list[str]:
    """The labels that name the document, in their order; where some equal a source, only those."""
    labels = list(labels)
    own = {source, *also}
    equal = [label for label in labels if label in own]
    if equal:
        return equal
    return [label for label in labels if any("/".join(components(label)) in path_ends(name) for name in own)]


@lru_cache(maxsize=100_000)  # a run names the same documents over and over
def path_ends(source: str) -> frozenset[str]:
    """The path and every end of it that starts at a component."""
    parts = components(source)
    return frozenset("/".join(parts[start:]) for start in range(len(parts)))


def components(path: str) -> list[str]:
    r"""Names along a path without `.`; leading `..` cannot be compared and are dropped; `\` separates too."""
    parts = [part for part in path.replace("\\", "/").split("/") if part != "."]
    while parts and parts[0] == "..":
        parts = parts[1:]
    return parts
