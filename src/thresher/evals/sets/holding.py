"""Whether a passage holds a name or an answer, word by word, and which passages of a pool hold a name."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping

from thresher.evals.answers import normalise

Words = tuple[str, str]
"""A text's words written in two ways, each between single spaces; see `words_of`."""

WORD = re.compile(r"\w+")


def words_of(text: str) -> Words:
    """The words with punctuation taken out ("rankins", SQuAD's way) and with punctuation parting ("rankin s").

    Either way alone overlooks places: "Rankin's" holds Rankin only in the second, "US" holds U.S. only in the first.
    """
    plain = "".join(mark for mark in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(mark))
    return f" {normalise(text)} ", f" {' '.join(WORD.findall(plain))} "


def holds(text: Words, phrase: Words) -> bool:
    """Whether the words of the phrase follow each other in the text, written in either way."""
    return any(words.strip() and words in within for within, words in zip(text, phrase, strict=True))


def holds_any(text: Words, phrases: Iterable[Words]) -> bool:
    """Whether the text holds one of the phrases."""
    return any(holds(text, phrase) for phrase in phrases)


class Pool:
    """Texts in which some phrases, known beforehand, are looked up fast."""

    def __init__(self, texts: Mapping[str, Words], phrases: Iterable[Words]) -> None:
        self._texts = texts
        wanted = {word for phrase in phrases for way in phrase for word in way.split()}
        self._places: dict[str, list[str]] = defaultdict(list)
        for id, ways in texts.items():
            for word in wanted & {word for way in ways for word in way.split()}:
                self._places[word].append(id)

    def holding(self, phrase: Words) -> list[str]:
        """Ids of the texts that hold a phrase, those it holds in SQuAD's way first."""
        found: dict[str, None] = {}
        for way in phrase:
            rarest = min((self._places.get(word, []) for word in way.split()), key=len, default=[])
            found.update(dict.fromkeys(id for id in rarest if holds(self._texts[id], phrase)))
        return list(found)
