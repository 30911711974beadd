"""Decides which answers are right: words against gold answers, the named option, and the outcome of each question.

`match` follows Self-RAG's evaluation (github.com/AkariAsai/self-rag, metrics.py), which CRAG and ChunkRAG report;
`exact_match` and `f1` follow SQuAD's evaluation script (Rajpurkar et al. 2016, section 6.1). `outcome` is the only rule
for right and wrong, used by `eval score`, the report and `eval compare`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache

from thresher_evals.dataset import Question, matches, normalise
from thresher_evals.rows import Reply, Row

QUOTE = re.compile(r"“(.*?)”(?=\s*\[\d)", re.DOTALL)
HEDGE = re.compile(r"^(?:Perhaps|Here|Perhaps here|Or here): ", re.MULTILINE)
"""Hedges before an answer or a passage, without a chat model."""

MARKER = re.compile(r"\s*\[(\d+(?:\s*,\s*\d+)*)\]")


def match(text: str, golds: Iterable[str]) -> bool:
    """Whether the text contains a gold answer, case-sensitive and without normalisation."""
    return any(gold in text for gold in golds)


def match_norm(text: str, golds: Iterable[str]) -> bool:
    """Whether the text contains the words of a gold answer in sequence, after `normalise`; not if it has none then."""
    padded = f" {normalise(text)} "
    return any(f" {words} " in padded for words in map(normalise, golds) if words)


def has_items(text: str, items: Sequence[str]) -> bool:
    """Whether the text contains every item of a list, by `match_norm`."""
    return all(match_norm(text, [item]) for item in items)


def exact_match(text: str, golds: Iterable[str]) -> bool:
    """Whether the text equals a gold answer, after `normalise`."""
    return normalise(text) in {normalise(gold) for gold in golds}


def f1(text: str, golds: Iterable[str]) -> float:
    """Harmonic mean of precision and recall of the words with their counts; the best over the golds."""
    return max((word_f1(normalise(text).split(), normalise(gold).split()) for gold in golds), default=0.0)


def word_f1(words: list[str], gold: list[str]) -> float:
    """F1 of two bags of words; 1 when both are empty, 0 when one is."""
    if not words or not gold:
        return float(words == gold)
    common = (Counter(words) & Counter(gold)).total()
    return 2 * common / (len(words) + len(gold))


def unquoted(text: str) -> str:
    """The text without quotation marks before a citation marker.

    Extractive answers have them; SQuAD's normalisation knows only ASCII punctuation and would treat them as letters.
    """
    return QUOTE.sub(r"\1", text)


def without_markers(text: str, markers: Collection[int]) -> str:
    """The text without its citation markers ("[1]", "[1, 2]"); other bracketed numbers belong to the text."""

    def removed(found: re.Match[str]) -> str:
        cited = {int(number) for number in found[1].split(",")}
        return "" if cited <= set(markers) else found[0]

    return MARKER.sub(removed, text)


# --- the option that an answer names: a label such as `false` or `SUPPORTS`, or a letter such as `C` ------------------


SYNONYMS = (
    frozenset({"true", "supports", "supported", "support"}),
    frozenset({"false", "untrue", "refutes", "refuted", "refute"}),
    frozenset({"not enough info", "not enough information", "not enough evidence", "unproven"}),
)
"""Labels of FEVER, Climate-FEVER and PubHealth that mean the same (Self-RAG reads SUPPORTS as true): supported, denied,
neither."""

CONTRARY = {"true": "false"}
"""The meaning of "not" and a label if there are more than two: what is not false may be any other."""

NEGATION = r"(?P<negation>(?:\b(?:not|never|cannot|neither|nor)|n['’]t)\s+(?:(?:a|an|the|be|been|either|\w+ly)\s+)?)?"
OTHER = r"(?:(?:\s+(?:it|(?:the|this)\s+\w+))?(?:\s+(?P<join>or)|,?\s+(?P<nor>nor))\s+(?:\w+ly\s+)?(?:{})(?![^\W_]))?"
"""A second label with the first one's verb: `support the claim or refute`, `true nor entirely false`."""

