"""The card of a document: its metadata that the text does not contain, as the last paragraph of the text.

Author, date and front matter are then found, judged and cited like any passage.
"""

from __future__ import annotations

import re

from thresher.documents.assembly import PARAGRAPH, Parsed
from thresher.documents.cleaning import clean_inline
from thresher.types import Mark, Metadata

AUTHOR = "author"
LEFT_OUT = frozenset(
    ("attachments", "description", "encoding", "first_formulas_without_value", "hidden_sheets", "keywords", "language",
     "not_read", "parts_not_read", "sheets")
)  # fmt: skip
"""Fields that answer no question, and those that Thresher computed."""


def with_card(parsed: Parsed, title: str, date: str | None, kind: str) -> tuple[str, tuple[Mark, ...]]:
    """The text and marks of a document, with its card if it has one.

    The author of a page of HTML is who edited it, not who wrote the song or the book that it is about.
    """
    fields = {name: value for name, value in parsed.metadata.items() if (kind, name) != ("html", AUTHOR)}
    sentences = card(parsed.text, fields, title, date)
    if not sentences:
        return parsed.text, parsed.marks
    start = len(parsed.text) + len(PARAGRAPH)
    return f"{parsed.text}{PARAGRAPH}{sentences}", (*parsed.marks, Mark(start, "card", ""))


def card(text: str, metadata: Metadata, title: str, date: str | None) -> str:
    """Who wrote it, when, and the other fields, each a sentence; empty where the text says it all.

    >>> card("Bring a lamp.", {"author": "Ada Kask", "owner": "Dana Ilves"}, "Survey", "2021-03-04")
    'The document “Survey” was written by Ada Kask. It is dated 2021-03-04. Its owner is Dana Ilves.'
    """
    author = clean_inline(str(metadata.get(AUTHOR, "")))
    sentences = [f"It was written by {author}."] if author and author not in text else []
    if sentences and date and date not in text:
        sentences.append(f"It is dated {date}.")
    for name, stated in metadata.items():
        value = clean_inline(stated) if isinstance(stated, str) else ""
        if value and name not in (AUTHOR, *LEFT_OUT) and value not in text and value != title:
            sentences.append(f"Its {name} is {value}.")
    if not sentences:
        return ""
    first, *others = sentences
    about = f"The document “{title}”"
    return " ".join([re.sub(r"^Its? ", lambda it: f"{about} " if it[0] == "It " else f"{about}: its ", first), *others])
