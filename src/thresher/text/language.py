"""The language of a text, by its function words and its letters."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

LANGUAGES = {"de": "German", "es": "Spanish", "fr": "French", "it": "Italian", "nl": "Dutch", "pt": "Portuguese"}
"""The languages besides English that sentences are split and words are stemmed in, by their codes."""

_ENGLISH = frozenset(
    """
    the of and is are was were what which who how does do did in to for when where why many with has it its this
    that they he she by from at on as not be been or but a an if you can will would should could there than such
    any all come per
    """.split()  # noqa: SIM905
)
_WORDS = {
    "de": "der die das und ist sind war wie viele was wer wann wo warum ein eine von zu mit hat haben welche wird "
    "wurde wurden im am auf den dem des nicht fur werden kann konnen sollte muss mussen sein bei nach vor aus "
    "uber auch nur insgesamt etwa einer sich dass",
    "es": "el la los las y es son cual que quien cuando donde cuantos un una de del en con por para como fue fueron "
    "ha han al se su sus puede debe este esta hay sobre entre cada desde",
    "fr": "le la les des et est sont quel quelle quels qui quand ou pourquoi combien un une de du dans avec a ete "
    "etait ont sur pour par en au aux il elle ne pas plus peut doit sa ses ce cette leur leurs entre",
    "it": "il lo la gli e sono quale che chi quando dove perche quanti un una di del nel con per come quanto le era "
    "stato stata ha hanno in della si da al alla dei delle dal nella puo deve questo questa anche ogni",
    "nl": "de het een en is zijn wat wie wanneer waar waarom hoe hoeveel van in met heeft hebben welke wordt was "
    "werd werden op door voor dat niet aan uit bij naar ook worden kan moet deze",
    "pt": "o a os as e sao qual que quem quando onde quantos um uma de do da em com por para como foi foram no na "
    "se pode deve este esta ao pela pelo seu sua entre cada",
}
"""Articles, forms of to be, question words, prepositions, without accents."""

_SMALL = {code: frozenset(words.split()) for code, words in _WORDS.items()}
_CODES_OF = {word: [code for code in _SMALL if word in _SMALL[code]] for word in frozenset().union(*_SMALL.values())}

LEAST_WORDS = 2
"""Small words of another language, and more than of English, before a question is taken to be asked in it."""

READ = 20_000
"""Characters of a text that its language is recognised by."""
DIFFERENT = 4
"""Small words of a language that a text in it has at least; names and references have one or two (`de la`, `et`)."""
SHARE = 0.15
"""Of all its words at least; running text has from a quarter to a half."""
CLEAR = 2.0
"""Times as many as it has English ones: `in`, `was`, `on` and `as` are words of both."""

# `terms.folded` does this for every letter; terms are made with the language, so it cannot be asked here.
_PLAIN = str.maketrans("àáâãäçèéêëìíîïñòóôõöùúûü", "aaaaaceeeeiiiinooooouuuu")


def _words(text: str) -> list[str]:
    """Words in lower case, without accents; "e.g." is none."""
    return re.findall(r"[^\W\d_]+\b(?!\.[^\W\d_])", unicodedata.normalize("NFC", text.lower()).translate(_PLAIN))


def language_of(text: str) -> str:
    """The code of the language other than English that a text is written in; "" for English and where unclear."""
    words = Counter(_words(text[:READ]))
    counts = dict.fromkeys(_SMALL, 0)
    for word, times in words.items():
        for code in _CODES_OF.get(word, ()):
            counts[code] += times
    best = max(counts, key=lambda code: counts[code])
    share, english = counts[best] / max(1, words.total()), sum(words[word] for word in _ENGLISH)
    different = sum(word in words for word in _SMALL[best])
    return best if different >= DIFFERENT and share >= SHARE and counts[best] >= CLEAR * english else ""


def question_language(question: str) -> str:
    """The code of the language that a question is asked in; "" for English and where it cannot be recognised."""
    words = _words(question)
    counts = {code: sum(word in small for word in words) for code, small in _SMALL.items()}
    best = max(counts, key=lambda code: counts[code])
    # `as` and `by` are no question words, and `as` is Portuguese as well: all small words of English count for it.
    return best if counts[best] >= LEAST_WORDS and counts[best] > sum(word in _ENGLISH for word in words) else ""


def foreign_language(question: str) -> str:
    """The name of that language."""
    return LANGUAGES.get(question_language(question), "")


def small_words(language: str) -> frozenset[str]:
    """The small words of a language by its code, without accents; none of English."""
    return _SMALL.get(language, frozenset())


def other_language(claim: str, evidence: str, *, asked: str = "") -> str:
    """The language or script of a claim if not that of the evidence, else ""; of `asked` one small word is enough."""
    script = _script(claim)
    if script != _script(evidence):
        return f"{script} script" if script else ""
    words = set(_words(claim))
    english = len(words & _ENGLISH)
    counts = {LANGUAGES[code]: len(words & small) for code, small in _SMALL.items()}
    best = max(counts, key=lambda language: (counts[language], language == asked))
    least = 1 if best == asked else LEAST_WORDS
    return best if counts[best] >= least and counts[best] > english and foreign_language(evidence) != best else ""


def _script(text: str) -> str:
    """The script that most letters of a text are of, as Unicode names it: Latin, Cyrillic; "" without letters."""
    names = [unicodedata.name(letter, "").split(" ")[0].title() for letter in text[:2000] if letter.isalpha()]
    return max(sorted(set(names)), key=names.count) if names else ""
