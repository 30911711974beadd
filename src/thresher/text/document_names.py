"""What documents are called, and how well a name that somebody uses fits one.

"The BERT paper", "Attention is all you need", "the report": rules over titles and names of files, nothing is read.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Protocol

from thresher.text.terms import index_terms, term_set

GENERIC = term_set(
    "paper document article report file pdf study text publication page note letter contract called titled "
    "minutes memo mail email message presentation slides spreadsheet transcript"
)
"""Words that say what sort of document is meant, not which."""

_NOUN = re.compile(
    r"\b(?:documents?|reports?|papers?|preprints?|articles?|(?:web)?pages?|sites?|files?|pdfs?|e-?mails?|mails?|messages?"
    r"|memos?|minutes|notes?|handbooks?|manuals?|guides?|contracts?|leases?|presentations?|slides?|spreadsheets?"
    r"|transcripts?|stud(?:y|ies)|surveys?|thes[ei]s|dissertations?|publications?|texts?|attachments?"
    r"|\w+\.(?:pdf|docx?|pptx?|xlsx?|txt|md|html?|epub|eml|csv|json))\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“”«»„].{2,}[\"“”«»„]|(?<!\w)['‘].{2,}['’](?!\w)")
_SUMMED = re.compile(r"\b(?:summar\w+|sum up|tl;?dr|overview|abstract)\b", re.IGNORECASE)
_IT = re.compile(r"\bit\b", re.IGNORECASE)

_WHICH_OF = re.compile(
    r"(?:(?:in|at|of|from|on) )?(?:which|what) (?P<sort>[a-z]+) "
    r"(?:is|are|was|were|has|have|had|does|do|did|can|will|must|\w+(?:ed|[^s]s))\b",
    re.IGNORECASE,
)

SURE_FIT = 0.5
"""Share of a title's words from which a name means this document: more of the title was named than left out."""

LEAST_FIT = 0.2
"""Up to it a name means no document: "the paper on learning" is any of nine (25 papers of data/papers)."""

NAME_SCORE = "name"
"""What a hit calls its score of how well the name in a question fits its document, 0 to 1."""

BEGINNING = 2
"""Words with which a title begins that are a name of it: Dense Passage Retrieval."""

INITIALS = 3
"""Words of a title whose initials are its name: Direct Preference Optimization is DPO."""


class Named(Protocol):
    """What has a title and a file."""

    @property
    def title(self) -> str:
        """As the document states it."""

    @property
    def source(self) -> str:
        """File or URL."""


def names_document(question: str) -> bool:
    """Whether a question speaks of a document: by a noun, by a title in quotes, as "it", or for a summary.

    "Who wrote the song As Time Goes By?" asks for no author of the page that is called so.
    """
    return any(pattern.search(question) for pattern in (_NOUN, _QUOTED, _SUMMED, _IT))


def own_words(name: str) -> frozenset[str]:
    """The words of a name that say which document is meant, not what sort of one."""
    return term_set(name) - GENERIC


def words_of(document: Named) -> frozenset[str]:
    """The words of its title and of its file's name."""
    return term_set(f"{document.title} {re.sub(r'[_-]+', ' ', _file(document).stem)}")


def fit(name: str, document: Named) -> float:
    """How well a name fits, 0 to 1: 1 for what the document is called, else the share of its title's words.

    0 where a word of the name is not its own. A name without words of its own ("the report") fits every document.
    """
    own, plain = own_words(name), _run_together(name)
    if not own or plain in _called(document):
        return 1.0
    if not own <= words_of(document):
        return 0.0
    share = len(own) / len(words_of(document))
    begins = len(own) >= BEGINNING and squeezed(document.title).startswith(plain)
    return max(share, SURE_FIT) if begins else share


def _run_together(name: str) -> str:
    return squeezed(" ".join(word for word in name.split() if not term_set(word) <= GENERIC))


def _called(document: Named) -> set[str]:
    """What a document is called: the name of its file, its title up to a colon, and the initials of that."""
    short = re.split(r"\s*[:–—]\s|\s-\s", document.title)[0]
    words = short.split()
    initials = "".join(word[0] for word in words) if len(words) >= INITIALS else short
    return {squeezed(name) for name in (_file(document).name, _file(document).stem, short, initials)}


def _file(document: Named) -> PurePath:
    return PurePath(document.source.split("#")[0])


def squeezed(text: str) -> str:
    """Its letters and digits alone, in lower case."""
    return re.sub(r"\W|_", "", text.casefold())


def is_asked_for(question: str, title: str) -> bool:
    """Whether a question asks which document of a sort, and a title is of that sort."""
    asked = _WHICH_OF.match(question)
    return asked is not None and bool(set(index_terms(asked["sort"])) & set(index_terms(title)))