UNDECIDED = re.compile(r"\b(?:whether|if)\b[^.,;:!?\n]*\Z", re.IGNORECASE)
"""Text before a label that is only considered: `I cannot say whether it is true`."""

ALONE = r"(?<![^\W_])(?<!\.){}(?![^\W_]|['’-]\w|\.[^\W\d_](?![^\W_]))"
"""A letter outside a word (`Ann`), an abbreviation (`A.D.`) and a compound (`C-section`)."""

SENTENCE_BEFORE = re.compile(r"(?:^|[.!?\n])[\s\"'“”*(]*$")
WORD_AFTER = re.compile(r"[ \t]+\w")


def read_option(text: str, options: Sequence[str]) -> str | None:
    """The first option named in the text, or None.

    A label may be in any case, with spaces for underscores, or a synonym; after "not" it means the other one of two.
    Labels denied together ("neither true nor false"), or left open by their clause ("whether it is true"), name
    nothing. A letter is a capital; a small one counts alone, in brackets, or after "answer". A capital A before a word
    at the start of a sentence is the English article.
    """
    letters = tuple(option for option in options if len(option) == 1)
    labels = tuple(option for option in options if len(option) > 1)
    found = [*letters_in(text, letters), *labels_in(text, labels)]
    return min(found, key=lambda one: one[0])[1] if found else None


def same_label(first: str, second: str) -> bool:
    """Whether two labels differ at most in case, spaces, hyphens and underscores."""
    return plain(first) == plain(second)


def plain(label: str) -> str:
    """Lower case, single spaces for spaces, hyphens and underscores."""
    return " ".join(re.split(r"[\s_-]+", label.strip().lower()))


