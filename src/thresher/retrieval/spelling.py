"""Misspelt words of a question, corrected against the words of the collection; and told."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from thresher.text.language import foreign_language
from thresher.text.terms import folded
from thresher.types import Notes, Query

LETTERS = (4, 8)
"""Of a word that may have one letter wrong, and two."""

COMMON = 3
"""Times a word occurs in the collection before another is taken to be meant for it."""

NAME_LETTERS = 8
"""A shorter name with a letter more or less is another name: Barnham is not Barham."""

CLEARLY = 2
"""A correction is so many times as frequent as the next one that is as near; else neither is meant clearly."""

UNKNOWN_SHARE = 0.5
"""Of more words unknown than this, the question is about something else, or in another language."""

_DOUBLED = re.compile(r"(.)\1")
_WORD = re.compile(r"[^\W\d_]+(?![\w'’-]*\d)")


@dataclass(frozen=True, slots=True)
class SpellingRewriter:
    """The question with words corrected that neither the collection nor the language has.

    A word is corrected to a frequent one of the collection that one edit makes of it (a letter more, less, other, or
    two swapped), long ones by two. A name is corrected only where letters are swapped or doubled, or one is missing in
    a long one: any other change makes another name. What was corrected is searched, judged and read, and stands
    in the notes.
    """

    vocabulary: Callable[[], Mapping[str, int]]
    """How often each word, in lower case without accents, occurs in the collection."""
    is_known: Callable[[str], bool]
    """Whether the language has a word."""
    about: ClassVar[str] = "spelling"

    def __call__(self, query: Query) -> Query:
        """The same question, spelled as the collection does; and its language where it is not English."""
        language = foreign_language(query.question)
        if language:
            return replace(query, notes=query.notes + Notes(facts={"language": language}))
        words = list(_WORD.finditer(query.question))
        long = [found for found in words if len(found[0]) >= LETTERS[0]]
        strange = [found for found in long if not self.is_known(folded(found[0]))]
        counts = self.vocabulary() if strange else {}
        unknown = [found for found in strange if counts and not _has(counts, folded(found[0]))]
        if not unknown or (len(unknown) > 1 and len(unknown) > UNKNOWN_SHARE * len(words)):
            return query
        corrected = {
            found[0]: better
            for found in unknown
            if (better := correction(found[0], counts, is_name=found[0][0].isupper() and found.start() > 0))
        }
        if not corrected:
            return query
        spelled = _WORD.sub(lambda found: corrected.get(found[0], found[0]), query.question)
        search = _WORD.sub(lambda found: corrected.get(found[0], found[0]), query.search)
        told = "; ".join(f"searched for “{better}” instead of “{word}”" for word, better in corrected.items())
        return replace(query, question=spelled, search=search, notes=query.notes + Notes(facts={"corrected": told}))


def correction(word: str, counts: Mapping[str, int], *, is_name: bool) -> str:
    """What is meant by a word that is not in the vocabulary, in its own case; "" where that is not clear."""
    plain = folded(word)
    most = 2 if len(plain) >= LETTERS[1] and not is_name else 1
    near: list[tuple[int, bool, int, str]] = []
    for other, count in counts.items():
        same_start = other[0] == plain[0]
        as_long = abs(len(other) - len(plain)) <= most
        if (count < COMMON and not _swapped(plain, other)) or not as_long or not (same_start or other[-1] == plain[-1]):
            continue
        edits = distance(plain, other, most)
        if edits <= (most if same_start else 1) and not (is_name and not _slip(plain, other)):
            near.append((edits, not same_start, -count, other))
    near.sort()
    if not near or (len(near) > 1 and near[0][:2] == near[1][:2] and near[0][2] > CLEARLY * near[1][2]):
        return ""
    best = near[0][3]
    return best.capitalize() if word[0].isupper() else best


def distance(one: str, other: str, most: int) -> int:
    """Letters to insert, delete, replace or swap with the next (optimal string alignment); `most` + 1 for more."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, start=1):
        last, before, row = before, row, [at]
        for to, wanted in enumerate(other, start=1):
            cost = min(before[to] + 1, row[to - 1] + 1, before[to - 1] + (letter != wanted))
            if at > 1 and to > 1 and letter == other[to - 2] and one[at - 2] == wanted:
                cost = min(cost, last[to - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)


def _slip(name: str, other: str) -> bool:
    """Whether a name differs as by a slip of the hand: letters swapped, doubled, or one missing in a long name."""
    return _swapped(name, other) or (len(name) != len(other) and len(name) >= NAME_LETTERS)


def _swapped(word: str, other: str) -> bool:
    """Whether two words differ in the order or the doubling of letters alone: no two words or names are so alike."""
    single = _DOUBLED.sub(r"\1", word) == _DOUBLED.sub(r"\1", other)
    return len(word) > LETTERS[0] and (single or sorted(word) == sorted(other))


def _has(counts: Mapping[str, int], word: str) -> bool:
    """Whether the collection has a word, or its singular."""
    return word in counts or word.removesuffix("s") in counts or word.removesuffix("es") in counts
