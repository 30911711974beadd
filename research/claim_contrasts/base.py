"""What the kinds of made contrasts share: passages in sentences, the text that is shown, and groups of claims."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from benchmarks.planted_errors import sentences_of
from research.checker_data import PASSAGES, SUPPORTED, Row
from research.train.groups import rows as lines

MOST_SENTENCES, MOST_CHARACTERS = 8, 900
"""Of a text that is shown with claims."""
FITTING = (25, 260)
"""Characters of a sentence that may be a claim."""
NO_SENTENCE = re.compile(r"[\n|{}<>\\\[\]…]|\.\.\.|  |[;:]$|[^.]$|https?:|^\S+$")
"""In what is no plain sentence."""
HANGING = re.compile(
    r"^(?:He|She|It|They|This|These|Those|That|Such|His|Her|Hers|Its|Their|Here|There|Both|Others?|Another|Then|So|But"
    r"|And|Or|Either|Neither|Instead|Otherwise|Yes|No|Some|Each|We|Our|I|My|One|As|Not"
    r"|The (?:latter|former|other|same|two))\b"
)
"""Beginnings of sentences that need the one before."""
NO_CLAIM = re.compile(
    r"^(?:\d+\.|[A-Z]\.|Learn|See|Go to|Click|To learn more|For more|Use|Note|[\w ]{1,30}: )|; see "
    r"|\b(?:see|refer to) (?:the )?[A-Z]"
)
"""In sentences that say little by themselves."""
LINKED = re.compile(
    r"^(?:However|Also|Thus|Moreover|Furthermore|Therefore|Hence|In addition|Additionally|For example|For instance"
    r"|Finally|Similarly|Consequently|As a result|In fact|Indeed|In particular|Likewise|Subsequently|Nevertheless"
    r"|Note that|Currently|Generally|Meanwhile|By default), (?=\w)|^(?:Note that|Also|Thus) (?=\w)"
)
"""Beginnings that a claim does without."""


@dataclass(frozen=True)
class Passage:
    """A passage of a set, under the title that it has there."""

    set: str
    title: str
    text: str

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """Its sentences, in order."""
        return sentences_of(self.text)

    @property
    def family(self) -> str:
        """What is held back as one: its document, else itself."""
        return f"{self.set} {self.title}" if self.title else self.text

    def fitting(self) -> Iterator[int]:
        """The sentences that may be claims by themselves."""
        for at, sentence in enumerate(self.sentences):
            if fits(sentence):
                yield at

    def around(self, needed: Sequence[int], draw: random.Random) -> str:
        """One to eight sentences with those needed among them, at any place; "" if they are too far apart."""
        low, high = min(needed), max(needed)
        wanted = draw.choice((1, 1, 2, 3, 3, 4, 5, 6, 7, 8))
        shown = self.sentences
        while high - low + 1 < wanted:
            sides = [side for side, there in (("low", low > 0), ("high", high + 1 < len(shown))) if there]
            if not sides:
                break
            side = draw.choice(sides)
            new = (low - 1, high) if side == "low" else (low, high + 1)
            if len(" ".join(shown[new[0] : new[1] + 1])) > MOST_CHARACTERS:
                break
            low, high = new
        text = " ".join(shown[low : high + 1])
        return text if high - low < MOST_SENTENCES and len(text) <= MOST_CHARACTERS else ""


@dataclass(frozen=True)
class Made:
    """Claims of one text that are contrasts of each other; a claim may stand over another text of its own."""

    kind: str
    passage: Passage
    text: str
    claims: tuple[tuple[str, str], ...]
    """Each with its label."""
    elsewhere: tuple[tuple[str, str, str], ...] = ()
    """Claims with a text of their own and a label."""

    def rows(self, number: int) -> Iterator[Row]:
        """Rows of a group of this number; none if not both sides are there."""
        every = [(claim, self.text, label) for claim, label in self.claims] + list(self.elsewhere)
        every = list(dict.fromkeys(every))
        supported = {label == SUPPORTED for _, _, label in every}
        labels = Counter((claim, text) for claim, text, _ in every)
        if len(supported) < 2 or max(labels.values()) > 1 or not all(well_formed(claim) for claim, _, _ in every):
            return
        for claim, text, label in every:
            yield {
                "claim": claim,
                "title": self.passage.title,
                "text": text,
                "label": label,
                "source": f"made {self.kind}",
                "group": f"{self.kind} {number}",
                "family": self.passage.family,
            }


def fits(sentence: str) -> bool:
    """Whether a sentence is one, and may be a claim by itself."""
    return (
        FITTING[0] <= len(sentence) <= FITTING[1]
        and not NO_SENTENCE.search(sentence)
        and not HANGING.match(sentence)
        and (sentence[0].isupper() or sentence[0].isdigit())
        and sentence.count("(") == sentence.count(")")
        and sentence.count('"') % 2 == 0
        and not NO_CLAIM.search(sentence)
        and sum(letter.isupper() for letter in sentence) < 0.3 * len(sentence)
    )


def well_formed(claim: str) -> bool:
    """Whether a claim has no traces of how it was made."""
    return not re.search(r"\s[.,;]|,,|\.\.|  |,\.|\b(\w+) \1\b(?<!that that)(?<!had had)", claim) and len(claim) > 12


def passages(draw: random.Random, times: float = 1.0) -> list[Passage]:
    """The passages that `research.checker_data` uses, so many times of each set at most, in the order drawn."""
    found = []
    for name, most in PASSAGES.items():
        titles = {one["passage"]: one.get("title", "") for one in lines(name)}
        for text in draw.sample(list(titles), min(int(times * most), len(titles))):
            found.append(Passage(name, titles[text], text))
    return found


FIRST = re.compile(r"A|[A-Z][a-z']+")


class Small:
    """Words that are written small often, so that they may be at the beginning of a clause."""

    def __init__(self, texts: Iterable[str]) -> None:
        counts = Counter(word for text in texts for word in re.findall(r"[A-Za-z']+", text))
        self.words = {
            word for word, count in counts.items() if word.islower() and count > 0.15 * counts[word.capitalize()]
        }

    def small(self, clause: str) -> str:
        """A clause as it stands inside a sentence."""
        first = re.match(r"[A-Za-z']+", clause)
        return (
            clause[:1].lower() + clause[1:]
            if first and FIRST.fullmatch(first[0]) and first[0].lower() in self.words
            else clause
        )


def large(clause: str) -> str:
    """A clause as it begins a sentence."""
    return clause[:1].upper() + clause[1:]


def claim_of(sentence: str) -> str:
    """A sentence without what links it to the one before."""
    return large(LINKED.sub("", sentence, count=1))
