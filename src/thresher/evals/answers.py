"""An answer's words against the gold answers.

`match` follows Self-RAG's evaluation (github.com/AkariAsai/self-rag, metrics.py), which CRAG and ChunkRAG report;
`exact_match` and `f1` follow SQuAD's evaluation script (Rajpurkar et al. 2016, section 6.1).
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Collection, Iterable

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)
QUOTE = re.compile(r"“(.*?)”(?=\s*\[\d)", re.DOTALL)
MARKER = re.compile(r"\s*\[(\d+(?:\s*,\s*\d+)*)\]")


def match(text: str, golds: Iterable[str]) -> bool:
    """Whether a gold answer is a case-sensitive substring of the text; nothing is normalised."""
    return any(gold in text for gold in golds)


def match_norm(text: str, golds: Iterable[str]) -> bool:
    """Whether the words of a gold answer follow each other in the text, after `normalise`.

    A gold answer that normalises to nothing matches nothing.
    """
    padded = f" {normalise(text)} "
    return any(f" {words} " in padded for words in map(normalise, golds) if words)


def exact_match(text: str, golds: Iterable[str]) -> bool:
    """Whether the text is a gold answer, after `normalise`."""
    return normalise(text) in {normalise(gold) for gold in golds}


def f1(text: str, golds: Iterable[str]) -> float:
    """Harmonic mean of precision and recall of the words, each as often as it occurs; the best over the golds."""
    return max((word_f1(normalise(text).split(), normalise(gold).split()) for gold in golds), default=0.0)


def word_f1(words: list[str], gold: list[str]) -> float:
    """F1 of two bags of words; 1 when both are empty, 0 when one is."""
    if not words or not gold:
        return float(words == gold)
    common = (Counter(words) & Counter(gold)).total()
    return 2 * common / (len(words) + len(gold))


def normalise(text: str) -> str:
    """Lower case, without ASCII punctuation and English articles, single spaces (SQuAD's `normalize_answer`)."""
    return " ".join(ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split())


def unquoted(text: str) -> str:
    """The text without the quotation marks around what a citation marker follows.

    The extractive reader puts them there; SQuAD's normalisation knows ASCII punctuation only, and would take them for
    letters of the words they touch.
    """
    return QUOTE.sub(r"\1", text)


def without_markers(text: str, markers: Collection[int]) -> str:
    """The text without its citation markers ("[1]", "[1, 2]"); brackets around other numbers are the text's own."""

    def removed(found: re.Match[str]) -> str:
        cited = {int(number) for number in found[1].split(",")}
        return "" if cited <= set(markers) else found[0]

    return MARKER.sub(removed, text)
