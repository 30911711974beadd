"""Which language a question is asked in, as far as its small words tell."""

from __future__ import annotations

import re

from thresher.text.terms import folded

_SMALL_WORDS = {
    "English": "the of and is are was were what which who how does do did in to for when where why many with has",
    "German": "der die das und ist sind war wie viele was wer wann wo warum ein eine von zu mit hat haben welche wird",
    "French": "le la les des et est sont quel quelle quels qui quand ou pourquoi combien un une de du dans avec a",
    "Spanish": "el la los las y es son cual que quien cuando donde cuantos un una de del en con por para como",
    "Italian": "il lo la gli e sono quale che chi quando dove perche quanti un una di del nel con per come quanto",
    "Dutch": "de het een en is zijn wat wie wanneer waar waarom hoe hoeveel van in met heeft hebben welke wordt",
    "Portuguese": "o a os as e sao qual que quem quando onde quantos um uma de do da em com por para como",
}
"""Articles, forms of to be, question words and prepositions, without accents."""

_SETS = {language: frozenset(words.split()) for language, words in _SMALL_WORDS.items()}

LEAST = 2
"""Small words of another language, and more than of English, before a question is taken to be asked in it."""


def foreign_language(question: str) -> str:
    """The language other than English that a question is asked in; "" for English and where it cannot be told."""
    words = re.findall(r"[^\W\d_]+", folded(question))
    counts = {language: sum(word in small for word in words) for language, small in _SETS.items()}
    best = max(counts, key=lambda language: counts[language])
    clear = counts[best] >= LEAST and counts[best] > counts["English"]
    return best if clear else ""
