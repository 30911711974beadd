"""The language of a text, by its function words and its letters."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence

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

# `terms.folded` does this for every letter; terms are made with the language, so it cannot be asked here.
_PLAIN = str.maketrans("àáâãäçèéêëìíîïñòóôõöùúûü", "aaaaaceeeeiiiinooooouuuu")


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", unicodedata.normalize("NFC", text.lower()).translate(_PLAIN))


def foreign_language(question: str) -> str:
    """The language other than English that a question is asked in; "" for English and where it cannot be recognised."""
    return _most_of(_words(question), _SETS)


def _most_of(words: Sequence[str], sets: Mapping[str, frozenset[str]]) -> str:
    """The set that most words are of, at least `LEAST` and more than are English; "" for none."""
    counts = {name: sum(word in small for word in words) for name, small in sets.items()}
    best = max(counts, key=lambda name: counts[name])
    # `as` and `by` are no question words, and `as` is Portuguese as well: all small words of English count for it.
    english = sum(word in _PLAIN_ENGLISH for word in words)
    return best if counts[best] >= LEAST and counts[best] > english else ""


LANGUAGES = {"de": "German", "es": "Spanish", "fr": "French", "it": "Italian", "nl": "Dutch", "pt": "Portuguese"}
"""The languages besides English that sentences are split and words are stemmed in, by their codes."""

_ALSO = {
    "German": "der die das ein eine ist sind war wurde wurden hat haben von zu mit im am auf den dem des und nicht fur "
    "werden kann konnen sollte muss mussen sein bei nach vor aus uber auch nur insgesamt etwa einer sich dass",
    "French": "le la les un une des du de est sont ete etait a ont et dans sur avec pour par en au aux il elle "
    "qui ne pas plus peut doit sa ses ce cette leur leurs ou entre",
    "Spanish": "el la los las un una es son fue fueron ha han y en con por para del de al se que "
    "su sus puede debe este esta hay sobre entre cada desde",
    "Italian": "il lo la gli le un una e sono era stato stata ha hanno in con per del della di nel che si da "
    "al alla dei delle dal nella puo deve questo questa anche ogni",
    "Dutch": "de het een is zijn was werd werden heeft hebben van in met op en door voor dat niet "
    "aan uit bij naar ook worden kan moet deze",
    "Portuguese": "o a os as um uma e sao foi foram em com por para do da de no na que se "
    "pode deve este esta ao pela pelo seu sua entre cada",
}
"""What statements are made with; questions have other small words."""

_STATING = {language: frozenset(words.split()) for language, words in _ALSO.items()}
_ENGLISH = (
    "it its this that they he she by from at on as not be been or but a an if you can will would should could there"
)
_PLAIN_ENGLISH = _SETS["English"] | frozenset(f"{_ENGLISH} than such any all".split())
_OWN = {code: _SETS[language] | _STATING[language] for code, language in LANGUAGES.items()}
_CODES_OF = {word: [code for code in _OWN if word in _OWN[code]] for word in frozenset().union(*_OWN.values())}

READ = 20_000
"""Characters of a text that its language is recognised by."""
DIFFERENT = 4
"""Small words of a language that a text in it has at least; names and references have one or two (`de la`, `et`)."""
SHARE = 0.15
"""Of all its words at least; running text has from a quarter to a half."""
CLEAR = 2.0
"""Times as many as it has English ones: `in`, `was`, `on` and `as` are words of both."""


def language_of(text: str) -> str:
    """The code of the language other than English that a text is written in; "" for English and where unclear."""
    words = Counter(_words(text[:READ]))
    counts = dict.fromkeys(_OWN, 0)
    for word, times in words.items():
        for code in _CODES_OF.get(word, ()):
            counts[code] += times
    best = max(counts, key=lambda code: counts[code])
    share, english = counts[best] / max(1, words.total()), sum(words[word] for word in _PLAIN_ENGLISH)
    different = sum(word in words for word in _OWN[best])
    return best if different >= DIFFERENT and share >= SHARE and counts[best] >= CLEAR * english else ""


def question_language(question: str) -> str:
    """The code of the language that a question is asked in; "" for English and where it cannot be recognised."""
    return _most_of(_words(question), _OWN)


def small_words(language: str) -> frozenset[str]:
    """The small words of a language by its code, without accents; none of English."""
    return _OWN.get(language, frozenset())


def other_language(claim: str, evidence: str, *, asked: str = "") -> str:
    """The language or script of a claim if not that of the evidence, else ""; of `asked` one small word is enough."""
    script = _script(claim)
    if script != _script(evidence):
        return f"{script} script" if script else ""
    words = set(_words(claim))
    english = len(words & _PLAIN_ENGLISH)
    counts = {language: len(words & small) for language, small in _STATING.items()}
    best = max(counts, key=lambda language: (counts[language], language == asked))
    least = 1 if best == asked else LEAST
    return best if counts[best] >= least and counts[best] > english and foreign_language(evidence) != best else ""


def _script(text: str) -> str:
    """The script that most letters of a text are of, as Unicode names it: Latin, Cyrillic; "" without letters."""
    names = [unicodedata.name(letter, "").split(" ")[0].title() for letter in text[:2000] if letter.isalpha()]
    return max(sorted(set(names)), key=names.count) if names else ""
