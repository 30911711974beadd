"""The option that an answer names: a label such as `false` or `SUPPORTS`, or a letter such as `C`.

The first label that stands alone counts, as in Self-RAG's evaluation of PubHealth and ARC-Challenge (Asai et al. 2023);
there a substring was enough, so that "untrue" was true and any capital A was the first option. Here neither is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

SYNONYMS = (
    frozenset({"true", "supports", "supported", "support"}),
    frozenset({"false", "untrue", "refutes", "refuted", "refute"}),
    frozenset({"not enough info", "not enough information", "not enough evidence"}),
)
"""Labels of FEVER, Climate-FEVER and PubHealth that mean the same (Self-RAG reads SUPPORTS as true)."""

CONTRARY = {"true": "false"}
"""What "not" makes of a label among more than two: what is not false may be anything but that."""

NEGATION = r"(?P<negation>(?:\b(?:not|never|cannot|neither|nor)|n['’]t)\s+(?:(?:a|an|the|be|been|either|\w+ly)\s+)?)?"
OTHER = r"(?:(?:\s+(?:it|(?:the|this)\s+\w+))?(?:\s+(?P<join>or)|,?\s+(?P<nor>nor))\s+(?:\w+ly\s+)?(?:{})(?![^\W_]))?"
"""A second label that shares the first one's verb: `support the claim or refute`, `true nor entirely false`."""

UNDECIDED = re.compile(r"\b(?:whether|if)\b[^.,;:!?\n]*\Z", re.IGNORECASE)
"""What stands before a label that is only considered: `I cannot say whether it is true`."""

ALONE = r"(?<![^\W_])(?<!\.){}(?![^\W_]|['’-]\w|\.[^\W\d_](?![^\W_]))"
"""A letter that is no part of a word (`Ann`), of an abbreviation (`A.D.`) or of a compound (`C-section`)."""

SENTENCE_BEFORE = re.compile(r"(?:^|[.!?\n])[\s\"'“”*(]*$")
WORD_AFTER = re.compile(r"[ \t]+\w")


def read_option(text: str, options: Sequence[str]) -> str | None:
    """The first option that stands alone in the text, or None.

    A label may be written in any case, with spaces for underscores, or as a synonym; after "not" it means the other one
    of two labels. Labels denied together ("neither true nor false") name nothing, nor do those of a clause that leaves
    them open ("whether it is true"). A letter is a capital, or small where it is all there is, in brackets, or after
    "answer". A capital A before a word at the start of a sentence is the English article.
    """
    letters = tuple(option for option in options if len(option) == 1)
    labels = tuple(option for option in options if len(option) > 1)
    found = [*letters_in(text, letters), *labels_in(text, labels)]
    return min(found, key=lambda one: one[0])[1] if found else None


def same_label(first: str, second: str) -> bool:
    """Whether two labels differ in case, spaces, hyphens and underscores at most."""
    return plain(first) == plain(second)


def plain(label: str) -> str:
    """Lower case, single spaces for spaces, hyphens and underscores."""
    return " ".join(re.split(r"[\s_-]+", label.strip().lower()))


# --- letters ----------------------------------------------------------------------------------------------------------


def letters_in(text: str, letters: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Where each option letter stands alone, and the option."""
    if not letters:
        return
    capital, small = letter_patterns(letters)
    named = {letter.lower(): letter for letter in letters}
    for found in capital.finditer(text):
        if not is_article(text, found):
            yield found.start(), named[found[0].lower()]
    for found in small.finditer(text):
        letter = found[found.lastindex or 0]
        yield found.start(found.lastindex or 0), named[letter.lower()]


@lru_cache(maxsize=100)  # a data set has one set of options, or a few
def letter_patterns(letters: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Letters as they are among the options, and in any case where nothing else can be meant."""
    one = "(" + "|".join(map(re.escape, letters)) + ")"
    forms = (rf"\A[\W_]*{one}[\W_]*\Z", rf"\({one}\)", rf"\A\W*{one}\)", rf"\banswer(?:\s+is)?\s*:?\s*{one}\W*$")
    return re.compile(ALONE.format(one)), re.compile("|".join(forms), re.IGNORECASE | re.MULTILINE)


def is_article(text: str, found: re.Match[str]) -> bool:
    """Whether a letter is the article at the start of a sentence, where it is a capital too."""
    if found[0] != "A" or not WORD_AFTER.match(text, found.end()):
        return False
    return SENTENCE_BEFORE.search(text[: found.start()]) is not None


# --- labels -----------------------------------------------------------------------------------------------------------


def labels_in(text: str, labels: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Where each label or synonym stands alone, and the option it means there."""
    if not labels:
        return
    names, pattern = label_pattern(labels)
    for found in pattern.finditer(text):
        option = meant(found, names, labels)
        if option is not None and not UNDECIDED.search(text[: found.start("label")]):
            yield found.start(), option


@lru_cache(maxsize=100)
def label_pattern(labels: tuple[str, ...]) -> tuple[Mapping[str, str], re.Pattern[str]]:
    """Every way to write a label, to the label; and a pattern that finds them, longer ones first."""
    own = {plain(label): label for label in labels}
    names = {word: label for name, label in own.items() for group in SYNONYMS if name in group for word in group} | own
    written = sorted(names, key=lambda name: (-len(name), name))
    either = "|".join(r"[\s_-]+".join(map(re.escape, name.split())) for name in written)
    alone = rf"(?<![^\W_])(?P<label>{either})(?![^\W_])"
    return names, re.compile(NEGATION + alone + OTHER.format(either), re.IGNORECASE)


def meant(found: re.Match[str], names: Mapping[str, str], labels: Sequence[str]) -> str | None:
    """The option that a label means where it was found, or nothing."""
    name, negation = plain(found["label"]), (found["negation"] or "").lower()
    if found["nor"] or negation.startswith(("neither", "nor")) or (negation and found["join"]):
        return None  # denied together with another one
    return denied(name, names, labels) if negation else names[name]


def denied(name: str, names: Mapping[str, str], labels: Sequence[str]) -> str | None:
    """What a label means after "not": the other one of two, and false for true among more; otherwise nothing."""
    if len(labels) == 2:
        return next(label for label in labels if label != names[name])
    return names.get(CONTRARY.get(name, ""))
