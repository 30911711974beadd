"""What is known of a document beside its text: author, publisher and other fields, file and folder."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import PurePath

from thresher.structure.versions import dates_in, plain_dates, written
from thresher.text.entities import missing_details, whole_names
from thresher.types import Document

COMPUTED = frozenset(
    ("attachments", "description", "encoding", "first_formulas_without_value", "hidden_sheets", "includes", "keywords",
     "language", "not_read", "parts_not_read", "sheets", "which_pages_by_ocr", "which_pages_without_text")
)  # fmt: skip
"""Fields that answer no question and name no origin, and those that Thresher computed."""

LONGEST = 200
"""Characters of a field that may name something; a longer one is a text of its own."""


def described(document: Document) -> dict[str, str]:
    """What a document goes by: the values of its fields by name, its file and its folder.

    >>> described(Document("1", "mill/2021/survey.md", "Survey", "", "markdown", metadata={"author": "Ada Kask"}))
    {'author': 'Ada Kask', 'folder': '2021', 'file': 'survey'}
    """
    stated = {
        name: value
        for name, value in document.metadata.items()
        if name not in COMPUTED and isinstance(value, str) and len(value) <= LONGEST
    }
    path = PurePath(document.source)
    return {**stated, "folder": path.parent.name, "file": path.stem}


def day_named(question: str, document: Document) -> str:
    """The day of a document in words, where a question names that day; "" otherwise.

    >>> document = Document("1", "a.md", "", "", "markdown", date="2023-10-04")
    >>> [day_named(f"the report {x}", document) for x in ("of October 4, 2023", "of 2023")]
    ['4 October 2023', '']
    """
    return next(
        (words for day, _ in dates_in(question) if (words := written(day)) in plain_dates(document.date or "")), ""
    )


def named_apart(question: str, known: Mapping[str, Mapping[str, str]]) -> frozenset[str]:
    """The documents that a question names by one field, where it names several: two authors, two files.

    Not an author and another one's file; and a name counts whole.

    >>> known = {"a": {"author": "Ada Kask", "file": "pump"}, "b": {"author": "Piet Maas", "file": "Zenit"}}
    >>> asked = ("What does Ada say, while Piet does not?", "What does Ada say on Zenit?", "What does Ada Maas say?")
    >>> [sorted(named_apart(one, known)) for one in asked]
    [['a', 'b'], [], []]
    """
    asked = frozenset(whole_names(question))
    said: dict[str, dict[str, frozenset[str]]] = {}
    for id_, fields in known.items():
        for name, value in fields.items():
            if names := frozenset(one for one in asked if not missing_details(f"of {one}", value)):
                said.setdefault(name, {})[id_] = names
    return frozenset(
        id_ for of in said.values() for id_, names in of.items() if any(_differ(names, other) for other in of.values())
    )


def _differ(one: frozenset[str], other: frozenset[str]) -> bool:
    return not one <= other and not other <= one


def missing(question: str, text: str, known: Collection[str]) -> tuple[str, ...]:
    """Names and numbers of a question that neither a text has nor, of names, what its document goes by.

    Numbers of a file's name and fields stand for nothing that is asked: a report of 2025 may have no plans for 2025.

    >>> missing("What does Ada Kask say of 2025 and of Zenit?", "Zenit sank.", ["Ada Kask", "2025"])
    ('2025',)
    """
    lacking = missing_details(question, text)
    if not lacking or not known:
        return lacking
    still = missing_details(question, "\n".join((text, *known)))
    return tuple(one for one in lacking if one in still or not any(map(str.isalpha, one)))
