"""What stands at the front of a document: who wrote it, and its abstract; and, where it has none, what sums it up."""

from __future__ import annotations

import re
from collections import Counter

from thresher.text.boilerplate import says_nothing
from thresher.text.injection import is_command
from thresher.text.sentences import Span, sentence_spans, trim
from thresher.text.terms import index_terms

FRONT_CHARACTERS = 4_000
"""Names, addresses and the heading of the abstract are within so many; a paper of a hundred authors has more."""

ABSTRACT_CHARACTERS = (120, 3_000)
"""A shorter one is a heading alone, of a longer one the end was not found."""

_ABSTRACT = re.compile(
    r"^[#*\s]*(?:abstract|summary|executive summary|overview)[*\s:.—-]*$", re.IGNORECASE | re.MULTILINE
)
_RUN_IN = re.compile(r"^[#*\s]*abstract[*\s]*[:.—–-]\s*", re.IGNORECASE | re.MULTILINE)
_BEHIND_ABSTRACT = re.compile(
    r"^[#*\s]*(?:(?:\d+|I)?\.?\s*introduction|keywords?|index terms|contents|ccs concepts|#+ .*|"
    r"\d+\.?\s+[A-Z][\w ,-]{3,60})[*\s:.—-]*$|^(?:keywords?|index terms)\b",
    re.IGNORECASE | re.MULTILINE,
)
_STATED = re.compile(
    r"^[#*\s]*(?:authors?|written by|prepared by|by|from|drafted by|minutes (?:taken )?by|compiled by|editors?)"
    r"[*\s]*(?::[*\s]*|\s(?=[A-Z]))(?P<names>\S.{2,120})$",
    re.IGNORECASE | re.MULTILINE,
)


def author_lines(text: str) -> Span | None:
    """Where the authors are named: in a line that says so, or between the title and the abstract."""
    front = text[:FRONT_CHARACTERS]
    heading = _ABSTRACT.search(front) or _RUN_IN.search(front)
    title_end = front.find("\n")
    if heading and title_end > 0 and heading.start() - title_end > 3:
        return trim(text, title_end, heading.start())
    stated = _STATED.search(front)
    return trim(text, *stated.span("names")) if stated else None


def abstract_span(text: str) -> Span | None:
    """The abstract without its heading; None where there is none."""
    front = text[:FRONT_CHARACTERS]
    heading = _ABSTRACT.search(front) or _RUN_IN.search(front)
    if heading is None:
        return None
    behind = _BEHIND_ABSTRACT.search(text, heading.end())
    low, high = ABSTRACT_CHARACTERS
    end = behind.start() if behind else heading.end() + high
    start, end = trim(text, heading.end(), min(end, heading.end() + high))
    return (start, end) if end - start >= low else None


def summary_spans(text: str, most: int) -> list[Span]:
    """The sentences of the abstract, or else the first that says something and those that repeat what is said most.

    After SumBasic (Nenkova and Vanderwende 2005): a sentence is worth the mean frequency of its terms, and what has
    been said once counts half from then on.
    """
    abstract = abstract_span(text)
    low, high = abstract or (0, len(text))
    spans = [(low + start, low + end) for start, end in sentence_spans(text[low:high])]
    spans = [(start, end) for start, end in spans if _states(text[start:end])]
    if abstract or len(spans) <= most:
        return spans[: max(most, 8) if abstract else most]
    terms = [index_terms(text[start:end]) for start, end in spans]
    weights = {term: float(count) for term, count in Counter(term for found in terms for term in found).items()}
    chosen = [0]
    while len(chosen) < most:
        for term in set(terms[chosen[-1]]):
            weights[term] /= 2
        rest = [at for at in range(len(spans)) if at not in chosen]
        chosen.append(max(rest, key=lambda at: (sum(weights[t] for t in terms[at]) / max(1, len(terms[at])), -at)))
    return [spans[at] for at in sorted(chosen)]


SENTENCE_WORDS = (6, 60)
"""Of a sentence that sums up: shorter ones are headings, longer ones run-on tables."""


ITEMS = ("*", "-", "•", "–")
"""One item of a list sums nothing up, nor does what leads in to it."""


def _states(sentence: str) -> bool:
    low, high = SENTENCE_WORDS
    whole = low <= len(sentence.split()) <= high and not sentence.startswith(ITEMS) and not sentence.endswith(":")
    return whole and not says_nothing(sentence) and not is_command(sentence)
