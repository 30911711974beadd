"""Questions made of titles and headings: what a document says about a subject, where a sentence names the subject."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from thresher.evals.compare.cloze import place
from thresher.evals.compare.drafts import Draft
from thresher.indexing.analyzer import index_terms
from thresher.types import Chunk, Document

SECTION_CHARACTERS = 3000
"""After a heading, where the sentence that names its subject must stand: about a page of a paper."""

LEAST_TERMS = 2
"""Of a heading: one word is too wide a subject for a question."""

HEADING = re.compile(
    r"(?:\A|(?<=\n))(?:#+ *)?(?:(?:\d+\.?)+ +)?(?P<words>[A-Z][\w'’-]*(?: [\w'’-]+){1,7}) *(?=\n)",
)
"""A line of its own: perhaps marks or a number, then two to eight words that begin with a capital, no full stop."""

NO_SUBJECT = re.compile(r"(?:abstract|introduction|references|contents|appendix|figure|table|page)\b", re.IGNORECASE)
"""Headings that every document could have."""


def title_questions(document: Document, found: Sequence[Chunk], generator: random.Random) -> Iterator[Draft]:
    """What a document says about the subject of one of its headings, where a sentence of that section names it.

    `found` are the document's sentences. There are no answers to compare with, only the place: what is said about a
    subject can be said in many ways.
    """
    title = " ".join(document.title.split())
    headings = [] if not title else list(HEADING.finditer(document.text))
    for heading in generator.sample(headings, len(headings)):
        subject = heading["words"]
        terms = set(index_terms(subject))
        if len(terms) < LEAST_TERMS or terms <= set(index_terms(title)) or NO_SUBJECT.match(subject):
            continue
        section = (one for one in found if heading.end() <= one.start < heading.end() + SECTION_CHARACTERS)
        sentence = next((one for one in section if terms <= set(index_terms(one.text))), None)
        if sentence is not None:
            asked = f"What does “{title}” say about {subject}?"
            yield Draft(asked, "title", "title", gold=(place(sentence),), stands_in=sentence.text)