def letters_in(text: str, letters: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Positions and options of letters that stand alone."""
    if not letters:
        return
    capital, small = letter_patterns(letters)
    named = {letter.lower(): letter for letter in letters}
    for found in capital.finditer(text):
        before_word = found[0] == "A" and WORD_AFTER.match(text, found.end())
        if not (before_word and SENTENCE_BEFORE.search(text[: found.start()])):
            yield found.start(), named[found[0].lower()]
    for found in small.finditer(text):
        group = found.lastindex or 0
        yield found.start(group), named[found[group].lower()]


@lru_cache(maxsize=100)  # a dataset has few sets of options
def letter_patterns(letters: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns of the letters as given, and in any case where they cannot mean anything else."""
    one = "(" + "|".join(map(re.escape, letters)) + ")"
    forms = (rf"\A[\W_]*{one}[\W_]*\Z", rf"\({one}\)", rf"\A\W*{one}\)", rf"\banswer(?:\s+is)?\s*:?\s*{one}\W*$")
    return re.compile(ALONE.format(one)), re.compile("|".join(forms), re.IGNORECASE | re.MULTILINE)


def labels_in(text: str, labels: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Positions of labels or synonyms that stand alone, with the option that each means."""
    if not labels:
        return
    names, pattern = label_pattern(labels)
    for found in pattern.finditer(text):
        option = meant(found, names, labels)
        if option is not None and not UNDECIDED.search(text[: found.start("label")]):
            yield found.start(), option


@lru_cache(maxsize=100)
def label_pattern(labels: tuple[str, ...]) -> tuple[Mapping[str, str], re.Pattern[str]]:
    """Every spelling of a label to the label, and a pattern that finds them, longer ones first."""
    own = {plain(label): label for label in labels}
    names = {word: label for name, label in own.items() for group in SYNONYMS if name in group for word in group} | own
    written = sorted(names, key=lambda name: (-len(name), name))
    either = "|".join(r"[\s_-]+".join(map(re.escape, name.split())) for name in written)
    alone = rf"(?<![^\W_])(?P<label>{either})(?![^\W_])"
    return names, re.compile(NEGATION + alone + OTHER.format(either), re.IGNORECASE)


def meant(found: re.Match[str], names: Mapping[str, str], labels: Sequence[str]) -> str | None:
    """The option that a found label means. After "not": the other one of two; of more, false for true; else None."""
    name, negation = plain(found["label"]), (found["negation"] or "").lower()
    if found["nor"] or negation.startswith(("neither", "nor")) or (negation and found["join"]):
        return None  # denied with another one
    if not negation:
        return names[name]
    if len(labels) == 2:
        return next(label for label in labels if label != names[name])
    return names.get(CONTRARY.get(name, ""))


# --- outcomes ---------------------------------------------------------------------------------------------------------


class Outcome(StrEnum):
    """Outcome of a question: exactly one of these, so that they add up to all questions."""

    RIGHT = "right"
    WRONG = "wrong"
    UNREADABLE = "unreadable"
    """An answer that names no option of its question; counts as wrong."""
    UNCHECKED = "unchecked"
    """An answer without anything to check it against."""
    REFUSED_RIGHTLY = "refused rightly"
    REFUSED_WRONGLY = "refused wrongly"
    RANKED = "ranked"
    """Only searched."""
    TIMED_OUT = "timed out"
    """Neither answer nor ranking, because of a timeout."""
    FAILED = "failed"
    """Neither answer nor ranking, for another reason."""


def outcome(row: Row) -> Outcome:
    """The outcome of a question.

    An answer is checked by the first of these that its question has: no answer (any is wrong), the right option, gold
    answers (`match_norm`), items of a list (all, by `match_norm`), gold documents (the first citation names one).
    """
    asked, reply = row.question, row.reply
    if reply is None:
        if row.error is None and row.ranking is not None:
            return Outcome.RANKED
        return Outcome.TIMED_OUT if row.timed_out else Outcome.FAILED
    if reply.abstained:
        return Outcome.REFUSED_WRONGLY if asked.answerable else Outcome.REFUSED_RIGHTLY
    if not asked.answerable:
        return Outcome.WRONG
    if asked.answers and asked.options:
        if picked(row) is None:
            return Outcome.UNREADABLE
        return Outcome.RIGHT if right_option(row) else Outcome.WRONG
    if asked.answers:
        return Outcome.RIGHT if match_norm(spoken(reply), asked.answers) else Outcome.WRONG
    if asked.items:
        return Outcome.RIGHT if has_items(spoken(reply), asked.items) else Outcome.WRONG
    if asked.gold:
        return Outcome.RIGHT if cites_gold(row) else Outcome.WRONG
    return Outcome.UNCHECKED


def is_right(row: Row) -> bool | None:
    """Whether the outcome is right; None if unknown, and for questions that were only searched."""
    match outcome(row):
        case Outcome.RIGHT | Outcome.REFUSED_RIGHTLY:
            return True
        case Outcome.UNCHECKED | Outcome.RANKED:
            return None
        case _:
            return False


def is_checkable(question: Question) -> bool:
    """Whether right answers to a question are known."""
    return not question.answerable or bool(question.answers or question.items or question.gold)


def answered(reply: Reply | None) -> bool:
    """Whether there is an answer that is not a refusal."""
    return reply is not None and not reply.abstained


def spoken(reply: Reply | None) -> str:
    """The answer's words, without citation markers, quotation marks before them, and hedges."""
    if reply is None:
        return ""
    bare = HEDGE.sub("", reply.text).replace("**", "")
    return without_markers(unquoted(bare), reply.markers)


def picked(row: Row) -> str | None:
    """The option that an answer names; None for no option, refusals and failures."""
    return read_option(spoken(row.reply), row.question.options) if answered(row.reply) else None


def right_option(row: Row) -> bool:
    """Whether the named option is right; no option is wrong."""
    option = picked(row)
    return option is not None and any(same_label(option, gold) for gold in row.question.answers)


def cites_gold(row: Row, *, pages: bool = False) -> bool:
    """Whether the first citation is a gold document, with `pages` also a gold page."""
    if row.reply is None or row.reply.abstained or not row.reply.citations:
        return False
    first = row.reply.citations[0]
    return any(
        matches(gold.source, first.source, first.also)
        and (not pages or (gold.page is not None and gold.page == first.page))
        for gold in row.question.gold
    )
